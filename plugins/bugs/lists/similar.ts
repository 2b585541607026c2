/**
 * Items that are near another one: of the same class or origin, or told of in the same words. An error has a class and
 * a file; a report that a person or agent wrote often has its title alone.
 *
 * The work is bounded: one page of the store by class, one by file, and one for each of a few words. Rejected: one
 * query over all words as alternatives, since no look-up serves it and a rare word would then read the whole project.
 */
import type { Filter } from '../../../ports/store.js';
import type { BugDeps } from '../deps.js';
import { sortOf } from '../item/filters.js';
import type { ItemDoc } from '../item/model.js';

/** Each word is a query of its own. */
const MOST_WORDS = 6;
const SHORTEST = 4;
/** Longer ones that stand in every other title. */
const COMMON: ReadonlySet<string> = new Set(
  'with when that this from have does then than after before which there their should cannot into'.split(' '),
);
/** One word alone says little, unless the title has no other. */
const SHARED = 2;
/** Items of one word that are compared; of a frequent word the ones seen last. */
const PER_WORD = 50;
const WORD = /[\p{L}\p{N}_]+/gu;

/** The words of a title that tell it from others, the longest first, since long words are the rare ones. Pure. */
export function tellingWords(title: string): string[] {
  const words = (title.toLowerCase().match(WORD) ?? []).filter(
    (word) => word.length >= SHORTEST && !COMMON.has(word) && /\p{L}/u.test(word),
  );
  return [...new Set(words)].toSorted((a, b) => b.length - a.length).slice(0, MOST_WORDS);
}

/**
 * Other items of the item's project: those with its class and file first, then those with one of the two, then those
 * with two or more of its title's telling words, most words first; among equals those seen last first.
 */
export async function similarTo({ items }: Pick<BugDeps, 'items'>, item: ItemDoc, limit: number): Promise<ItemDoc[]> {
  const { id, project, exception_class, file_path } = item;
  const words = tellingWords(item.title);
  const find = async (filter: Filter, most: number): Promise<ItemDoc[]> => {
    const page = await items.find({ filter: { project, ...filter }, sort: sortOf(), limit: most });
    return page.items.filter((other) => other.id !== id);
  };
  const [byClass, byFile, ...byWord] = await Promise.all([
    exception_class === null ? [] : find({ exception_class }, limit + 1),
    file_path === null ? [] : find({ file_path }, limit + 1),
    ...words.map((word) => find({ search_text: { contains: word } }, PER_WORD)),
  ]);
  const origins = (other: ItemDoc): number =>
    Number(exception_class !== null && other.exception_class === exception_class) +
    Number(file_path !== null && other.file_path === file_path);
  const shared = (other: ItemDoc): number => words.filter((word) => other.search_text.includes(word)).length;
  const found = new Map([...byClass, ...byFile, ...byWord.flat()].map((other) => [other.id, other]));
  return [...found.values()]
    .map((other) => ({ other, origins: origins(other), shared: shared(other) }))
    .filter((one) => one.origins > 0 || one.shared >= Math.min(words.length, SHARED))
    .toSorted(
      (a, b) => b.origins - a.origins || b.shared - a.shared || (a.other.last_seen_at < b.other.last_seen_at ? 1 : -1),
    )
    .slice(0, limit)
    .map(({ other }) => other);
}
