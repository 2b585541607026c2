import { escape, Html, plain, split, type Helper } from './html.js';

const truthy = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : Boolean(value));

function order(a: unknown, b: unknown): number | null {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : Number(a > b);
  return null;
}

const compare =
  (test: (c: number) => boolean): Helper =>
  (a, b) => {
    const c = order(a, b);
    return c !== null && test(c);
  };

function fallback(...args: unknown[]): unknown {
  const { values } = split(args);
  return values.find((v) => v !== null && v !== undefined && v !== '') ?? '';
}

function includes(list: unknown, value: unknown): boolean {
  if (Array.isArray(list)) return list.includes(value);
  return typeof list === 'string' && typeof value === 'string' && list.includes(value);
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? '';
}

function size(value: unknown): number {
  if (Array.isArray(value) || typeof value === 'string') return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

export function labelOf(options: unknown, value: unknown): unknown {
  const found = Array.isArray(options) ? (options as { value?: unknown; label?: unknown }[]) : [];
  return found.find((one) => one.value === value)?.label ?? value;
}

function truncate(value: unknown, max: unknown): Html {
  const all = plain(value);
  const limit = typeof max === 'number' ? max : 80;
  // Splits only as much as needed, because the text may be long.
  const characters = Array.from(all.slice(0, 2 * limit + 2));
  if (characters.length <= limit) return new Html(escape(all));
  const cut = characters.slice(0, limit - 1).join('');
  return new Html(`<span title="${escape(all)}">${escape(cut)}…</span>`);
}

export const logic: Record<string, Helper> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  gt: compare((c) => c > 0),
  gte: compare((c) => c >= 0),
  lt: compare((c) => c < 0),
  lte: compare((c) => c <= 0),
  and: (...args) => split(args).values.every(truthy),
  or: (...args) => split(args).values.some(truthy),
  not: (value) => !truthy(value),
  default: fallback,
  choose: (test, yes, no) => (truthy(test) ? yes : no),
  includes,
  concat: (...args) => split(args).values.map(plain).join(''),
  'list-of': (...args) => [...split(args).values],
  'object-of': (...args) => ({ ...split(args).hash }),
  'to-json': json,
  'length-of': size,
  'label-of': labelOf,
  truncate,
  lower: (value) => plain(value).toLowerCase(),
};
