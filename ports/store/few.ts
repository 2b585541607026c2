/**
 * Counting of few documents that an index finds, such as the machines of a license: an optional ability of a
 * collection, and what does without it.
 */
import type { Collection, Doc, Filter } from '../store.js';

/** A collection that counts a short stretch of an index at once. */
export interface CountingCollection {
  /**
   * The number of documents that match, if it is at most `most`; null: the collection cannot say, and `count` can.
   * @param filter of an index's first fields: a scan of the collection would hold up the process
   */
  countFew(filter: Filter, most: number): number | null;
}

const isCounting = (rows: object): rows is CountingCollection => 'countFew' in rows;

/** The exact number, also where it is large. @param filter as of `countFew` */
export async function countFew<T extends Doc>(
  rows: Pick<Collection<T>, 'count'>,
  filter: Filter,
  most: number,
): Promise<number> {
  const few = isCounting(rows) ? rows.countFew(filter, most) : null;
  return few ?? rows.count(filter);
}
