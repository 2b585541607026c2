/**
 * /monitors, /monitors/{source}, /hierarchy and the public status page (contract 80; contract 30). Members work on
 * monitors.
 */
import { viewOf } from '../model/monitor.js';
import { changedFields } from '../../../lib/changed-fields.js';
import joi from 'joi';
import { formPage, type Problem, Redirect, View, type HttpRequest, type PageSpec } from '../../../kernel/contract.js';
import { notFound } from '../../../kernel/errors.js';
import { callerOf } from '../model/caller.js';
import { projectsIn, proposed } from './choices.js';
import { detailView } from './detail.js';
import { hierarchyView, SHOWS } from './hierarchy.js';
import { incidentPages } from './incidents.js';
import { maintenancePages } from './maintenance.js';
import { listView } from './list.js';
import { publicView } from './status.js';
import { tokenPages } from './tokens.js';
import { checkedForm, formatTags, hrefOf, typed } from './form.js';
import { STATES } from '../model/documents.js';
import type { WatchdogServices } from '../services.js';
import { looksLikeId } from '../model/source.js';

const access = { session: 'member' } as const;
const params = joi.object({ source: joi.string().max(200).required() });
const title = 'Monitors';

const to = (location: string, message: string): Redirect => new Redirect(location, { tone: 'success', message });

export function pages(services: WatchdogServices, deferred: boolean): PageSpec[] {
  const { monitors, probed, status, audit } = services;
  const sourceOf = (request: HttpRequest): string => request.params['source'] ?? '';
  const need = (request: HttpRequest) => monitors.need(sourceOf(request), callerOf(request.principal));

  const editor = async (request: HttpRequest, problem?: Problem): Promise<View> => {
    const known = request.params['source'] === undefined ? null : await need(request);
    const stored =
      known === null ? { source: request.query['source'] } : { ...known, tags: formatTags(known.tags ?? []) };
    const form = problem === undefined ? stored : typed(request);
    const crumbs = [{ label: title, href: '/monitors' }, { label: known === null ? 'New monitor' : known.source }];
    const action = known === null ? '/monitors/new' : `${hrefOf(known.source)}/edit`;
    const back = known === null ? '/monitors' : hrefOf(known.source);
    const [projects, proposals] = await Promise.all([projectsIn(services), proposed(services)]);
    return new View('monitor-form', { known, form, action, back, crumbs, projects, proposals, ...problem });
  };

  const detail = async (request: HttpRequest, errors: Record<string, string> = {}): Promise<View> =>
    detailView(services, await need(request), request, { deferred, errors });

  return [
    {
      path: '/monitors',
      title,
      nav: {
        section: 'operations',
        label: 'Monitors',
        icon: 'monitor',
        order: 10,
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
        badge: async () => (await status.down()) || null,
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
        }),
      },
      handle: (request) => listView(services, request),
    },
    { path: '/monitors/new', title: 'New monitor', access, handle: (request) => editor(request) },
    formPage(
      { path: '/monitors/new', title: 'New monitor', access, creates: true },
      async (request) => {
        const fields = checkedForm(request, true);
        const made = await monitors.create(fields, callerOf(request.principal));
        await audit.record(request.principal, 'monitor.created', made.source);
        return to(hrefOf(made.source), 'Monitor created. It is unknown until its first heartbeat.');
      },
      (request, problem) => editor(request, problem),
    ),
    {
      path: '/monitors/{source}',
      title: 'Monitor',
      access,
      input: {
        params,
        query: joi.object({ hours: joi.number().valid(24, 168, 336), cursor: joi.string().max(20_000).empty('') }),
      },
      handle: (request) => detail(request),
    },
    ...tokenPages(services, detail),
    ...maintenancePages(services),
    ...incidentPages(services),
    {
      path: '/monitors/{source}/edit',
      title: 'Edit monitor',
      access,
      input: { params },
      handle: (request) => editor(request),
    },
    formPage(
      { path: '/monitors/{source}/edit', title: 'Edit monitor', access, input: { params } },
      async (request) => {
        const caller = callerOf(request.principal);
        const before = viewOf(await monitors.need(sourceOf(request), caller));
        const fields = checkedForm(request, false, before.tags);
        const saved = await monitors.edit(sourceOf(request), fields, caller);
        const change = changedFields(before, saved, Object.keys(fields));
        await audit.record(request.principal, 'monitor.changed', saved.source, {}, change);
        return to(hrefOf(saved.source), 'Monitor saved.');
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
        const source = await probed.remove(sourceOf(request), callerOf(request.principal));
        await audit.record(request.principal, 'monitor.deleted', source);
        return to('/monitors', `Deleted ${source} and revoked its tokens.`);
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
            .valid(...SHOWS)
            .empty(''),
        }),
      },
      handle: (request) => hierarchyView(services, request),
    },
    formPage(
      { path: '/hierarchy', title: 'Hierarchy', access },
      async (request) => {
        const { source, parent_source } = typed(request) as { source?: string; parent_source?: string };
        const parent = parent_source?.trim() || null;
        const fields = checkedForm({ ...request, body: { parent_source: parent ?? '' } }, false);
        const caller = callerOf(request.principal);
        const before = await monitors.need(source ?? '', caller);
        const saved = await monitors.edit(source ?? '', { parent_source: fields.parent_source }, caller);
        const change = changedFields(before, saved, ['parent_source']);
        await audit.record(request.principal, 'monitor.moved', saved.source, {}, change);
        return to(
          '/hierarchy',
          parent === null ? `${saved.source} has no parent now.` : `${saved.source} is below ${parent}.`,
        );
      },
      (request, problem) => hierarchyView(services, request, problem.errors['parent_source'] ?? problem.message),
    ),
    {
      path: '/status/{id}',
      title: 'Status',
      access: 'public',
      input: { params: joi.object({ id: joi.string().max(100).required() }) },
      handle: async (request) => {
        const id = request.params['id'] ?? '';
        const monitor = looksLikeId(id) ? await monitors.find(id) : null;
        if (!monitor?.public) throw notFound('such status page');
        return publicView(services, monitor);
      },
    },
  ];
}
