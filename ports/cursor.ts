/**
 * Keyset cursors: the sort values of the last row of a page, opaque to clients. A cursor names its sort, so that one
 * made for another list is refused rather than answered with the wrong rows.
 */
import { compareDocs, toTotalSort, getPathValue } from './document.js';
import { InvalidCursor, type Condition, type Doc, type Filter, type Page, type Scalar, type Sort } from './store.js';

const name = (sort: Sort): string => sort.map(([path, order]) => (order === 'asc' ? '+' : '-') + path).join();

/** A sort value may be long text; a URL much longer than this does not arrive anyway. */
const MAX_LENGTH = 16_384;

/** @throws TypeError when a sort key holds an object or an array: a programming error. */
export function encodeCursor(sort: Sort, doc: Doc): string {
  const total = toTotalSort(sort);
  const values = total.map(([path]) => getPathValue(doc, path));
  if (!values.every(isScalar)) throw new TypeError(`a sort key of ${name(total)} holds no scalar`);
  return encodeCursorAfter(sort, values);
}

/** @param values of the last row, in the order of `toTotalSort(sort)` */
export const encodeCursorAfter = (sort: Sort, values: readonly Scalar[]): string =>
  Buffer.from(JSON.stringify([name(toTotalSort(sort)), ...values])).toString('base64url');

function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

/** The sort values in the cursor, in the order of `toTotalSort(sort)`. @throws InvalidCursor */
export function decodeCursor(sort: Sort, cursor: string): Scalar[] {
  const total = toTotalSort(sort);
  let parsed: unknown;
  try {
    parsed = cursor.length > MAX_LENGTH ? null : JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    throw new InvalidCursor();
  }
  if (!Array.isArray(parsed) || parsed.length !== total.length + 1 || parsed[0] !== name(total))
    throw new InvalidCursor();
  const values: unknown[] = parsed.slice(1);
  if (!values.every(isScalar) || typeof values.at(-1) !== 'string') throw new InvalidCursor();
  return values;
}

/** How many items a page holds. @throws TypeError outside 1 to 1,000 */
export function resolvePageLimit(limit = 50): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000) throw new TypeError(`limit ${limit} is not 1 to 1000`);
  return limit;
}

/** A page from its first `limit` + 1 documents: the one more shows that there is a next page. */
export function toPage<T extends Doc>(sort: Sort, docs: T[], limit: number): Page<T> {
  if (docs.length <= limit) return { items: docs, next: null };
  const items = docs.slice(0, limit);
  return { items, next: encodeCursor(sort, items[limit - 1] as T) };
}

/**
 * One page of several queries with the same sort and cursor, whose filters exclude each other.
 * @param found what each of them found, of `limit` + 1 documents
 */
export function mergedPage<T extends Doc>(sort: Sort, found: readonly (readonly T[])[], limit: number): Page<T> {
  const first = found.flat().toSorted(compareDocs(toTotalSort(sort)));
  return toPage(sort, first.slice(0, limit + 1), limit);
}

/**
 * The rows after `values` as consecutive stretches of the sorted list: the rows equal in all keys but the last come
 * first, then those equal in all but the last two, … Each is a plain index range, so an adapter reads them one after
 * the other until the page is full. Rejected: one filter with an `or` (planners walk such a list from its start).
 * Null sorts first: after null ascending comes what is present; descending, null comes after every value.
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
