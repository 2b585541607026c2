/**
 * Supports substring search (`CollectionSpec.search`), because MongoDB's text index only finds
 * words. A document carries the trigrams of its text in a hidden, indexed field, written by the
 * same command as the text.
 */
import { extractTrigrams } from '../../lib/text/trigrams.js';
import { getPathValue } from '../../ports/document.js';
import type { Condition, Doc, Filter, Update } from '../../ports/store.js';

/** Maximum trigrams counted per filter; each needs one query. */
const ASKED = 12;

/** Prefix that no document path starts with. */
export const HIDDEN = '~';

export const trigramField = (path: string): string => HIDDEN + path.replaceAll('.', HIDDEN);
export const pathOf = (field: string): string => field.slice(HIDDEN.length).replaceAll(HIDDEN, '.');

export const extractValueTrigrams = (value: unknown): string[] =>
  typeof value === 'string' ? extractTrigrams(value) : [];

/**
 * Returns the trigram fields of a new document.
 * @param texts paths
 */
export function trigramFields(doc: Doc, texts: readonly string[]): { [field: string]: string[] } {
  return Object.fromEntries(texts.map((path) => [trigramField(path), extractValueTrigrams(getPathValue(doc, path))]));
}

export function trigramUpdates({ set, unset }: Update, texts: readonly string[]): { [field: string]: string[] } {
  const written = texts.filter((path) => unset?.includes(path) || (set && Object.hasOwn(set, path)));
  return Object.fromEntries(written.map((path) => [trigramField(path), extractValueTrigrams(set?.[path])]));
}

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
