/** What a write puts into the columns of a row beside its body. */
import { uniqueValue } from '../../../ports/document.js';
import type { Doc, Update } from '../../../ports/store.js';
import type { IndexedAs } from '../../../ports/store/tuning.js';
import type { DocText } from '../body/stored-body.js';
import type { Table } from '../connection/table.js';
import type { Value } from '../driver/driver.js';
import { bytesColumn } from '../schema/bytes-column.js';
import { BEHIND, INSERTED, MARK, UNINDEXED } from '../schema/mark.js';
import { indexedAt } from '../sql/indexed-as.js';
import { columnName } from '../sql/translate.js';
import { columnValue, isSame } from '../sql/values.js';

/** Whether an update may write `path`, or something in it. */
export function touchedBy(update: Update): (path: string) => boolean {
  const { set, unset = [], inc, max, min, push, pull } = update;
  const fields = new Set(unset.map(fieldOf));
  for (const paths of [set, inc, max, min, push, pull]) for (const path in paths) fields.add(fieldOf(path));
  return (path) => fields.has(fieldOf(path));
}

/** The field of the document that a path begins with. */
function fieldOf(path: string): string {
  const dot = path.indexOf('.');
  return dot < 0 ? path : path.slice(0, dot);
}

/** @param doc null: no field of it is indexed */
export const columnsOf = (doc: Doc | null, paths: readonly string[], alias: IndexedAs | null): Value[] =>
  doc === null ? [] : paths.map((path) => columnValue(indexedAt(doc, path, alias)));

/** @throws TypeError */
export function checkUnique(doc: Doc, paths: readonly string[]): void {
  for (const path of paths) uniqueValue(doc, path);
}

/** The paths whose columns an insert fills. */
export const insertedPaths = ({ written, unique, insertsLater }: Table): readonly string[] =>
  insertsLater ? unique : written;

/** The column of the bytes, where the collection has one. */
const bytesColumns = ({ bytes }: Table): string[] => (bytes === undefined ? [] : [bytesColumn(bytes)]);

/** What that column holds. */
export const bytesValues = ({ bytes }: Table, [, , , value]: DocText): Value[] =>
  bytes === undefined ? [] : [value ?? null];

/** What follows `SET body = ?` when a document takes the place of another. */
export const bytesAssigned = (table: Table): string =>
  bytesColumns(table)
    .map((column) => `, ${column} = ?`)
    .join('');

/** Statements by table, made once: the text is long, and finding a long text among the prepared ones takes long. */
const insertions = new WeakMap<Table, string>();

export function insertSql(table: Table): string {
  let sql = insertions.get(table);
  if (sql === undefined) {
    const columns = ['id', 'body', ...bytesColumns(table), ...insertedPaths(table).map(columnName)];
    const values = columns.map(() => '?');
    if (table.insertsLater) {
      columns.push(MARK, UNINDEXED);
      values.push(String(INSERTED), '1');
    }
    sql = `INSERT INTO "${table.name}" (${columns.join()}) VALUES (${values.join()})`;
    insertions.set(table, sql);
  }
  return sql;
}

export interface Assigned {
  /** What follows `SET body = ?`. */
  text: string;
  values: Value[];
  /** Later columns stay behind the body: the row is marked, now or already. */
  behind: boolean;
}

/**
 * Only columns whose value changed, so that the indexes over the others stay as they are, and the mark where one of
 * them is written later.
 * @param marked whether the row may be marked
 * @param isMarked the row is known to be marked
 */
export function assigned(
  table: Table,
  columns: readonly string[],
  before: readonly Value[],
  after: readonly Value[],
  { marked, isMarked }: { marked: boolean; isMarked: boolean },
): Assigned {
  const moved = columns.filter((_, i) => !isSame(after[i] as Value, before[i] as Value));
  const atOnce = !marked && moved.some((path) => table.indexedAtOnceWith.includes(path));
  const now = atOnce ? moved : moved.filter((path) => !table.indexedLater.includes(path));
  const behind = now.length < moved.length;
  let text = now.map((path) => `, ${columnName(path)} = ?`).join('');
  // An unindexed row stays unindexed.
  if (behind && !isMarked) text += `, ${MARK} = coalesce(${MARK}, ${BEHIND})`;
  return { text, values: now.map((path) => after[columns.indexOf(path)] as Value), behind };
}
