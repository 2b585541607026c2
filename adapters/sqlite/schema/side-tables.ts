/**
 * Side tables that find few documents among many. They are written in the document's transaction,
 * and their results are checked against the document:
 *
 * - `<name>:values`: path, value and row of each value of `CollectionSpec.values`, one per array
 *   element;
 * - `<name>:search`: trigrams of the texts of `CollectionSpec.search`, in FTS5 without the texts.
 */
import { extractTrigrams } from '../../../lib/text/trigrams.js';
import { getPathValue } from '../../../ports/document.js';
import type { CollectionSpec, Condition, Doc, Filter, Json } from '../../../ports/store.js';
import type { Value } from '../driver/driver.js';
import { columnValue } from '../sql/values.js';
import type { Statements } from './declared.js';

export const valuesTable = (name: string): string => `"${name}:values"`;
export const searchTable = (name: string): string => `"${name}:search"`;

/** Maximum trigrams per search part; more do not narrow the result in practice. */
const MOST_ASKED = 24;
const BETWEEN = '\n';

type SideSpec = Required<Pick<CollectionSpec, 'values' | 'search'>>;

export interface SideRows {
  values: readonly (readonly [path: string, value: Value])[];
  text: string;
}

export const NO_ROWS: SideRows = { values: [], text: '' };

export const hasSideTables = ({ values, search }: SideSpec): boolean => values.length > 0 || search.length > 0;

export function sideRowsOf(doc: Doc, { values, search }: SideSpec): SideRows {
  const rows = values.flatMap((path) => {
    const value = getPathValue(doc, path);
    const elements = Array.isArray(value) ? value : [value];
    return [...new Set(elements.filter(isFound).map(columnValue))].map((one) => [path, one] as const);
  });
  const texts = search.map((path) => getPathValue(doc, path)).filter((text) => typeof text === 'string');
  return { values: rows, text: texts.join(BETWEEN) };
}

/** False is too common to narrow a search. */
const isFound = (value: Json): boolean => value !== null && value !== false && typeof value !== 'object';

/**
 * Call within a transaction.
 * @param before current entries of row `n`
 */
export function writeSideRows(connection: Statements, name: string, n: Value, before: SideRows, after: SideRows): void {
  const has = ({ values }: SideRows, [path, value]: SideRows['values'][number]): boolean =>
    values.some(([one, other]) => one === path && other === value);
  const table = valuesTable(name);
  for (const row of before.values)
    if (!has(after, row))
      connection.prepare(`DELETE FROM ${table} WHERE path = ? AND value = ? AND n = ?`).run([...row, n]);
  for (const row of after.values)
    if (!has(before, row)) connection.prepare(`INSERT OR IGNORE INTO ${table} VALUES (?, ?, ?)`).run([...row, n]);
  if (before.text === after.text) return;
  if (before.text !== '') connection.prepare(`DELETE FROM ${searchTable(name)} WHERE rowid = ?`).run([n]);
  if (after.text !== '')
    connection.prepare(`INSERT INTO ${searchTable(name)} (rowid, text) VALUES (?, ?)`).run([n, indexed(after.text)]);
}

/**
 * Deletes the entries of a row whose document is unreadable, so that its entries cannot be derived.
 */
export function dropSideRows(connection: Statements, name: string, { values, search }: SideSpec, n: Value): void {
  if (values.length > 0) connection.prepare(`DELETE FROM ${valuesTable(name)} WHERE n = ?`).run([n]);
  if (search.length > 0) connection.prepare(`DELETE FROM ${searchTable(name)} WHERE rowid = ?`).run([n]);
}

/** FTS5 treats NUL as the end of the text. */
const indexed = (text: string): string => text.replaceAll('\0', '\ufffd');

/**
 * Builds the MATCH expression for texts that contain everything the filter searches; null when no
 * part is long enough.
 */
export function buildMatch(filter: Filter, search: readonly string[]): string | null {
  const grams = search.flatMap((path) => {
    const condition = filter[path] as Condition | undefined;
    if (typeof condition !== 'object' || condition === null || condition.contains === undefined) return [];
    return [condition.contains].flat().flatMap((part) => spread(extractTrigrams(indexed(part))));
  });
  return grams.length === 0 ? null : [...new Set(grams)].map((gram) => `"${gram.replaceAll('"', '""')}"`).join(' AND ');
}

function spread(grams: readonly string[]): string[] {
  const step = Math.ceil(grams.length / MOST_ASKED);
  return grams.filter((_, i) => i % step === 0);
}
