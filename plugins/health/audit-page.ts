import joi from 'joi';
import {
  toLocalTime,
  Redirect,
  createCsvFile,
  utcOfLocal,
  View,
  getTimeZone,
  type Clock,
  type HttpRequest,
  type PageSpec,
  type Reply,
} from '../../kernel/contract/index.js';
import { formatCsvPages } from '../../lib/text/csv.js';
import { capitalize } from '../../lib/sentence.js';
import {
  formatAuditAction,
  formatAuditActor,
  formatAuditField,
  formatAuditSentence,
  formatAuditValue,
} from '../../lib/audit-sentence.js';
import { DAY_MS, toIsoString, normalizeTime } from '../../lib/time.js';
import type { AuditEntry, AuditQuery, AuditReader } from '../../ports/domain/audit.js';

const PAGE_SIZE = 50;

/** For programs, which find the request in the log by it. */
const HIDDEN_DETAILS = new Set(['request_id']);

export interface AuditRow {
  at: string;
  actor: string;
  /** The actor, shortened. */
  by: string;
  action: string;
  phrase: string;
  sentence: string;
  name: string;
  href: string | null;
  target: string;
  facts: { label: string; value: string }[];
  changes: { label: string; before: string; after: string }[];
}

export async function toAuditRow(reader: AuditReader, entry: AuditEntry): Promise<AuditRow> {
  const { at, actor, action, target, details, before = {}, after = {} } = entry;
  const { name, href } = await reader.describeTarget(entry);
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  // For a new object every field would appear as changed.
  const isNew = Object.keys(before).length === 0;
  return {
    at,
    actor,
    by: formatAuditActor(actor),
    action,
    phrase: formatAuditAction(action),
    sentence: formatAuditSentence(entry, name),
    target,
    name,
    href,
    facts: Object.entries(isNew ? { ...after, ...details } : details)
      .filter(([label, value]) => value !== null && !HIDDEN_DETAILS.has(label) && !(label === 'name' && value === name))
      .map(([label, value]) => ({ label: formatAuditField(label), value: formatAuditValue(label, value) })),
    changes: (isNew ? [] : fields)
      .filter((label) => (before[label] ?? null) !== null || (after[label] ?? null) !== null)
      .map((label) => ({
        label: formatAuditField(label),
        before: formatAuditValue(label, before[label] ?? null),
        after: formatAuditValue(label, after[label] ?? null),
      })),
  };
}

const buildTextParam = (most: number) => joi.string().max(most).empty('');
const day = joi
  .string()
  .pattern(/^\d{4}-\d\d-\d\d$/)
  .custom((date: string, helpers) => (normalizeTime(date) === null ? helpers.error('any.invalid') : date))
  .empty('');
const PERIOD_CHOICES = [
  ['today', 'Today'],
  ['yesterday', 'Yesterday'],
  ['week', '7 days'],
  ['all', 'All'],
] as const;
type AuditPeriod = (typeof PERIOD_CHOICES)[number][0];

const query = joi.object({
  period: joi
    .string()
    .valid(...PERIOD_CHOICES.map(([name]) => name))
    .empty(''),
  logins: joi.string().valid('true').empty(''),
  actor: buildTextParam(200),
  action: buildTextParam(100),
  target: buildTextParam(300),
  from: day,
  to: day,
  format: joi.string().valid('csv').empty(''),
  cursor: buildTextParam(4096),
});

/** @param zone of the dates; the last day is included entirely */
function toAuditQuery({ actor, action, target, from, to }: Partial<Record<string, string>>, zone: string): AuditQuery {
  const at = (date: string, days = 0): string => {
    const day = toIsoString((Date.parse(date) || 0) + days * DAY_MS).slice(0, 10);
    return utcOfLocal(`${day}T00:00`, zone) ?? `${day}T00:00:00.000Z`;
  };
  return {
    ...(actor !== undefined && { actor }),
    ...(action !== undefined && { action }),
    ...(target !== undefined && { target }),
    ...(from !== undefined && { since: at(from) }),
    ...(to !== undefined && { until: at(to, 1) }),
  };
}

const ACTION_NOUNS = [
  'access_files',
  'bug',
  'channel',
  'credential',
  'grouping_rule',
  'ignore_rule',
  'invitation',
  'license',
  'login',
  'migrations',
  'monitor',
  'project',
  'release',
  'token',
  'user',
  'webhook',
].map((noun) => ({ value: `${noun}.`, label: capitalize(noun.replaceAll('_', ' ')) }));

export interface AuditPageServices {
  reader: AuditReader;
  clock: Pick<Clock, 'now'>;
  timezone: string;
}

function resolvePeriod(
  period: AuditPeriod,
  { clock }: AuditPageServices,
  timezone: string,
): Pick<AuditQuery, 'since' | 'until'> {
  const midnight = (days: number): string => {
    const day = toLocalTime(clock.now() - days * DAY_MS, timezone).slice(0, 10);
    return utcOfLocal(`${day}T00:00`, timezone) ?? toIsoString(clock.now() - days * DAY_MS);
  };
  if (period === 'all') return {};
  if (period === 'yesterday') return { since: midnight(1), until: midnight(0) };
  return { since: midnight(period === 'today' ? 0 : 6) };
}

async function buildAuditListView(services: AuditPageServices, request: HttpRequest): Promise<View | Reply> {
  const {
    cursor = null,
    period: chosen,
    logins,
    format,
    ...filters
  } = request.query as Partial<Record<string, string>>;
  const filtered = Object.keys(filters).length > 0;
  // A filter searches the whole log; without one the page shows the last week.
  const period = (chosen ?? (filtered ? 'all' : 'week')) as AuditPeriod;
  const hidden = logins === undefined && filters['action']?.startsWith('login') !== true;
  const zone = getTimeZone(request.principal, services.timezone);
  const auditQuery = {
    ...resolvePeriod(period, services, zone),
    ...toAuditQuery(filters, zone),
    ...(hidden && { without: 'login.' }),
  };
  if (format === 'csv') return buildAuditCsv(services.reader, auditQuery);
  const page = await services.reader.search(auditQuery, PAGE_SIZE, cursor);
  const items = await Promise.all(page.items.map((entry) => toAuditRow(services.reader, entry)));
  const address = (change: Record<string, string | undefined>): string => {
    const all = { ...filters, ...(chosen && { period: chosen }), ...(logins && { logins }), ...change };
    const search = new URLSearchParams(Object.entries(all).filter((pair): pair is [string, string] => !!pair[1]));
    return `/audit?${search.toString()}`;
  };
  return new View('audit', {
    items: items.map((row) => Object.assign(row, { by_href: address({ actor: row.actor }) })),
    actors: [...new Set(items.map(({ actor }) => actor))].toSorted(),
    next_cursor: page.next,
    nouns: ACTION_NOUNS,
    csv: address({ format: 'csv' }),
    filtered,
    period: chosen,
    tabs: PERIOD_CHOICES.map(([name, label]) => ({
      label,
      href: address({ period: name, from: undefined, to: undefined }),
      active: period === name && filters['from'] === undefined && filters['to'] === undefined,
    })),
    logins: { shown: !hidden, href: address({ logins: hidden ? 'true' : undefined }) },
  });
}

const CSV_COLUMNS = ['at', 'actor', 'action', 'target', 'event', 'details', 'before', 'after'];
const CSV_PAGE_SIZE = 500;

async function buildAuditCsv(reader: AuditReader, auditQuery: AuditQuery): Promise<Reply> {
  const csv = await formatCsvPages(
    CSV_COLUMNS,
    (after) => reader.search(auditQuery, CSV_PAGE_SIZE, after),
    async (entry) => {
      const { at, actor, action, target, details, before = null, after = null } = entry;
      const { name } = await reader.describeTarget(entry);
      return [at, actor, action, target, formatAuditSentence(entry, name), details, before, after];
    },
  );
  return createCsvFile('audit', csv);
}

export const buildAuditPages = (services: AuditPageServices): PageSpec[] => [
  {
    path: '/audit',
    title: 'Audit log',
    nav: {
      section: 'administration',
      group: 'workspace',
      label: 'Audit log',
      icon: 'history',
      order: 40,
      also: ['audit log', 'who', 'changes', 'logins', 'history', 'actions'],
    },
    access: { session: 'member' },
    input: { query },
    handle: (request) => buildAuditListView(services, request),
  },
  {
    path: '/system/audit',
    title: 'Audit log',
    access: { session: 'member' },
    input: { query },
    handle: ({ query: given }) => {
      const search = new URLSearchParams(given as Record<string, string>).toString();
      return new Redirect(search === '' ? '/audit' : `/audit?${search}`);
    },
  },
];
