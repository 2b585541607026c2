/**
 * Texts that are looked up by a part of them (ports/store.ts, LookupSpec): MongoDB's own text index knows words alone.
 * So a document carries the grams of its text (lib/grams.ts) in a field of the adapter's own, with an index; nobody
 * else sees it. The field is written with the text, by the same command. Pure.
 */
import { gramsOf, gramsWithin } from '../../lib/text/grams.js';
import { valueAt } from '../../ports/document.js';
import type { Condition, Doc, Filter, Update } from '../../ports/store.js';

/** Characters of a gram, at least: shorter ones would double the index. */
const SHORTEST = 3;
/** Grams of a filter that are asked about; each is a question of its own. */
const ASKED = 12;

/** What no path of a document begins with. */
export const HIDDEN = '~';

/** The field with the grams of the text at `path`. */
export const gramsField = (path: string): string => HIDDEN + path.replaceAll('.', HIDDEN);
/** The path whose grams are in a field, of which no segment holds the sign. */
export const pathOf = (field: string): string => field.slice(HIDDEN.length).replaceAll(HIDDEN, '.');

export const gramsOfValue = (value: unknown): number[] =>
  typeof value === 'string' ? [...gramsOf(value, SHORTEST)] : [];

/** The fields of a new document. @param texts paths */
export function gramFields(doc: Doc, texts: readonly string[]): { [field: string]: number[] } {
  return Object.fromEntries(texts.map((path) => [gramsField(path), gramsOfValue(valueAt(doc, path))]));
}

/** What an update sets besides; nothing when it leaves the texts alone. */
export function gramUpdates({ set, unset }: Update, texts: readonly string[]): { [field: string]: number[] } {
  const written = texts.filter((path) => unset?.includes(path) || (set && Object.hasOwn(set, path)));
  return Object.fromEntries(written.map((path) => [gramsField(path), gramsOfValue(set?.[path])]));
}

/**
 * Grams that every text which a filter matches has, with their field; null when it asks for no part that is long
 * enough.
 */
export function gramsAsked(filter: Filter, texts: readonly string[]): { field: string; grams: number[] } | null {
  for (const path of texts) {
    const condition = filter[path] as Condition | undefined;
    if (condition === null || typeof condition !== 'object' || condition.contains === undefined) continue;
    const grams = new Set<number>();
    for (const part of [condition.contains].flat()) for (const gram of gramsWithin(part, SHORTEST)) grams.add(gram);
    if (grams.size > 0) return { field: gramsField(path), grams: spread([...grams]) };
  }
  return null;
}

function spread(grams: readonly number[]): number[] {
  const step = Math.ceil(grams.length / ASKED);
  return grams.filter((_, i) => i % step === 0);
}
