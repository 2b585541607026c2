/** Libraries use various names for time, category, level, message and data. */
import type { Json } from '../../../../ports/store/index.js';

export interface TimelineEntry {
  icon: string;
  /** Empty if unknown. */
  kind: string;
  category: string;
  message: string;
  /** Empty for a level without a color. */
  level: string;
  at: string | null;
  /** `3.2 s before`; empty without a time. */
  before: string;
  data: { [key: string]: Json | undefined } | null;
}

type Fields = { [key: string]: Json | undefined };
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface BreadcrumbKind {
  pattern: RegExp;
  icon: string;
  kind: string;
}

/** Type before category; the first match wins. */
const BREADCRUMB_KINDS: readonly BreadcrumbKind[] = [
  { pattern: /error|exception/, icon: 'alert', kind: 'error' },
  { pattern: /navig|route/, icon: 'link', kind: 'navigation' },
  { pattern: /query|sql|\bdb\b|database|redis|mongo/, icon: 'database', kind: 'query' },
  { pattern: /http|fetch|xhr|request/, icon: 'send', kind: 'request' },
  { pattern: /\buser\b|click|\bui\b|touch|input|gesture/, icon: 'user', kind: 'user' },
  { pattern: /console|log|debug/, icon: 'terminal', kind: 'console' },
  { pattern: /auth|session/, icon: 'key', kind: 'sign-in' },
  { pattern: /file|\bfs\b|disk/, icon: 'file', kind: 'file' },
  { pattern: /system|device|app\.|lifecycle/, icon: 'system', kind: 'system' },
];
const MAX_BREADCRUMBS = 100;
const FAILURE_LEVELS = new Set(['fatal', 'critical', 'error', 'warning', 'warn']);

const getText = (fields: Fields, ...names: string[]): string => {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === 'string' && value !== '') return value;
    if (typeof value === 'number') return String(value);
  }
  return '';
};

/** Converts RFC 3339, or seconds, milliseconds or nanoseconds since 1970. */
function parseInstant(value: Json | undefined): number | null {
  if (typeof value === 'string' && /^\d{4}-/.test(value)) {
    const at = Date.parse(value);
    return Number.isNaN(at) ? null : at;
  }
  const n = typeof value === 'string' && value !== '' ? Number(value) : value;
  if (typeof n !== 'number' || !Number.isFinite(n) || n <= 0) return null;
  const ms = n < 1e11 ? n * 1000 : n > 1e16 ? n / 1e6 : n;
  return ms < 8.64e15 ? ms : null;
}

function formatTimeBefore(at: number | null, end: number): string {
  if (at === null) return '';
  const seconds = (end - at) / 1000;
  if (seconds < 0.05) return 'at the end';
  if (seconds < 60) return `${seconds.toFixed(1)} s before`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min before`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h before` : `${Math.round(seconds / 86_400)} d before`;
}

function formatRequest(data: Fields): string {
  const url = getText(data, 'url', 'uri');
  if (url === '') return '';
  const status = getText(data, 'status_code', 'status', 'http.response.status_code');
  return `${getText(data, 'method', 'http.method')} ${url}${status === '' ? '' : ` → ${status}`}`.trim();
}

function toTimelineEntry(value: Json, end: number): TimelineEntry {
  if (!isFields(value)) {
    const message = typeof value === 'string' ? value : JSON.stringify(value);
    return { icon: 'chevron-right', kind: '', category: '', message, level: '', at: null, before: '', data: null };
  }
  const { data: given, ...own } = value;
  const data = isFields(given) ? given : null;
  const category = getText(own, 'category', 'type');
  const level = getText(own, 'level').toLowerCase();
  const ownMessage = getText(own, 'message', 'msg', 'text', 'title');
  const request = data === null ? '' : formatRequest(data);
  const moved = data === null ? '' : [getText(data, 'from'), getText(data, 'to')].filter((t) => t !== '').join(' → ');
  const at = parseInstant(own['timestamp'] ?? own['at'] ?? own['time'] ?? own['ts']);
  const message = ownMessage || request || moved || (data === null ? JSON.stringify(own) : '');
  const { icon, kind } = findKind(
    getText(own, 'type'),
    category,
    FAILURE_LEVELS.has(level) && !level.startsWith('warn'),
  );
  const shown = data !== null && Object.keys(data).length > 0 ? data : null;
  return {
    icon,
    kind,
    category: category.toLowerCase() === kind ? '' : category,
    message,
    level: FAILURE_LEVELS.has(level) ? level : '',
    at: at === null ? null : new Date(at).toISOString(),
    before: formatTimeBefore(at, end),
    data: shown,
  };
}

function findKind(type: string, category: string, loud: boolean): Pick<BreadcrumbKind, 'icon' | 'kind'> {
  const of = (text: string): BreadcrumbKind | undefined =>
    BREADCRUMB_KINDS.find(({ pattern }) => pattern.test(text.slice(0, 100).toLowerCase()));
  const found = (/^(?:default|)$/i.test(type) ? undefined : of(type)) ?? of(category);
  const { icon, kind } = found ?? { icon: 'chevron-right', kind: '' };
  return { icon: loud ? 'alert' : icon, kind };
}

/**
 * Lists oldest first, ending with the error.
 * @param breadcrumbs a list, or Sentry's `{values: […]}`
 * @param occurredAt RFC 3339
 */
export function buildTimeline(breadcrumbs: Json | undefined, occurredAt: string): TimelineEntry[] {
  const values = isFields(breadcrumbs) ? breadcrumbs['values'] : breadcrumbs;
  const end = Date.parse(occurredAt);
  return Array.isArray(values) ? values.slice(-MAX_BREADCRUMBS).map((value) => toTimelineEntry(value, end)) : [];
}
