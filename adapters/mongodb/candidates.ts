/**
 * Finds the few documents that can contain a text by its trigrams. Each trigram is counted up to a
 * bound, and the rarest selects the documents.
 */
import type { Collection as Driver } from 'mongodb';
import { listOrFilters } from '../../ports/document.js';
import type { Filter } from '../../ports/store.js';
import { trigramsAsked } from './trigrams.js';
import { fieldName, toQuery, type Query, type Stored } from './translate.js';

/** Beyond this, walking the list order soon finds a match. */
const MOST = 2_000;

export interface KnownIndexes {
  texts: readonly string[];
  leading: ReadonlySet<string>;
}

/** Returns ids that include every match; null when they may be many. */
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
  // Null: trigrams not written yet. Queried first, so that documents filled in the meantime are
  // found by their trigrams.
  const unfilled = await idsOf(driver, { [field]: null });
  const having = await idsOf(driver, { [field]: rarest });
  return having.length + unfilled.length > MOST ? null : [...having, ...unfilled];
}

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
