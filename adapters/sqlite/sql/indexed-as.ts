/**
 * Values that indexes do not tell apart (ports/store.ts, CollectionSpec): a document that goes from one to the other
 * stays where it is in each index over their path. Its column holds `as`, and a column beside it, `ALIASED`, holds the
 * value itself. `ALIASED` has an index of its own, with the few aliased documents in the order of their making.
 *
 * So a filter by either value asks both columns, a list walks the index of both and leaves out the others, and a
 * count takes the aliased ones, which that index finds, from the sum (reads.ts).
 *
 * Rejected: an index over an expression. SQLite makes an entry anew whenever a column that it names is written.
 */
import { valueAt } from '../../../ports/document.js';
import type { Doc, Filter, Json } from '../../../ports/store.js';
import type { IndexedAs } from '../../../ports/store/tuning.js';
import { bodyExpression } from './values.js';

/** The column of the aliased value, or null: no path of a document. The word is that of earlier stores, as below. */
export const ALIASED = '~folded';

const NAME = /^[a-z][a-z0-9_.]*$/;

/** The index over aliased rows. Its name tells every connection what is aliased. @throws TypeError */
export function aliasLabel(name: string, { path, value, as }: IndexedAs): string {
  if (![path, value, as].every((part) => NAME.test(part)) || value === as)
    throw new TypeError(`cannot be aliased: ${path} ${value} as ${as}`);
  return `${prefixOf(name)}${path},${value},${as}`;
}

const prefixOf = (name: string): string => `${name}:folded:`;

/** From the names of a table's indexes. */
export function indexedAsOf(name: string, indexes: readonly string[]): IndexedAs | null {
  const label = indexes.find((index) => index.startsWith(prefixOf(name)));
  if (label === undefined) return null;
  const [path = '', value = '', as = ''] = label.slice(prefixOf(name).length).split(',');
  return { path, value, as };
}

/** What the column of `path` holds of a document. */
export function indexedAt(doc: Doc, path: string, alias: IndexedAs | null): Json {
  if (alias === null || (path !== alias.path && path !== ALIASED)) return valueAt(doc, path);
  const value = valueAt(doc, alias.path);
  const isAliased = value === alias.value;
  if (path === ALIASED) return isAliased ? alias.value : null;
  return isAliased ? alias.as : value;
}

/** The same as SQL over the body. */
export function indexedExpression(path: string, alias: IndexedAs | null): string {
  if (alias === null || (path !== alias.path && path !== ALIASED)) return bodyExpression(path);
  const value = bodyExpression(alias.path);
  return path === ALIASED
    ? `CASE ${value} WHEN '${alias.value}' THEN '${alias.value}' END`
    : `CASE ${value} WHEN '${alias.value}' THEN '${alias.as}' ELSE ${value} END`;
}

/** A table whose columns are asked as they are, with `as` in place of the value: no condition is translated. */
export const asStored = <T extends { columns: ReadonlySet<string> }>(table: T): T => ({
  ...table,
  columns: new Set(table.columns),
});

/** A condition on the aliased path, as the two columns have it. */
export interface AliasCondition {
  /** The values of its column. */
  in: readonly string[];
  /** Of the aliased rows among them. */
  aliased: 'all' | 'none' | 'only';
  /** Rows with other values of the column that takes the place are asked for as well. */
  others: boolean;
}

/** Null: the columns cannot tell, only the document can. */
export function aliasCondition(condition: Filter[string], { value, as }: IndexedAs): AliasCondition | null {
  const values = typeof condition === 'string' ? [condition] : listOf(condition);
  if (values === null) return null;
  const mapped = [...new Set(values.map((one) => (one === value ? as : one)))];
  const [hasValue, hasAs] = [values.includes(value), values.includes(as)];
  const aliased = hasValue ? (hasAs ? 'all' : 'only') : hasAs ? 'none' : 'all';
  return { in: mapped, aliased, others: mapped.length > 1 };
}

/** The texts of an `in` that is alone. */
function listOf(condition: Filter[string]): readonly string[] | null {
  if (typeof condition !== 'object' || condition === null || !('in' in condition)) return null;
  const { in: values, ...more } = condition;
  const isPlain = values !== undefined && values.length > 0 && values.every((one) => typeof one === 'string');
  return isPlain && Object.keys(more).length === 0 ? values : null;
}
