/**
 * Formats an occurrence for agents (contract 95, MCP). The tool `occurrences` returns all of it.
 */
import { formatValue } from './tool-text.js';

type Data = Readonly<Record<string, unknown>>;

const isData = (value: unknown): value is Data => typeof value === 'object' && value !== null && !Array.isArray(value);
const wordOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

const NAMED: ReadonlySet<string> = new Set(['timestamp', 'type', 'category', 'level', 'message', 'data', 'event_id']);
const USUAL: ReadonlySet<string> = new Set(['info', 'log', 'debug', 'default', '']);
const TIME = /T(\d\d:\d\d:\d\d)/;

/** Formats a breadcrumb without its time: `ui.click button#pay {x: 1}`. */
function stepOf(crumb: unknown): string {
  if (!isData(crumb)) return wordOf(crumb) || formatValue(crumb);
  const level = wordOf(crumb['level']);
  const kind = wordOf(crumb['category']) || wordOf(crumb['type']);
  const more = Object.entries(crumb).filter(([name]) => !NAMED.has(name));
  const data = crumb['data'] ?? null;
  const words = [kind, USUAL.has(level) ? '' : level, wordOf(crumb['message'])];
  const rest = [data === null ? '' : formatValue(data), more.length > 0 ? formatValue(Object.fromEntries(more)) : ''];
  return [...words, ...rest].filter((word) => word !== '' && word !== '{}').join(' ');
}

function timeOf(crumb: unknown): string {
  const at = isData(crumb) ? crumb['timestamp'] : undefined;
  if (typeof at === 'number') return Number.isFinite(at) && at > 0 && at < 1e11 ? clock(new Date(at * 1000)) : '';
  return typeof at === 'string' ? (TIME.exec(at)?.[1] ?? '') : '';
}
const clock = (at: Date): string => TIME.exec(at.toISOString())?.[1] ?? '';

/**
 * Newest first, because long texts are truncated at the end. Equal consecutive steps become one
 * line.
 */
function stepsOf(crumbs: readonly unknown[]): string {
  const steps: { at: string; step: string; times: number }[] = [];
  for (const crumb of crumbs.toReversed()) {
    const step = stepOf(crumb);
    const last = steps.at(-1);
    if (last?.step === step) last.times += 1;
    else steps.push({ at: timeOf(crumb), step, times: 1 });
  }
  return steps.map(({ at, step, times }) => `${at} ${step}${times > 1 ? ` ×${times}` : ''}`.trim()).join('\n');
}

const IDLE_CONTEXTS: ReadonlySet<string> = new Set(['trace', 'culture', 'cloud_resource']);
const MACHINES: ReadonlySet<string> = new Set(['app', 'device', 'os']);
const MEASURED = /time|memory|processor|cpu|kernel/;

function contextsOf(contexts: Data): Data {
  const told = Object.entries(contexts).flatMap(([name, one]) => {
    if (IDLE_CONTEXTS.has(name)) return [];
    if (!MACHINES.has(name) || !isData(one)) return [[name, one]];
    const kept = Object.entries(one).filter(([member]) => !MEASURED.test(member));
    return kept.length === 0 ? [] : [[name, Object.fromEntries(kept)]];
  });
  return Object.fromEntries(told) as Data;
}

/** @param item the occurrence's item; the SDK's event id is omitted */
export function compactOccurrence(occurrence: Data, item: Data): Data {
  const { client_ref, ...rest } = occurrence;
  const { breadcrumbs, context } = occurrence;
  return {
    ...rest,
    ...(item['source'] !== 'sdk' && client_ref !== undefined && { client_ref }),
    ...(Array.isArray(breadcrumbs) && breadcrumbs.length > 0 && { breadcrumbs: stepsOf(breadcrumbs) }),
    ...(isData(context) &&
      isData(context['contexts']) && { context: { ...context, contexts: contextsOf(context['contexts']) } }),
  };
}
