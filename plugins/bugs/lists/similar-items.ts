/**
 * Items of the same class or origin, or with similar words: one store page by class, one by file,
 * one per word. No index serves a query over all words.
 */
import type { Filter } from '../../../ports/store/index.js';
import type { BugDeps } from '../deps.js';
import { toItemSort } from '../item/filters.js';
import type { ItemDoc } from '../item/model.js';

const MAX_WORDS = 6;
const MIN_WORD_LENGTH = 4;
const COMMON_WORDS: ReadonlySet<string> = new Set(
  'with when that this from have does then than after before which there their should cannot into'.split(' '),
);
/** One suffices if the title has no other. */
const MIN_SHARED_WORDS = 2;
const MAX_ITEMS_PER_WORD = 50;
const MAX_TEXT_LENGTH = 4_096;
const WORD_PATTERN = /[\p{L}\p{N}_]+/gu;

/** Lists longest first, since long words are rare. */
export function findDistinctiveWords(text: string, maxWords = MAX_WORDS): string[] {
  const words = (text.slice(0, MAX_TEXT_LENGTH).toLowerCase().match(WORD_PATTERN) ?? []).filter(
    (word) => word.length >= MIN_WORD_LENGTH && !COMMON_WORDS.has(word) && /\p{L}/u.test(word),
  );
  return [...new Set(words)].toSorted((a, b) => b.length - a.length).slice(0, maxWords);
}

/**
 * Same class and file first, then one of both, then two shared title words or half of the
 * description's. More words come first, then last seen.
 */
export async function findSimilarItems(
  { items, words, texts }: Pick<BugDeps, 'items' | 'words' | 'texts'>,
  item: ItemDoc,
  limit: number,
  maxWords = MAX_WORDS,
): Promise<ItemDoc[]> {
  const { id, project, exception_class, file_path } = item;
  const titleWords = findDistinctiveWords(item.title, maxWords);
  const find = async (filter: Filter, most: number): Promise<readonly ItemDoc[]> =>
    (await items.find({ filter: { project, ...filter }, sort: toItemSort(), limit: most })).items;
  const description = (await texts.get(id))?.description ?? '';
  const describedWords = findDistinctiveWords(description, maxWords);
  const [byClass, byFile, described, ...byWord] = await Promise.all([
    exception_class === null ? [] : find({ exception_class }, limit + 1),
    file_path === null ? [] : find({ file_path }, limit + 1),
    findDescriptions(words, project, describedWords),
    ...titleWords.map((word) => find({ search_text: { contains: word } }, MAX_ITEMS_PER_WORD)),
  ]);
  const found = new Map([...byClass, ...byFile, ...byWord.flat()].map((other) => [other.id, other]));
  const missing = [...described.keys()].filter((one) => !found.has(one));
  for (const other of missing.length === 0 ? [] : await find({ id: { in: missing } }, missing.length))
    found.set(other.id, other);
  found.delete(id);

  const origins = (other: ItemDoc): number =>
    Number(exception_class !== null && other.exception_class === exception_class) +
    Number(file_path !== null && other.file_path === file_path);
  return [...found.values()]
    .map((other) => {
      const titled = countSharedWords(titleWords, other.search_text);
      const sharedInDescription = countSharedWords(describedWords, described.get(other.id) ?? '');
      const isNear =
        titled >= Math.min(titleWords.length, MIN_SHARED_WORDS) ||
        isNearDescription(sharedInDescription, describedWords.length);
      return { other, origins: origins(other), shared: titled + sharedInDescription, isNear };
    })
    .filter((one) => one.origins > 0 || (one.isNear && one.shared > 0))
    .toSorted(
      (a, b) => b.origins - a.origins || b.shared - a.shared || (a.other.last_seen_at < b.other.last_seen_at ? 1 : -1),
    )
    .slice(0, limit)
    .map(({ other }) => other);
}

const countSharedWords = (wanted: readonly string[], text: string): number =>
  wanted.filter((word) => text.includes(word)).length;

const isNearDescription = (shared: number, wanted: number): boolean =>
  shared >= Math.max(MIN_SHARED_WORDS, Math.ceil(wanted / 2));

async function findDescriptions(
  words: BugDeps['words'],
  project: string,
  wanted: readonly string[],
): Promise<Map<string, string>> {
  if (wanted.length < MIN_SHARED_WORDS) return new Map();
  const pages = await Promise.all(
    wanted.map((word) =>
      words.find({ filter: { project, text: { contains: word } }, sort: [['id', 'desc']], limit: MAX_ITEMS_PER_WORD }),
    ),
  );
  return new Map(pages.flatMap(({ items }) => items.map(({ id, text }) => [id, text])));
}
