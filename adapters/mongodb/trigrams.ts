/**
 * Texts that are looked up by a part of them (`CollectionSpec.search`): MongoDB's own text index knows words alone. So
 * a document carries the trigrams of its text (lib/text/trigrams.ts) in a field of the adapter's own, with an index;
 * nobody else sees it. The field is written with the text, by the same command. Pure.
 */
import { extractTrigrams } from '../../lib/text/trigrams.js';
import { getPathValue } from '../../ports/document.js';
import type { Condition, Doc, Filter, Update } from '../../ports/store.js';

/** Trigrams of a filter that are asked about; each is a question of its own. */
const ASKED = 12;

/** What no path of a document begins with. */
export const HIDDEN = '~';

/** The field with the trigrams of the text at `path`. */
export const trigramField = (path: string): string => HIDDEN + path.replaceAll('.', HIDDEN);
/** The path whose trigrams are in a field, of which no segment holds the sign. */
export const pathOf = (field: string): string => field.slice(HIDDEN.length).replaceAll(HIDDEN, '.');

export const extractValueTrigrams = (value: unknown): string[] =>
  typeof value === 'string' ? extractTrigrams(value) : [];

/** The fields of a new document. @param texts paths */
export function trigramFields(doc: Doc, texts: readonly string[]): { [field: string]: string[] } {
  return Object.fromEntries(texts.map((path) => [trigramField(path), extractValueTrigrams(getPathValue(doc, path))]));
}

/** What an update sets besides; nothing when it leaves the texts alone. */
export function trigramUpdates({ set, unset }: Update, texts: readonly string[]): { [field: string]: string[] } {
  const written = texts.filter((path) => unset?.includes(path) || (set && Object.hasOwn(set, path)));
  return Object.fromEntries(written.map((path) => [trigramField(path), extractValueTrigrams(set?.[path])]));
}

/**
 * Trigrams that every text which a filter matches has, with their field; null when it asks for no part that is long
 * enough.
 */
export function trigramsAsked(filter: Filter, texts: readonly string[]): { field: string; grams: string[] } | null {
  for (const path of texts) {
    const condition = filter[path] as Condition | undefined;
    if (condition === null || typeof condition !== 'object' || condition.contains === undefined) continue;
    const grams = new Set([condition.contains].flat().flatMap(extractTrigrams));
    if (grams.size > 0) return { field: trigramField(path), grams: spread([...grams]) };
  }
  return null;
}

function spread(grams: readonly string[]): string[] {
  const step = Math.ceil(grams.length / ASKED);
  return grams.filter((_, i) => i % step === 0);
}
