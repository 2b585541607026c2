import { formatValue } from './tool-text.js';

type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const toText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

const SHOWN_MEMBERS: ReadonlySet<string> = new Set([
  'timestamp',
  'type',
  'category',
  'level',
  'message',
  'data',
  'event_id',
]);
const COMMON_LABELS: ReadonlySet<string> = new Set(['info', 'log', 'debug', 'default', '']);
const TIME_OF_DAY = /T(\d\d:\d\d:\d\d)/;

/** Formats without the time: `ui.click button#pay {x: 1}`. */
function formatBreadcrumb(crumb: unknown): string {
  if (!isObject(crumb)) return toText(crumb) || formatValue(crumb);
  const level = toText(crumb['level']);
  const kind = toText(crumb['category']) || toText(crumb['type']);
  const more = Object.entries(crumb).filter(([name]) => !SHOWN_MEMBERS.has(name));
  const data = crumb['data'] ?? null;
  const words = [kind, COMMON_LABELS.has(level) ? '' : level, toText(crumb['message'])];
  const rest = [data === null ? '' : formatValue(data), more.length > 0 ? formatValue(Object.fromEntries(more)) : ''];
  return [...words, ...rest].filter((word) => word !== '' && word !== '{}').join(' ');
}

function formatTime(crumb: unknown): string {
  const at = isObject(crumb) ? crumb['timestamp'] : undefined;
  if (typeof at === 'number') return Number.isFinite(at) && at > 0 && at < 1e11 ? formatClock(new Date(at * 1000)) : '';
  return typeof at === 'string' ? (TIME_OF_DAY.exec(at)?.[1] ?? '') : '';
}
const formatClock = (at: Date): string => TIME_OF_DAY.exec(at.toISOString())?.[1] ?? '';

/** Lists newest first, because long texts are truncated at the end. */
function formatBreadcrumbs(crumbs: readonly unknown[]): string {
  const steps: { at: string; step: string; times: number }[] = [];
  for (const crumb of crumbs.toReversed()) {
    const step = formatBreadcrumb(crumb);
    const last = steps.at(-1);
    if (last?.step === step) last.times += 1;
    else steps.push({ at: formatTime(crumb), step, times: 1 });
  }
  return steps.map(({ at, step, times }) => `${at} ${step}${times > 1 ? ` ×${times}` : ''}`.trim()).join('\n');
}

const OMITTED_CONTEXTS: ReadonlySet<string> = new Set(['trace', 'culture', 'cloud_resource']);
const MACHINE_CONTEXTS: ReadonlySet<string> = new Set(['app', 'device', 'os']);
const MEASUREMENT_KEY = /time|memory|processor|cpu|kernel/;

function filterContexts(contexts: JsonObject): JsonObject {
  const filteredEntries = Object.entries(contexts).flatMap(([name, one]) => {
    if (OMITTED_CONTEXTS.has(name)) return [];
    if (!MACHINE_CONTEXTS.has(name) || !isObject(one)) return [[name, one]];
    const retainedFields = Object.entries(one).filter(([member]) => !MEASUREMENT_KEY.test(member));
    return retainedFields.length === 0 ? [] : [[name, Object.fromEntries(retainedFields)]];
  });
  return Object.fromEntries(filteredEntries) as JsonObject;
}

/** @param item the occurrence's item */
export function formatOccurrence(occurrence: JsonObject, item: JsonObject): JsonObject {
  const { client_ref, ...rest } = occurrence;
  const { breadcrumbs, context } = occurrence;
  return {
    ...rest,
    ...(item['source'] !== 'sdk' && client_ref !== undefined && { client_ref }),
    ...(Array.isArray(breadcrumbs) && breadcrumbs.length > 0 && { breadcrumbs: formatBreadcrumbs(breadcrumbs) }),
    ...(isObject(context) &&
      isObject(context['contexts']) && { context: { ...context, contexts: filterContexts(context['contexts']) } }),
  };
}
