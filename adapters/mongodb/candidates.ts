/**
 * The few documents that can contain a text, by its grams (trigrams.ts). Each gram is asked, up to a bound, how many
 * documents have it; the rarest one names them. MongoDB chooses among indexes by trying them, which serves every other
 * filter; for grams it would have to try one plan for each.
 */
import type { Collection as Driver } from 'mongodb';
import { listOrFilters } from '../../ports/document.js';
import type { Filter } from '../../ports/store.js';
import { trigramsAsked } from './trigrams.js';
import { fieldName, toQuery, type Query, type Stored } from './translate.js';

/** More documents than this are walked in the order of the list, which meets a match soon. */
const MOST = 2_000;

/** What is known of a collection's indexes. */
export interface KnownIndexes {
  /** Paths of texts with grams. */
  texts: readonly string[];
  /** First fields of all indexes. */
  leading: ReadonlySet<string>;
}

/** Ids among which all are that the filter matches; null when they are not known to be few. */
export async function candidatesOf(
  driver: Driver<Stored>,
  known: KnownIndexes,
  filter: Filter,
): Promise<string[] | null> {
  const own = await byGrams(driver, known, filter);
  if (own !== null || filter.or === undefined) return own;
  const any = listOrFilters(filter.or);
  if (!any.some((one) => trigramsAsked(one, known.texts) !== null)) return null;
  const lists = await Promise.all(
    any.map(async (one) => (await byGrams(driver, known, one)) ?? byIndex(driver, known, one)),
  );
  const ids = new Set<string>();
  for (const list of lists) {
    if (list === null) return null;
    for (const id of list) ids.add(id);
  }
  return ids.size > MOST ? null : [...ids];
}

async function byGrams(driver: Driver<Stored>, { texts }: KnownIndexes, filter: Filter): Promise<string[] | null> {
  const asked = trigramsAsked(filter, texts);
  if (asked === null) return null;
  const { field, grams } = asked;
  const counts = await Promise.all(grams.map((gram) => driver.countDocuments({ [field]: gram }, { limit: MOST + 1 })));
  const least = Math.min(...counts);
  if (least > MOST) return null;
  const rarest = grams[counts.indexOf(least)] as string;
  // Null: its grams are still to be written (fill.ts). Asked first: what is filled meanwhile is found by its grams
  // then.
  const unfilled = await idsOf(driver, { [field]: null });
  const having = await idsOf(driver, { [field]: rarest });
  return having.length + unfilled.length > MOST ? null : [...having, ...unfilled];
}

/** By an equality that an index begins with, or by ids. */
async function byIndex(driver: Driver<Stored>, { leading }: KnownIndexes, filter: Filter): Promise<string[] | null> {
  const plain = Object.entries(filter).some(
    ([path, condition]) => path !== 'or' && typeof condition === 'string' && leading.has(fieldName(path)),
  );
  if (!plain && !namesIds(filter)) return null;
  const ids = await idsOf(driver, toQuery(filter));
  return ids.length > MOST ? null : ids;
}

const namesIds = ({ id }: Filter): boolean =>
  typeof id === 'object' && id !== null && 'in' in id && id.in !== undefined && id.in.length <= MOST;

async function idsOf(driver: Driver<Stored>, query: Query): Promise<string[]> {
  const limit = MOST + 1;
  const rows = await driver.find(query, { projection: { _id: 1 }, limit, batchSize: limit }).toArray();
  return rows.map(({ _id }) => _id);
}
