/** Side tables that find few documents among many. */
import { extractTrigrams } from '../../../lib/text/trigrams.js';
import { getPathValue } from '../../../ports/document.js';
import type { CollectionSpec, Condition, Doc, Filter, Json } from '../../../ports/store/index.js';
import type { SqlValue } from '../driver/driver.js';
import { encodeColumnValue } from '../sql/values.js';
import type { StatementSource } from './declarations.js';

export const getValuesTable = (name: string): string => `"${name}:values"`;
export const getSearchTable = (name: string): string => `"${name}:search"`;

/** More do not narrow the result in practice. */
const MAX_SEARCH_TRIGRAMS = 24;
const FIELD_SEPARATOR = '\n';

type SideTableSpec = Required<Pick<CollectionSpec, 'values' | 'search'>>;

export interface SideTableRows {
  values: readonly (readonly [path: string, value: SqlValue])[];
  text: string;
}

export const EMPTY_SIDE_ROWS: SideTableRows = { values: [], text: '' };

export const hasSideTables = ({ values, search }: SideTableSpec): boolean => values.length > 0 || search.length > 0;

export function buildSideRows(doc: Doc, { values, search }: SideTableSpec): SideTableRows {
  const rows = values.flatMap((path) => {
    const value = getPathValue(doc, path);
    const elements = Array.isArray(value) ? value : [value];
    return [...new Set(elements.filter(isIndexedValue).map(encodeColumnValue))].map((one) => [path, one] as const);
  });
  const texts = search.map((path) => getPathValue(doc, path)).filter((text) => typeof text === 'string');
  return { values: rows, text: texts.join(FIELD_SEPARATOR) };
}

/** False is too common to narrow a search. */
const isIndexedValue = (value: Json): boolean => value !== null && value !== false && typeof value !== 'object';

/** @param before current entries of row `n` */
export function writeSideRows(
  connection: StatementSource,
  name: string,
  n: SqlValue,
  before: SideTableRows,
  after: SideTableRows,
): void {
  const has = ({ values }: SideTableRows, [path, value]: SideTableRows['values'][number]): boolean =>
    values.some(([one, other]) => one === path && other === value);
  const table = getValuesTable(name);
  for (const row of before.values)
    if (!has(after, row))
      connection.prepare(`DELETE FROM ${table} WHERE path = ? AND value = ? AND n = ?`).run([...row, n]);
  for (const row of after.values)
    if (!has(before, row)) connection.prepare(`INSERT OR IGNORE INTO ${table} VALUES (?, ?, ?)`).run([...row, n]);
  if (before.text === after.text) return;
  if (before.text !== '') connection.prepare(`DELETE FROM ${getSearchTable(name)} WHERE rowid = ?`).run([n]);
  if (after.text !== '')
    connection
      .prepare(`INSERT INTO ${getSearchTable(name)} (rowid, text) VALUES (?, ?)`)
      .run([n, toIndexedText(after.text)]);
}

/**
 * Deletes the entries of a row whose document is unreadable, so that its entries cannot be derived.
 */
export function dropSideRows(
  connection: StatementSource,
  name: string,
  { values, search }: SideTableSpec,
  n: SqlValue,
): void {
  if (values.length > 0) connection.prepare(`DELETE FROM ${getValuesTable(name)} WHERE n = ?`).run([n]);
  if (search.length > 0) connection.prepare(`DELETE FROM ${getSearchTable(name)} WHERE rowid = ?`).run([n]);
}

/** FTS5 treats NUL as the end of the text. */
const toIndexedText = (text: string): string => text.replaceAll('\0', '\ufffd');

/** Null when no part is long enough. */
export function buildMatch(filter: Filter, search: readonly string[]): string | null {
  const grams = search.flatMap((path) => {
    const condition = filter[path] as Condition | undefined;
    if (typeof condition !== 'object' || condition === null || condition.contains === undefined) return [];
    return [condition.contains].flat().flatMap((part) => selectEvenly(extractTrigrams(toIndexedText(part))));
  });
  return grams.length === 0 ? null : [...new Set(grams)].map((gram) => `"${gram.replaceAll('"', '""')}"`).join(' AND ');
}

function selectEvenly(grams: readonly string[]): string[] {
  const step = Math.ceil(grams.length / MAX_SEARCH_TRIGRAMS);
  return grams.filter((_, i) => i % step === 0);
}
