import { escapeHtml, Html, toText, splitArguments, type Helper } from './html.js';

const isTruthy = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : Boolean(value));

function compareValues(a: unknown, b: unknown): number | null {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : Number(a > b);
  return null;
}

const createComparison =
  (test: (c: number) => boolean): Helper =>
  (a, b) => {
    const c = compareValues(a, b);
    return c !== null && test(c);
  };

function fallback(...args: unknown[]): unknown {
  const { values } = splitArguments(args);
  return values.find((v) => v !== null && v !== undefined && v !== '') ?? '';
}

function includes(list: unknown, value: unknown): boolean {
  if (Array.isArray(list)) return list.includes(value);
  return typeof list === 'string' && typeof value === 'string' && list.includes(value);
}

function formatJson(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? '';
}

function getSize(value: unknown): number {
  if (Array.isArray(value) || typeof value === 'string') return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

export function getLabel(options: unknown, value: unknown): unknown {
  const found = Array.isArray(options) ? (options as { value?: unknown; label?: unknown }[]) : [];
  return found.find((one) => one.value === value)?.label ?? value;
}

function truncate(value: unknown, max: unknown): Html {
  const all = toText(value);
  const limit = typeof max === 'number' ? max : 80;
  // Splits only as much as needed, because the text may be long.
  const characters = Array.from(all.slice(0, 2 * limit + 2));
  if (characters.length <= limit) return new Html(escapeHtml(all));
  const cut = characters.slice(0, limit - 1).join('');
  return new Html(`<span title="${escapeHtml(all)}">${escapeHtml(cut)}…</span>`);
}

export const logicHelpers: Record<string, Helper> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  gt: createComparison((c) => c > 0),
  gte: createComparison((c) => c >= 0),
  lt: createComparison((c) => c < 0),
  lte: createComparison((c) => c <= 0),
  and: (...args) => splitArguments(args).values.every(isTruthy),
  or: (...args) => splitArguments(args).values.some(isTruthy),
  not: (value) => !isTruthy(value),
  default: fallback,
  choose: (test, yes, no) => (isTruthy(test) ? yes : no),
  includes,
  concat: (...args) => splitArguments(args).values.map(toText).join(''),
  'list-of': (...args) => [...splitArguments(args).values],
  'object-of': (...args) => ({ ...splitArguments(args).hash }),
  'to-json': formatJson,
  'length-of': getSize,
  'label-of': getLabel,
  truncate,
  lower: (value) => toText(value).toLowerCase(),
};
