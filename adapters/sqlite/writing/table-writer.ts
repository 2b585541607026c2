/**
 * Writes of one collection. A conflict ends a write at its first statement, so nothing else is
 * rolled back.
 */
import { applyUpdate, matches, buildSeed, getUniqueValue, getPathValue } from '../../../ports/document.js';
import { StoreConflict, type Doc, type Filter, type Sort, type Update } from '../../../ports/store.js';
import { parsedBody, storedBody, textOf, wholeBody, type DocText } from '../body/stored-body.js';
import type { Connection } from '../connection/connection.js';
import type { Table } from '../connection/table.js';
import { isDamage } from '../driver/damage.js';
import { violatedColumn, type Value } from '../driver/driver.js';
import { fewRows, fromRows, chooseWalk } from '../reading/few.js';
import {
  dropSideRows,
  hasSideTables,
  NO_ROWS,
  sideRowsOf,
  writeSideRows,
  type SideRows,
} from '../schema/side-tables.js';
import { bytesColumn } from '../schema/bytes-column.js';
import { columnName, orderSql, whereSql } from '../sql/translate.js';
import { columnValue, isSame } from '../sql/values.js';
import type { ChangeRequest, IdsRequest } from '../threads/messages.js';
import { createTable } from './ensure.js';

interface FoundDoc {
  n: Value;
  doc: Doc;
}

export class TableWriter {
  readonly #connection: Connection;
  readonly #name: string;
  readonly #table: Table;

  constructor(connection: Connection, name: string) {
    this.#connection = connection;
    this.#name = name;
    if (connection.table(name) === null) createTable(connection, name);
    this.#table = connection.table(name) as Table;
  }

  insert(text: DocText): void {
    const { paths, insertSql } = this.#table;
    const doc = this.#parsedFor(text);
    this.#run(insertSql, [text[0], storedBody(text), ...this.#bytesOf(text), ...columnsOf(doc, paths)]);
    if (!hasSideTables(this.#table)) return;
    const [n = null] = this.#connection.prepare('SELECT last_insert_rowid()').get([]) ?? [];
    writeSideRows(this.#connection, this.#name, n, NO_ROWS, this.#sideRows(doc));
  }

  put(text: DocText): void {
    const [id] = text;
    const [n] = this.#connection.prepare(`SELECT n FROM "${this.#name}" WHERE id = ?`).get([id]) ?? [];
    if (n === undefined) return this.insert(text);
    const { paths } = this.#table;
    const doc = this.#parsedFor(text);
    const before = this.#storedSideRows(n);
    const apart = this.#table.bytes === undefined ? [] : [bytesColumn(this.#table.bytes)];
    const set = ['body', ...apart, ...paths.map(columnName)].map((column) => `${column} = ?`).join();
    const stored = [storedBody(text), ...this.#bytesOf(text), ...columnsOf(doc, paths), n];
    this.#run(`UPDATE "${this.#name}" SET ${set} WHERE n = ?`, stored);
    if (hasSideTables(this.#table)) writeSideRows(this.#connection, this.#name, n, before, this.#sideRows(doc));
  }

  /** Returns the body and whether it was created; null when no document matched. */
  change({ filter, update, sort, upsert }: ChangeRequest): [body: string, created: boolean] | null {
    const found = this.#first(filter, sort);
    if (found !== null) return [this.#replace(found, update), false];
    if (upsert !== true) return null;
    if (typeof filter['id'] !== 'string') throw new TypeError('an upsert names the id by equality');
    const doc = applyUpdate(buildSeed(filter), update, true);
    this.insert(this.#textOf(doc));
    return [JSON.stringify(doc), true];
  }

  changeIds({ ids, filter, update = {} }: IdsRequest): number {
    const matching = ids
      .map((id) => this.#byId(id))
      .filter((found): found is FoundDoc => found !== null && matches(found.doc, filter));
    // Arrays and objects of the update become part of the document, so each document needs a copy.
    for (const found of matching) this.#replace(found, structuredClone(update));
    return matching.length;
  }

  remove(filter: Filter): number {
    return this.#delete([filter]);
  }

  removeIds({ ids, filter }: IdsRequest): number {
    return ids.reduce((n, id) => n + this.#delete([{ id }, filter]), 0);
  }

  #delete(filters: readonly Filter[]): number {
    const where = whereSql(filters, this.#table.columns);
    const from = `FROM "${this.#name}" WHERE ${where.text}`;
    // Not `RETURNING`, whose text is not validated.
    const rows = hasSideTables(this.#table) ? this.#connection.prepare(`SELECT n ${from}`).all(where.values) : [];
    for (const [n = null] of rows) writeSideRows(this.#connection, this.#name, n, this.#storedSideRows(n), NO_ROWS);
    return this.#run(`DELETE ${from}`, where.values);
  }

  #first(filter: Filter, sort?: Sort): FoundDoc | null {
    const id = filter['id'];
    if (typeof id === 'string') {
      const found = this.#byId(id);
      return found !== null && matches(found.doc, filter) ? found : null;
    }
    const few = fewRows(this.#connection, this.#table, filter, sort ?? []);
    const walk = chooseWalk(this.#table, filter, sort);
    const { columns } = few === null ? walk : this.#table;
    const from = few === null ? { text: walk.from, values: [] } : fromRows(this.#name, few);
    const where = whereSql([filter], columns);
    const order = orderSql(sort, columns);
    const sql = `SELECT "${this.#name}".n, body ${from.text} WHERE ${where.text} ORDER BY ${order} LIMIT 1`;
    return parsedRow(this.#connection.prepare(sql).get([...from.values, ...where.values]));
  }

  #byId(id: string): FoundDoc | null {
    return parsedRow(this.#connection.prepare(`SELECT n, body FROM "${this.#name}" WHERE id = ?`).get([id]));
  }

  #replace({ n, doc }: FoundDoc, update: Update): string {
    const { unique, compressed, paths, values, search } = this.#table;
    const isTouched = touchedBy(update);
    const columns = paths.filter(isTouched);
    const side = { values: values.filter(isTouched), search: search.some(isTouched) ? search : [] };
    const before = columns.map((path) => columnValue(getPathValue(doc, path)));
    const sideBefore = sideRowsOf(doc, side);
    applyUpdate(doc, update);
    for (const path of unique) if (isTouched(path)) getUniqueValue(doc, path);
    const body = JSON.stringify(doc);
    // Only changed columns, so that other indexes are not rewritten.
    const after = columns.map((path) => columnValue(getPathValue(doc, path)));
    const moved = columns.filter((_, i) => !isSame(before[i] as Value, after[i] as Value));
    const set = moved.map((path) => `, ${columnName(path)} = ?`).join('');
    const columnValues = moved.map((path) => after[columns.indexOf(path)] as Value);
    const stored = compressed === undefined ? body : storedBody(this.#textOf(doc));
    this.#run(`UPDATE "${this.#name}" SET body = ?${set} WHERE n = ?`, [stored, ...columnValues, n]);
    if (hasSideTables(side)) writeSideRows(this.#connection, this.#name, n, sideBefore, sideRowsOf(doc, side));
    return body;
  }

  #sideRows(doc: Doc | null): SideRows {
    return doc === null ? NO_ROWS : sideRowsOf(doc, this.#table);
  }

  /**
   * Returns the entries of a body that is about to be replaced; deletes those of an unreadable
   * body.
   */
  #storedSideRows(n: Value): SideRows {
    if (!hasSideTables(this.#table)) return NO_ROWS;
    try {
      const [body] = this.#connection.prepare(`SELECT body FROM "${this.#name}" WHERE n = ?`).get([n]) ?? [];
      return sideRowsOf(parsedBody(body as string), this.#table);
    } catch (error) {
      if (!isDamage(error)) throw error;
      dropSideRows(this.#connection, this.#name, this.#table, n);
      return NO_ROWS;
    }
  }

  #parsedFor([, body]: DocText): Doc | null {
    const { paths, unique } = this.#table;
    if (paths.length === 0 && !hasSideTables(this.#table)) return null;
    const doc = JSON.parse(body) as Doc;
    for (const path of unique) getUniqueValue(doc, path);
    return doc;
  }

  #textOf(doc: Doc): DocText {
    return textOf(doc, this.#table);
  }

  #bytesOf([, , , bytes]: DocText): Value[] {
    return this.#table.bytes === undefined ? [] : [bytes ?? null];
  }

  #run(sql: string, values: readonly Value[]): number {
    try {
      return this.#connection.prepare(sql).run(values);
    } catch (error) {
      const column = violatedColumn(error);
      throw column === undefined ? error : new StoreConflict(column.replace('$.', ''));
    }
  }
}

const parsedRow = (row: Value[] | undefined): FoundDoc | null =>
  row === undefined ? null : { n: row[0] ?? null, doc: parsedBody(wholeBody(row[1] as string)) };

/** @param doc null when no field is indexed */
const columnsOf = (doc: Doc | null, paths: readonly string[]): Value[] =>
  doc === null ? [] : paths.map((path) => columnValue(getPathValue(doc, path)));

function touchedBy(update: Update): (path: string) => boolean {
  const { set, unset = [], inc, max, min, push, pull } = update;
  const fields = new Set(unset.map(fieldOf));
  for (const paths of [set, inc, max, min, push, pull]) for (const path in paths) fields.add(fieldOf(path));
  return (path) => fields.has(fieldOf(path));
}

function fieldOf(path: string): string {
  const dot = path.indexOf('.');
  return dot < 0 ? path : path.slice(0, dot);
}
