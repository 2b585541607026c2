/**
 * Markup made by helpers. `Html` is what Handlebars calls a SafeString: it prints an object's `toHTML()` unescaped, so
 * no import of the engine is needed here. Every helper that returns `Html` escapes what it was given with `escape`.
 * Rejected: building these in partials. A partial's missing parameter reads the page's field of the same name.
 */

/** Markup that the template engine prints as it is. */
export class Html {
  constructor(private readonly markup: string) {}
  toHTML(): string {
    return this.markup;
  }
  toString(): string {
    return this.markup;
  }
}

/** The last argument that Handlebars gives every helper. */
export interface HelperOptions {
  hash: Record<string, unknown>;
  /** `root`: the context of the whole page. */
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

/** Text safe in element content and in quoted attributes. null and undefined become nothing. */
export function escape(value: unknown): string {
  return plain(value).replace(/[&<>"'`=]/g, (c) => ENTITIES[c] as string);
}

/** Any template value as text: objects as JSON, nothing as the empty string. */
export function plain(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value instanceof Html) return value.toString();
  return JSON.stringify(value) ?? '';
}

/** ` name="value"` for each attribute that is neither null, undefined nor false; true is the bare name. */
export function attributes(values: Record<string, unknown>): string {
  let out = '';
  for (const name in values) {
    const value = values[name];
    if (value === null || value === undefined || value === false) continue;
    out += value === true ? ` ${name}` : ` ${name}="${escape(value)}"`;
  }
  return out;
}

/** What a helper was given. */
export interface HelperArguments {
  values: readonly unknown[];
  hash: Record<string, unknown>;
  /** The fields of the whole page. */
  root: Record<string, unknown>;
}

/** The helper's own arguments, its hash and the page's fields. */
export function split(args: readonly unknown[]): HelperArguments {
  const last = args.at(-1);
  if (typeof last === 'object' && last !== null && 'hash' in last && typeof last.hash === 'object') {
    const { hash, data } = last as HelperOptions;
    return { values: args.slice(0, -1), hash: hash ?? {}, root: data?.root ?? {} };
  }
  return { values: args, hash: {}, root: {} };
}

/** A finite number, or null: text from a form or a missing field never becomes NaN on a page. */
export function numeric(value: unknown): number | null {
  const n = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof n === 'number' && Number.isFinite(n) ? n : null;
}

/** What is made with its first use, and kept: with the first formatter Node reads 8 MB about all languages. */
export function late<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}
