/** Keyset cursors: the sort values of a page's last row, opaque to clients. */
import { compareDocs, toTotalSort, getPathValue } from './document.js';
import {
  InvalidCursor,
  type Condition,
  type Doc,
  type Filter,
  type Page,
  type Scalar,
  type Sort,
} from './store/index.js';

const formatSortName = (sort: Sort): string => sort.map(([path, order]) => (order === 'asc' ? '+' : '-') + path).join();

const MAX_CURSOR_LENGTH = 16_384;

/** Encodes the cursor after `doc`. @throws TypeError for an object or array in a sort key */
export function encodeCursor(sort: Sort, doc: Doc): string {
  const total = toTotalSort(sort);
  const values = total.map(([path]) => getPathValue(doc, path));
  if (!values.every(isScalar)) throw new TypeError(`a sort key of ${formatSortName(total)} is not a scalar`);
  return encodeCursorAfter(sort, values);
}

/** Encodes the cursor after the last row's values, in the order of `toTotalSort(sort)`. */
export const encodeCursorAfter = (sort: Sort, values: readonly Scalar[]): string =>
  Buffer.from(JSON.stringify([formatSortName(toTotalSort(sort)), ...values])).toString('base64url');

function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

/** Decodes the sort values, in the order of `toTotalSort(sort)`. @throws InvalidCursor */
export function decodeCursor(sort: Sort, cursor: string): Scalar[] {
  const total = toTotalSort(sort);
  let parsed: unknown;
  try {
    parsed = cursor.length > MAX_CURSOR_LENGTH ? null : JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    throw new InvalidCursor();
  }
  if (!Array.isArray(parsed) || parsed.length !== total.length + 1 || parsed[0] !== formatSortName(total))
    throw new InvalidCursor();
  const values: unknown[] = parsed.slice(1);
  if (!values.every(isScalar) || typeof values.at(-1) !== 'string') throw new InvalidCursor();
  return values;
}

/** Returns the page size. @throws TypeError outside 1 to 1,000 */
export function resolvePageLimit(limit = 50): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000) throw new TypeError(`limit ${limit} must be 1 to 1000`);
  return limit;
}

/** Builds a page from `limit` + 1 documents. */
export function toPage<T extends Doc>(sort: Sort, docs: T[], limit: number): Page<T> {
  if (docs.length <= limit) return { items: docs, next: null };
  const items = docs.slice(0, limit);
  return { items, next: encodeCursor(sort, items[limit - 1] as T) };
}

/**
 * Merges queries with equal sort and cursor and disjoint filters.
 * @param found `limit` + 1 documents of each query
 */
export function mergePages<T extends Doc>(sort: Sort, found: readonly (readonly T[])[], limit: number): Page<T> {
  const first = found.flat().toSorted(compareDocs(toTotalSort(sort)));
  return toPage(sort, first.slice(0, limit + 1), limit);
}

/**
 * Returns the rows after `values` as consecutive index ranges, which an adapter reads in turn until
 * the page is full. A single `or` filter would make planners scan the list from its start.
 */
export function toAfterFilters(sort: Sort, values: readonly Scalar[]): Filter[] {
  const total = toTotalSort(sort);
  const stretches: Filter[] = [];
  for (let i = total.length - 1; i >= 0; i--) {
    const [path, order] = total[i] as Sort[number];
    const value = values[i] as Scalar;
    const among = (condition: Condition): void => {
      const equal = total.slice(0, i).map(([key], k): [string, Condition] => [key, values[k] as Scalar]);
      stretches.push(Object.fromEntries([...equal, [path, condition]]));
    };
    if (order === 'asc') among(value === null ? { exists: true } : { gt: value as string | number });
    else if (value !== null) {
      among({ lt: value as string | number });
      if (path !== 'id') among(null);
    }
  }
  return stretches;
}
