import joi from 'joi';
import {
  getFormFields,
  createFormPage,
  Redirect,
  View,
  type HttpRequest,
  type PageSpec,
  type FormRejection,
} from '../../../kernel/contract/index.js';
import { invalid, notFound } from '../../../kernel/errors.js';
import type { AuditLog } from '../../../ports/domain/audit.js';
import { MONITOR_SOURCE_PATTERN, type MonitorView, type WatchdogApi } from '../../../ports/domain/watchdog.js';
import { OUTBOUND_METHODS } from '../../../ports/outbound.js';
import { RECORD_TYPES, START_TLS_PROTOCOLS } from '../../../ports/network-probe.js';
import { toTrialView, type TrialServices } from '../probe-routes.js';
import { formatTarget, type Probe, type ProbeKind } from '../model/probe.js';
import type { ProbeService } from '../probe-service.js';
import { isProbeKind, listFormFields, listKindChoices, listKindTabs } from './probe-kinds.js';
import { toControlErrors, getProbeHref, NEW_PROBE_PATH, readProbeForm, getFormText } from './probe-form.js';

interface ProbePageServices extends TrialServices {
  probes: Pick<ProbeService, 'toRunnableProbe' | 'prepare' | 'save' | 'getView'>;
  watchdog: Pick<WatchdogApi, 'create' | 'find'>;
  audit: Pick<AuditLog, 'record'>;
}

const access = { session: 'member' } as const;
const title = 'Check';
const source = joi.string().max(200).required();
const DEFAULTS = { kind: 'http', method: 'GET', expected_status: '200-299', interval_seconds: 60, retries: 1 };
/** Default source of a monitor; empty without a host. */
function getTargetHost({ url, host }: Record<string, unknown>): string {
  if (typeof url === 'string') return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : '';
  return typeof host === 'string' ? host.replace(/^\[|\]$/g, '') : '';
}

const getMonitorHref = (of: string): string => `/monitors/${encodeURIComponent(of)}`;

export function buildProbePages({ probes, asker, clock, watchdog, audit }: ProbePageServices): PageSpec[] {
  const need = async (name: string): Promise<MonitorView> => {
    const monitor = await watchdog.find(name);
    if (monitor === null) throw notFound(`monitor ${name}`);
    return monitor;
  };

  const editor = async (
    request: HttpRequest,
    known: MonitorView | null,
    more: { problem?: FormRejection; seen?: object } = {},
  ): Promise<View> => {
    const stored = known === null ? null : await probes.getView(known.source);
    const chosen = request.query['kind'];
    const given: Record<string, unknown> =
      request.method === 'POST'
        ? getFormFields(request)
        : { ...DEFAULTS, ...stored, ...(isProbeKind(chosen) && { kind: chosen }) };
    const kind: ProbeKind = isProbeKind(given['kind']) ? given['kind'] : 'http';
    const fields = listFormFields(kind, known === null);
    const errors = more.problem === undefined ? {} : toControlErrors(more.problem.errors);
    const filled = ['ca_pem', 'insecure', 'inverted', 'resolver'].some((name) => Boolean(given[name]));
    const { problem, seen } = more;
    return new View('probe', {
      title: known === null ? 'New monitor' : `Check of ${known.name}`,
      crumbs: [
        { label: 'Monitors', href: '/monitors' },
        ...(known === null ? [] : [{ label: known.source, href: getMonitorHref(known.source) }]),
        { label: known === null ? 'New monitor' : title },
      ],
      known,
      stored,
      header_names: ((stored?.['header_names'] ?? []) as string[]).join(', '),
      form: { ...given, kind },
      fields,
      advanced_open: fields.folded.some((name) => errors[name] !== undefined) || (known !== null && filled),
      kind_tabs: listKindTabs(kind),
      action: known === null ? NEW_PROBE_PATH : getProbeHref(known.source),
      back: known === null ? '/monitors' : getMonitorHref(known.source),
      kinds: listKindChoices(),
      methods: OUTBOUND_METHODS.map((value) => ({ value, label: value })),
      record_types: RECORD_TYPES.map((value) => ({ value, label: value })),
      start_tls: START_TLS_PROTOCOLS.map((value) => ({ value, label: value.toUpperCase() })),
      seen,
      errors,
      ...(problem && { message: problem.message }),
    });
  };

  const knownOf = async (request: HttpRequest): Promise<MonitorView | null> => {
    const name = getFormText(getFormFields(request), 'known');
    return name === '' ? null : need(name);
  };

  const created = async (request: HttpRequest): Promise<Redirect> => {
    const form = getFormFields(request);
    const given = readProbeForm(form);
    const name = getFormText(form, 'source') || getTargetHost(given);
    if (!MONITOR_SOURCE_PATTERN.test(name))
      throw invalid({ source: 'must be 1 to 128 characters of A-Z a-z 0-9 . _ : @ / -' });
    const checked = await probes.prepare(given, name);
    const { principal } = request;
    const actor = principal.kind === 'session' ? principal.username : '';
    await watchdog.create({ source: name, name: getFormText(form, 'name') || null }, actor);
    await probes.save(name, checked);
    await audit.record(principal, 'monitor.created', name, {
      probe: checked === null ? '' : formatTarget(checked.probe),
    });
    return new Redirect(getMonitorHref(name), { tone: 'success', message: 'Check created. It runs within seconds.' });
  };

  const saved = async (request: HttpRequest): Promise<Redirect> => {
    const { source: name } = await need(request.params['source'] ?? '');
    const checked = await probes.prepare(readProbeForm(getFormFields(request)), name);
    const before = await probes.getView(name);
    await probes.save(name, checked);
    const target = checked === null ? '' : formatTarget(checked.probe);
    const was = before === null ? null : formatTarget(before as unknown as Probe);
    await audit.record(
      request.principal,
      'monitor.changed',
      name,
      {},
      { before: { probe: was }, after: { probe: target } },
    );
    return new Redirect(getMonitorHref(name), { tone: 'success', message: 'Check saved. It runs within seconds.' });
  };

  const params = joi.object({ source });
  const kindQuery = joi.object({ kind: joi.string().max(40).empty('') });
  return [
    {
      path: NEW_PROBE_PATH,
      title: 'New monitor',
      access,
      input: { query: kindQuery },
      handle: (request) => editor(request, null),
    },
    createFormPage({ path: NEW_PROBE_PATH, title: 'New monitor', access, creates: true }, created, (request, problem) =>
      editor(request, null, { problem }),
    ),
    createFormPage(
      { path: '/probes/try', title, access },
      async (request) => {
        const known = await knownOf(request);
        const probe = await probes.toRunnableProbe(readProbeForm(getFormFields(request)), known?.source ?? null);
        const seen = await asker.run(probe);
        const { principal } = request;
        const shows = principal.kind === 'session' && principal.role === 'admin';
        const sight = shows || probe.kind === 'dns' ? 'all' : 'none';
        return editor(request, known, { seen: toTrialView(seen, clock.now(), sight) });
      },
      async (request, problem) => editor(request, await knownOf(request), { problem }),
    ),
    {
      path: '/probes/{source}',
      title,
      access,
      input: { params, query: kindQuery },
      handle: async (request) => editor(request, await need(request.params['source'] ?? '')),
    },
    createFormPage({ path: '/probes/{source}', title, access, input: { params } }, saved, async (request, problem) =>
      editor(request, await need(request.params['source'] ?? ''), { problem }),
    ),
    {
      method: 'POST',
      path: '/probes/{source}/remove',
      title: 'Delete check',
      access,
      input: { params },
      handle: async (request) => {
        const { source: name } = await need(request.params['source'] ?? '');
        const before = await probes.getView(name);
        await probes.save(name, null);
        const was = before === null ? null : formatTarget(before as unknown as Probe);
        await audit.record(
          request.principal,
          'monitor.changed',
          name,
          {},
          { before: { probe: was }, after: { probe: null } },
        );
        return new Redirect(getMonitorHref(name), { tone: 'success', message: 'Check deleted.' });
      },
    },
  ];
}
