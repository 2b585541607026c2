/**
 * Finds the few documents that can contain a text by its trigrams. Each trigram is counted up to a
 * bound, and the rarest selects the documents.
 */
import type { Collection as Driver } from 'mongodb';
import { getOrFilters } from '../../ports/document.js';
import type { Filter } from '../../ports/store/index.js';
import { buildTrigramQuery } from './trigrams.js';
import { toFieldName, toQuery, type MongoQuery, type MongoDoc } from './translate.js';

/** Walking the list order then soon finds a match. */
const MAX_CANDIDATES = 2_000;

export interface IndexInfo {
  texts: readonly string[];
  leading: ReadonlySet<string>;
}

/** Null when matches may be many. */
export async function findCandidateIds(
  driver: Driver<MongoDoc>,
  known: IndexInfo,
  filter: Filter,
): Promise<string[] | null> {
  const own = await findByTrigrams(driver, known, filter);
  if (own !== null || filter.or === undefined) return own;
  const any = getOrFilters(filter.or);
  if (!any.some((one) => buildTrigramQuery(one, known.texts) !== null)) return null;
  const lists = await Promise.all(
    any.map(async (one) => (await findByTrigrams(driver, known, one)) ?? findByIndex(driver, known, one)),
  );
  const ids = new Set<string>();
  for (const list of lists) {
    if (list === null) return null;
    for (const id of list) ids.add(id);
  }
  return ids.size > MAX_CANDIDATES ? null : [...ids];
}

async function findByTrigrams(
  driver: Driver<MongoDoc>,
  { texts }: IndexInfo,
  filter: Filter,
): Promise<string[] | null> {
  const trigramQuery = buildTrigramQuery(filter, texts);
  if (trigramQuery === null) return null;
  const { field, grams } = trigramQuery;
  const counts = await Promise.all(
    grams.map((gram) => driver.countDocuments({ [field]: gram }, { limit: MAX_CANDIDATES + 1 })),
  );
  const least = Math.min(...counts);
  if (least > MAX_CANDIDATES) return null;
  const rarest = grams[counts.indexOf(least)] as string;
  // Documents without trigrams come first, so that those filled in the meantime are found by their
  // trigrams.
  const unfilled = await findIds(driver, { [field]: null });
  const having = await findIds(driver, { [field]: rarest });
  return having.length + unfilled.length > MAX_CANDIDATES ? null : [...having, ...unfilled];
}

async function findByIndex(driver: Driver<MongoDoc>, { leading }: IndexInfo, filter: Filter): Promise<string[] | null> {
  const plain = Object.entries(filter).some(
    ([path, condition]) => path !== 'or' && typeof condition === 'string' && leading.has(toFieldName(path)),
  );
  if (!plain && !hasIdCondition(filter)) return null;
  const ids = await findIds(driver, toQuery(filter));
  return ids.length > MAX_CANDIDATES ? null : ids;
}

const hasIdCondition = ({ id }: Filter): boolean =>
  typeof id === 'object' && id !== null && 'in' in id && id.in !== undefined && id.in.length <= MAX_CANDIDATES;

async function findIds(driver: Driver<MongoDoc>, query: MongoQuery): Promise<string[]> {
  const limit = MAX_CANDIDATES + 1;
  const rows = await driver.find(query, { projection: { _id: 1 }, limit, batchSize: limit }).toArray();
  return rows.map(({ _id }) => _id);
}
