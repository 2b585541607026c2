/**
 * Markup from helpers, which Handlebars prints unescaped because of `toHTML()`. Every helper that
 * returns `Html` must escape its input.
 */

export class Html {
  constructor(private readonly markup: string) {}
  toHTML(): string {
    return this.markup;
  }
  toString(): string {
    return this.markup;
  }
}

export interface HelperOptions {
  hash: Record<string, unknown>;
  data?: { root?: Record<string, unknown> };
}

export type Helper = (...args: unknown[]) => unknown;

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#x27;',
  '`': '&#x60;',
  '=': '&#x3D;',
};

/** Escapes text for element content and quoted attributes; null and undefined become empty. */
export function escapeHtml(value: unknown): string {
  return toText(value).replace(/[&<>"'`=]/g, (c) => ENTITIES[c] as string);
}

export function toText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value instanceof Html) return value.toString();
  return JSON.stringify(value) ?? '';
}

/**
 * Renders ` name="value"` for each attribute that is not null, undefined or false; true yields the
 * bare name.
 */
export function renderAttributes(values: Record<string, unknown>): string {
  let out = '';
  for (const name in values) {
    const value = values[name];
    if (value === null || value === undefined || value === false) continue;
    out += value === true ? ` ${name}` : ` ${name}="${escapeHtml(value)}"`;
  }
  return out;
}

export interface HelperArguments {
  values: readonly unknown[];
  hash: Record<string, unknown>;
  root: Record<string, unknown>;
}

export function splitArguments(args: readonly unknown[]): HelperArguments {
  const last = args.at(-1);
  if (typeof last === 'object' && last !== null && 'hash' in last && typeof last.hash === 'object') {
    const { hash, data } = last as HelperOptions;
    return { values: args.slice(0, -1), hash: hash ?? {}, root: data?.root ?? {} };
  }
  return { values: args, hash: {}, root: {} };
}

/** Returns a finite number or null, so that NaN never appears on a page. */
export function toNumber(value: unknown): number | null {
  const n = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof n === 'number' && Number.isFinite(n) ? n : null;
}

/** The first Intl formatter loads much locale data. */
export function memoize<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}
