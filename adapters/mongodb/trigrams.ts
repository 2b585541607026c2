/**
 * A document carries the trigrams of its text in a hidden, indexed field, written by the same
 * command as the text.
 */
import { extractTrigrams } from '../../lib/text/trigrams.js';
import { getPathValue } from '../../ports/document.js';
import type { Condition, Doc, Filter, Update } from '../../ports/store/index.js';

/** Maximum trigrams counted per filter; each needs one query. */
const MAX_COUNTED_TRIGRAMS = 12;

export const HIDDEN_PREFIX = '~';

export const toTrigramField = (path: string): string => HIDDEN_PREFIX + path.replaceAll('.', HIDDEN_PREFIX);
export const parseTrigramField = (field: string): string =>
  field.slice(HIDDEN_PREFIX.length).replaceAll(HIDDEN_PREFIX, '.');

export const extractValueTrigrams = (value: unknown): string[] =>
  typeof value === 'string' ? extractTrigrams(value) : [];

/** Returns the trigram fields of a new document. */
export function buildTrigramFields(doc: Doc, texts: readonly string[]): { [field: string]: string[] } {
  return Object.fromEntries(texts.map((path) => [toTrigramField(path), extractValueTrigrams(getPathValue(doc, path))]));
}

export function buildTrigramUpdates({ set, unset }: Update, texts: readonly string[]): { [field: string]: string[] } {
  const written = texts.filter((path) => unset?.includes(path) || (set && Object.hasOwn(set, path)));
  return Object.fromEntries(written.map((path) => [toTrigramField(path), extractValueTrigrams(set?.[path])]));
}

export function buildTrigramQuery(filter: Filter, texts: readonly string[]): { field: string; grams: string[] } | null {
  for (const path of texts) {
    const condition = filter[path] as Condition | undefined;
    if (condition === null || typeof condition !== 'object' || condition.contains === undefined) continue;
    const grams = new Set([condition.contains].flat().flatMap(extractTrigrams));
    if (grams.size > 0) return { field: toTrigramField(path), grams: selectEvenly([...grams]) };
  }
  return null;
}

function selectEvenly(grams: readonly string[]): string[] {
  const step = Math.ceil(grams.length / MAX_COUNTED_TRIGRAMS);
  return grams.filter((_, i) => i % step === 0);
}
