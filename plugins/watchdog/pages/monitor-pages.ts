import { toMonitorView } from '../model/monitor-view.js';
import { findChangedFields } from '../../../lib/changed-fields.js';
import joi from 'joi';
import {
  getFormFields,
  createFormPage,
  type FormRejection,
  Redirect,
  View,
  type HttpRequest,
  type PageSpec,
} from '../../../kernel/contract/index.js';
import { notFound } from '../../../kernel/errors.js';
import { toWatchdogCaller } from '../model/caller.js';
import { listProjectChoices, listProposedParents } from './form-choices.js';
import { buildMonitorHead, MONITOR_TABS, type MonitorTab } from './monitor-head.js';
import { buildMonitorDetailView, countLiveTokens } from './monitor-detail-view.js';
import { exportUptime } from './monitor-exports.js';
import { CRON_FIELDS, HEARTBEAT_FIELDS, listMonitorKinds } from './monitor-kinds.js';
import { buildHierarchyView, HIERARCHY_FILTERS } from './hierarchy-view.js';
import { buildIncidentPages } from './incident-pages.js';
import { buildMaintenancePages } from './maintenance-pages.js';
import { buildMonitorListView } from './monitor-list-view.js';
import { buildPublicStatusView } from './public-status-view.js';
import { buildMonitorTokenPages } from './monitor-token-pages.js';
import { readMonitorForm, formatTags, getMonitorPageHref } from './monitor-form.js';
import { STATES, type MonitorDoc } from '../model/documents.js';
import type { WatchdogServices } from '../services.js';
import { isMonitorId } from '../model/monitor-id.js';

const access = { session: 'member' } as const;
const params = joi.object({ source: joi.string().max(200).required() });
const title = 'Monitors';

const redirectTo = (location: string, message: string): Redirect =>
  new Redirect(location, { tone: 'success', message });

export function buildMonitorPages(services: WatchdogServices, deferred: boolean): PageSpec[] {
  const { monitors, probed, status, audit } = services;
  const sourceOf = (request: HttpRequest): string => request.params['source'] ?? '';
  const need = (request: HttpRequest) => monitors.getMonitor(sourceOf(request), toWatchdogCaller(request.principal));

  const editor = async (request: HttpRequest, problem?: FormRejection): Promise<View> => {
    const known = request.params['source'] === undefined ? null : await need(request);
    const stored =
      known === null
        ? { source: request.query['source'], project: request.query['project'] }
        : { ...known, tags: formatTags(known.tags ?? []) };
    const form: Record<string, unknown> = problem === undefined ? stored : getFormFields(request);
    const isCron = known === null ? (form['kind'] ?? request.query['kind']) === 'cron' : Boolean(known.schedule);
    const crumbs = [{ label: title, href: '/monitors' }, { label: known === null ? 'New monitor' : known.source }];
    const action = known === null ? '/monitors/new' : `${getMonitorPageHref(known.source)}/edit`;
    const back = known === null ? '/monitors' : getMonitorPageHref(known.source);
    const [projects, proposals] = await Promise.all([listProjectChoices(services), listProposedParents(services)]);
    const visible = isCron ? CRON_FIELDS : HEARTBEAT_FIELDS;
    return new View('monitor-form', {
      known,
      form,
      action,
      back,
      crumbs,
      projects,
      proposals,
      is_cron: isCron,
      kind: isCron ? 'cron' : 'heartbeat',
      kinds: listMonitorKinds(services, isCron ? 'cron' : 'heartbeat'),
      advanced_open: Object.keys(problem?.errors ?? {}).some((name) => !visible.includes(name)),
      ...(known !== null && (await loadSettings(known, request))),
      ...problem,
    });
  };

  const loadSettings = async (known: MonitorDoc, request: HttpRequest): Promise<object> => {
    const probes = services.probes();
    const probed = ((await probes?.find(known.source)) ?? null) !== null;
    return {
      title: known.name,
      live_topics: null,
      probed,
      probe_href: probes?.getHref(known.source) ?? null,
      head: await buildMonitorHead(services, known, request, { tab: 'settings', deferred, probed }),
      live_tokens: await countLiveTokens(services, known, request),
    };
  };

  const detail = async (request: HttpRequest, tab: MonitorTab, errors: Record<string, string> = {}): Promise<View> =>
    buildMonitorDetailView(services, await need(request), request, { deferred, errors, tab });

  return [
    {
      path: '/monitors',
      title,
      nav: {
        section: 'operations',
        label: 'Monitors',
        icon: 'monitor',
        order: 10,
        tab: 'List',
        also: [
          'cron',
          'downtime',
          'heartbeats',
          'hosts',
          'machines',
          'outages',
          'pings',
          'servers',
          'uptime',
          'watchdog',
        ],
        badge: async (project) => (await status.countDown(project)) || null,
      },
      access,
      projectQuery: 'project',
      input: {
        query: joi.object({
          state: joi
            .string()
            .valid(...STATES)
            .empty(''),
          alarm: joi.string().valid('open', 'suppressed').empty(''),
          parent: joi.string().max(128).empty(''),
          project: joi.string().max(64).empty(''),
          q: joi.string().max(200).empty(''),
          cursor: joi.string().max(20_000).empty(''),
          format: joi.string().valid('csv').empty(''),
        }),
      },
      handle: (request) => buildMonitorListView(services, request),
    },
    {
      path: '/monitors/new',
      title: 'New monitor',
      access,
      projectQuery: 'project',
      input: {
        query: joi.object({
          kind: joi.string().max(40),
          source: joi.string().max(200),
          project: joi.string().max(64).empty(''),
        }),
      },
      handle: (request) => editor(request),
    },
    createFormPage(
      { path: '/monitors/new', title: 'New monitor', access, creates: true },
      async (request) => {
        const fields = readMonitorForm(request, true);
        const made = await monitors.create(fields, toWatchdogCaller(request.principal));
        await audit.record(request.principal, 'monitor.created', made.source);
        return redirectTo(getMonitorPageHref(made.source), 'Monitor created. Waiting for its first heartbeat.');
      },
      (request, problem) => editor(request, problem),
    ),
    {
      path: '/monitors/{source}',
      title: 'Monitor',
      access,
      input: {
        params,
        query: joi.object({
          tab: joi
            .string()
            .valid(...MONITOR_TABS)
            .empty(''),
          hours: joi.number().valid(24, 168, 336),
          cursor: joi.string().max(20_000).empty(''),
        }),
      },
      // Addresses of earlier versions name a page of events without their tab.
      handle: (request) =>
        detail(
          request,
          (request.query['tab'] as MonitorTab | undefined) ?? (request.query['cursor'] ? 'events' : 'overview'),
        ),
    },
    {
      path: '/monitors/{source}/uptime.csv',
      title: 'Uptime',
      access,
      input: { params },
      handle: async (request) => exportUptime(await need(request), services.clock.now()),
    },
    ...buildMonitorTokenPages(services, (request, errors) => detail(request, 'setup', errors)),
    ...buildMaintenancePages(services),
    ...buildIncidentPages(services),
    {
      path: '/monitors/{source}/edit',
      title: 'Edit monitor',
      access,
      input: { params },
      handle: (request) => editor(request),
    },
    createFormPage(
      { path: '/monitors/{source}/edit', title: 'Edit monitor', access, input: { params } },
      async (request) => {
        const caller = toWatchdogCaller(request.principal);
        const before = toMonitorView(await monitors.getMonitor(sourceOf(request), caller));
        const fields = readMonitorForm(request, false, before.tags);
        const saved = await monitors.update(sourceOf(request), fields, caller);
        const change = findChangedFields(before, saved, Object.keys(fields));
        await audit.record(request.principal, 'monitor.changed', saved.source, {}, change);
        return redirectTo(getMonitorPageHref(saved.source), 'Monitor saved.');
      },
      (request, problem) => editor(request, problem),
    ),
    {
      method: 'POST',
      path: '/monitors/{source}/delete',
      title: 'Delete monitor',
      access,
      input: { params },
      handle: async (request) => {
        const source = await probed.remove(sourceOf(request), toWatchdogCaller(request.principal));
        await audit.record(request.principal, 'monitor.deleted', source);
        return redirectTo('/monitors', `Deleted ${source} and revoked its tokens.`);
      },
    },
    {
      path: '/hierarchy',
      title: 'Hierarchy',
      nav: {
        section: 'operations',
        label: 'Hierarchy',
        icon: 'hierarchy',
        order: 20,
        within: '/monitors',
        also: ['dependencies', 'parents', 'tree'],
      },
      access,
      input: {
        query: joi.object({
          below: joi.string().max(128).empty(''),
          after: joi.string().max(128).empty(''),
          show: joi
            .string()
            .valid(...HIERARCHY_FILTERS)
            .empty(''),
        }),
      },
      handle: (request) => buildHierarchyView(services, request),
    },
    createFormPage(
      { path: '/hierarchy', title: 'Hierarchy', access },
      async (request) => {
        const { source, parent_source } = getFormFields(request) as { source?: string; parent_source?: string };
        const parent = parent_source?.trim() || null;
        const fields = readMonitorForm({ ...request, body: { parent_source: parent ?? '' } }, false);
        const caller = toWatchdogCaller(request.principal);
        const before = await monitors.getMonitor(source ?? '', caller);
        const saved = await monitors.update(source ?? '', { parent_source: fields.parent_source }, caller);
        const change = findChangedFields(before, saved, ['parent_source']);
        await audit.record(request.principal, 'monitor.moved', saved.source, {}, change);
        return redirectTo(
          '/hierarchy',
          parent === null ? `${saved.source} has no parent now.` : `${saved.source} is below ${parent}.`,
        );
      },
      (request, problem) => buildHierarchyView(services, request, problem.errors['parent_source'] ?? problem.message),
    ),
    {
      path: '/status/{id}',
      title: 'Status',
      access: 'public',
      input: { params: joi.object({ id: joi.string().max(100).required() }) },
      handle: async (request) => {
        const id = request.params['id'] ?? '';
        const monitor = isMonitorId(id) ? await monitors.find(id) : null;
        if (!monitor?.public) throw notFound('such status page');
        return buildPublicStatusView(services, monitor);
      },
    },
  ];
}
