import joi from 'joi';
import {
  getFormFields,
  createFormPage,
  createCsvFile,
  toLocalTime,
  Redirect,
  utcOfLocal,
  View,
  getTimeZone,
  type HttpRequest,
  type PageSpec,
  type FormRejection,
} from '../../../kernel/contract/index.js';
import { invalid } from '../../../kernel/errors.js';
import { formatCsvRecords } from '../../../lib/text/csv.js';
import { DAY_MS, HOUR_MS, toIsoString } from '../../../lib/time.js';
import { MONITOR_SOURCE_PATTERN } from '../../../ports/domain/watchdog.js';
import { MAX_WINDOW_SOURCES, type NewMaintenanceWindow } from '../maintenance/window-service.js';
import { toWatchdogCaller } from '../model/caller.js';
import type { WindowView } from '../model/maintenance-window.js';
import type { WatchdogServices } from '../services.js';
import { listProposedParents } from './form-choices.js';
import { getMonitorPageHref } from './monitor-form.js';

const access = { session: 'member' } as const;
const title = 'Maintenance';
const crumb = { label: title, href: '/maintenance' };
const MORNING_TIME = 'T09:00';
const MAX_NAMED_SOURCES = 3;

interface WindowRow extends WindowView {
  label: string;
  href: string | null;
  minutes: number | null;
}

function toWindowRow(window: WindowView): WindowRow {
  const { sources, subtree, duration_seconds } = window;
  const names = subtree === null ? sources : [`${subtree} and its children`, ...sources];
  const more = names.length - MAX_NAMED_SOURCES;
  const label = names.slice(0, MAX_NAMED_SOURCES).join(', ') + (more > 0 ? ` and ${more} more` : '');
  const only = subtree ?? (sources.length === 1 ? sources[0] : undefined);
  const minutes = duration_seconds === null ? null : Math.round(duration_seconds / 60);
  return { ...window, label, href: only === undefined ? null : getMonitorPageHref(only), minutes };
}

const CSV_COLUMNS = [
  'kind',
  'sources',
  'open',
  'from',
  'until',
  'schedule',
  'timezone',
  'minutes',
  'reason',
  'created_by',
] as const;

const formatWindows = (windows: readonly WindowRow[], silences: readonly WindowRow[]): string => {
  const toRecord = (kind: string) => (row: WindowRow) =>
    Object.assign({}, row, { kind, sources: row.subtree === null ? row.sources.join(' ') : row.label });
  return formatCsvRecords(CSV_COLUMNS, [...windows.map(toRecord('maintenance')), ...silences.map(toRecord('silence'))]);
};

const getTextField = (form: Record<string, unknown>, name: string): string => {
  const value = form[name];
  return typeof value === 'string' ? value.trim() : '';
};

/**
 * Reads from the pressed button or the selected kind.
 * @throws ServiceError validation_failed
 */
function readWindowTimes(form: Record<string, unknown>, now: number, timezone: string): Partial<NewMaintenanceWindow> {
  const span = getTextField(form, 'span');
  if (span === 'hour') return { until: toIsoString(now + HOUR_MS) };
  if (span === 'tomorrow') {
    const morning = toLocalTime(now + DAY_MS, timezone).slice(0, 10) + MORNING_TIME;
    return { until: utcOfLocal(morning, timezone) ?? toIsoString(now + DAY_MS) };
  }
  if (span === 'repeat') {
    const minutes = getTextField(form, 'minutes');
    if (!/^\d{1,5}$/.test(minutes) || Number(minutes) === 0) throw invalid({ minutes: 'must be a number of minutes' });
    const schedule = getTextField(form, 'schedule');
    if (schedule === '') throw invalid({ schedule: 'is required' });
    return { schedule, timezone: getTextField(form, 'timezone') || timezone, duration_seconds: Number(minutes) * 60 };
  }
  const from = getTextField(form, 'from') === '' ? toIsoString(now) : utcOfLocal(getTextField(form, 'from'), timezone);
  const until = utcOfLocal(getTextField(form, 'until'), timezone);
  if (from === null) throw invalid({ from: 'must be a day and a time' });
  if (until === null) throw invalid({ until: 'must be a day and a time' });
  return { from, until };
}

/** @throws ServiceError validation_failed */
function readWindowForm(form: Record<string, unknown>, now: number, timezone: string): NewMaintenanceWindow {
  const sources = getTextField(form, 'sources').split(/\s+/).filter(Boolean);
  const wrong = sources.find((source) => !MONITOR_SOURCE_PATTERN.test(source));
  if (wrong !== undefined) throw invalid({ sources: `no source: ${wrong.slice(0, 64)}` });
  if (sources.length > MAX_WINDOW_SOURCES) throw invalid({ sources: `may be ${MAX_WINDOW_SOURCES} at most` });
  const [first] = sources;
  const below = form['below'] === 'true';
  if (below && sources.length > 1) throw invalid({ below: 'goes with one monitor alone' });
  return {
    ...(below ? { sources: [], subtree: first ?? null } : { sources }),
    reason: getTextField(form, 'reason').slice(0, 500) || null,
    ...readWindowTimes(form, now, timezone),
  };
}

export function buildMaintenancePages(services: WatchdogServices): PageSpec[] {
  const { windows, evaluator, audit, clock } = services;
  const zone = ({ principal }: HttpRequest): string => getTimeZone(principal, services.timezone);

  const form = async (request: HttpRequest, problem?: FormRejection): Promise<View> => {
    const { source, kind } = request.query;
    const given: Record<string, unknown> =
      problem === undefined
        ? { sources: source, span: kind === 'repeat' ? 'repeat' : 'until' }
        : getFormFields(request);
    const repeats = given['span'] === 'repeat';
    const named: Record<string, string> = typeof given['sources'] === 'string' ? { source: given['sources'] } : {};
    const getKindHref = (of: string): string =>
      `/maintenance/new?${new URLSearchParams({ ...named, kind: of }).toString()}`;
    return new View('maintenance-form', {
      form: { timezone: zone(request), minutes: 60, ...given },
      repeats,
      kinds: [
        { label: 'Once', href: getKindHref('once'), active: !repeats },
        { label: 'Recurring', href: getKindHref('repeat'), active: repeats },
      ],
      proposals: await listProposedParents(services),
      crumbs: [crumb, { label: 'Schedule maintenance' }],
      ...problem,
    });
  };

  const silenceForm = async (request: HttpRequest, problem?: FormRejection): Promise<View> =>
    new View('silence-form', { form: getFormFields(request), crumbs: [crumb, { label: 'Silence' }], ...problem });

  return [
    {
      path: '/maintenance',
      title,
      nav: {
        section: 'operations',
        label: title,
        icon: 'maintenance',
        order: 30,
        within: '/monitors',
        also: ['silence', 'mute', 'downtime', 'maintenance windows'],
      },
      access,
      input: { query: joi.object({ format: joi.string().valid('csv').empty('') }) },
      handle: async ({ principal, query }) => {
        const rows = (await windows.list(toWatchdogCaller(principal))).map(toWindowRow);
        const silences = (await windows.list(toWatchdogCaller(principal), 'silence')).map(toWindowRow);
        if (query['format'] === 'csv') return createCsvFile('maintenance', formatWindows(rows, silences));
        return new View('maintenance', {
          live_topics: 'monitors',
          silences,
          open: rows.filter(({ open }) => open),
          planned: rows.filter(({ next_from }) => next_from !== null),
        });
      },
    },
    {
      path: '/maintenance/new',
      title: 'Schedule maintenance',
      access,
      input: {
        query: joi.object({ source: joi.string().max(20_000), kind: joi.string().valid('once', 'repeat').empty('') }),
      },
      handle: (request) => form(request),
    },
    createFormPage(
      { path: '/maintenance', title, access, creates: true },
      async (request) => {
        const made = await windows.create(
          readWindowForm(getFormFields(request), clock.now(), zone(request)),
          toWatchdogCaller(request.principal),
        );
        await audit.record(request.principal, 'maintenance.created', made.id, { reason: made.reason ?? '' });
        const { href, label } = toWindowRow(made);
        const message = made.open ? `Maintenance of ${label} started.` : `Maintenance of ${label} scheduled.`;
        return new Redirect(href ?? '/maintenance', { tone: 'success', message });
      },
      form,
    ),
    createFormPage(
      { path: '/silences', title, access, creates: true },
      async (request) => {
        const now = clock.now();
        const given = readWindowForm(getFormFields(request), now, zone(request));
        if (given.until === undefined) throw invalid({ span: 'must be hour or tomorrow' });
        const { from: _from, ...silence } = given;
        const made = await windows.create(silence, toWatchdogCaller(request.principal), 'silence');
        await audit.record(request.principal, 'silence.created', made.id, { reason: made.reason ?? '' });
        const { href, label } = toWindowRow(made);
        return new Redirect(href ?? '/maintenance', { tone: 'success', message: `Silenced ${label}.` });
      },
      silenceForm,
    ),
    createFormPage(
      {
        path: '/silences/{id}/end',
        title,
        access,
        input: { params: joi.object({ id: joi.string().guid().required() }) },
      },
      async ({ params, principal }) => {
        const ended = await windows.remove(params['id'] ?? '', toWatchdogCaller(principal), 'silence');
        await audit.record(principal, 'silence.ended', ended.id, { reason: ended.reason ?? '' });
        await evaluator.evaluate('http');
        const { href, label } = toWindowRow(ended);
        return new Redirect(href ?? '/maintenance', { tone: 'success', message: `Ended the silence of ${label}.` });
      },
      form,
    ),
    createFormPage(
      {
        path: '/maintenance/{id}/end',
        title,
        access,
        input: { params: joi.object({ id: joi.string().guid().required() }) },
      },
      async ({ params, principal }) => {
        const ended = await windows.remove(params['id'] ?? '', toWatchdogCaller(principal));
        await audit.record(principal, 'maintenance.ended', ended.id, { reason: ended.reason ?? '' });
        await evaluator.evaluate('http');
        const { href, label } = toWindowRow(ended);
        const message = `${ended.open ? 'Ended' : 'Canceled'} maintenance of ${label}.`;
        return new Redirect(href ?? '/maintenance', { tone: 'success', message });
      },
      form,
    ),
  ];
}
