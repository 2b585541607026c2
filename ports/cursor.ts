/**
 * Keyset cursors: the sort values of the last row of a page, opaque to clients. A cursor names its sort, so that one made
 * for another list is refused rather than answered with the wrong rows.
 */
import { checkPath, totalSort, valueAt } from './document.js';
import { InvalidCursor, type Doc, type Filter, type Scalar, type Sort } from './store.js';

const name = (sort: Sort): string => sort.map(([path, order]) => (order === 'asc' ? '+' : '-') + path).join();

export function encodeCursor(sort: Sort, doc: Doc): string {
  const total = totalSort(sort);
  return Buffer.from(JSON.stringify([name(total), ...total.map(([path]) => valueAt(doc, path))])).toString('base64url');
}

/** The sort values in the cursor, in the order of `totalSort(sort)`. @throws InvalidCursor */
export function decodeCursor(sort: Sort, cursor: string): Scalar[] {
  const total = totalSort(sort);
  let parsed: unknown;
  try {
    parsed = cursor.length > 4096 ? null : JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    throw new InvalidCursor();
  }
  if (!Array.isArray(parsed) || parsed.length !== total.length + 1 || parsed[0] !== name(total)) throw new InvalidCursor();
  const values: unknown[] = parsed.slice(1);
  if (!values.every((v) => v === null || ['string', 'number', 'boolean'].includes(typeof v))) throw new InvalidCursor();
  if (typeof values.at(-1) !== 'string') throw new InvalidCursor();
  return values as Scalar[];
}

/**
 * The rows after `values`, as alternatives: `a > x`, or `a = x and b > y`, … Null sorts first, so "greater than null" is
 * "present" and nothing is smaller than null.
 */
export function afterFilter(sort: Sort, values: readonly Scalar[]): Filter {
  const alternatives: Filter[] = [];
  const equal: Filter = {};
  totalSort(sort).forEach(([path, order], i) => {
    const value = values[i] as Scalar;
    checkPath(path);
    if (order === 'asc') {
      if (value === null) alternatives.push({ ...equal, [path]: { exists: true } });
      else alternatives.push({ ...equal, [path]: { gt: value as string | number } });
    } else if (value !== null) {
      alternatives.push({ ...equal, [path]: { lt: value as string | number } });
      alternatives.push({ ...equal, [path]: null });
    }
    equal[path] = value;
  });
  return { or: alternatives };
}
