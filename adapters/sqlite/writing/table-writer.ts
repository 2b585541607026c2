/** A conflict ends a write at its first statement, so nothing else is rolled back. */
import { applyUpdate, matchesFilter, buildSeed, getUniqueValue, getPathValue } from '../../../ports/document.js';
import { StoreConflict, type Doc, type Filter, type Sort, type Update } from '../../../ports/store/index.js';
import { parseBody, compressBody, encodeDoc, restoreBody, type EncodedDoc } from '../stored-body.js';
import type { Connection } from '../connection/connection.js';
import type { Table } from '../connection/table.js';
import { isDamageError } from '../driver/damage.js';
import { parseViolatedColumn, type SqlValue } from '../driver/driver.js';
import { findFewRows, buildRowsFrom, chooseWalk } from '../reading/query-plan.js';
import {
  dropSideRows,
  hasSideTables,
  EMPTY_SIDE_ROWS,
  buildSideRows,
  writeSideRows,
  type SideTableRows,
} from '../schema/side-tables.js';
import { toBytesColumn } from '../schema/bytes-column.js';
import { getColumnName, buildOrderSql, buildWhereSql } from '../sql/translate.js';
import { encodeColumnValue, isSameValue } from '../sql/values.js';
import type { ChangeRequest, IdsRequest } from '../threads/messages.js';
import { createTable } from './ensure-collection.js';

interface DocRow {
  n: SqlValue;
  doc: Doc;
}

export class TableWriter {
  readonly #connection: Connection;
  readonly #name: string;
  readonly #table: Table;

  constructor(connection: Connection, name: string) {
    this.#connection = connection;
    this.#name = name;
    if (connection.getTable(name) === null) createTable(connection, name);
    this.#table = connection.getTable(name) as Table;
  }

  insert(text: EncodedDoc): void {
    const { paths, insertSql } = this.#table;
    const doc = this.#parseIndexed(text);
    this.#run(insertSql, [text[0], compressBody(text), ...this.#getBytesValues(text), ...getColumnValues(doc, paths)]);
    if (!hasSideTables(this.#table)) return;
    const [n = null] = this.#connection.prepare('SELECT last_insert_rowid()').get([]) ?? [];
    writeSideRows(this.#connection, this.#name, n, EMPTY_SIDE_ROWS, this.#buildSideRows(doc));
  }

  put(text: EncodedDoc): void {
    const [id] = text;
    const [n] = this.#connection.prepare(`SELECT n FROM "${this.#name}" WHERE id = ?`).get([id]) ?? [];
    if (n === undefined) return this.insert(text);
    const { paths } = this.#table;
    const doc = this.#parseIndexed(text);
    const before = this.#readStoredSideRows(n);
    const apart = this.#table.bytes === undefined ? [] : [toBytesColumn(this.#table.bytes)];
    const set = ['body', ...apart, ...paths.map(getColumnName)].map((column) => `${column} = ?`).join();
    const stored = [compressBody(text), ...this.#getBytesValues(text), ...getColumnValues(doc, paths), n];
    this.#run(`UPDATE "${this.#name}" SET ${set} WHERE n = ?`, stored);
    if (hasSideTables(this.#table)) writeSideRows(this.#connection, this.#name, n, before, this.#buildSideRows(doc));
  }

  /** Returns the body and whether it was created; null when no document matched. */
  change({ filter, update, sort, upsert }: ChangeRequest): [body: string, created: boolean] | null {
    const found = this.#findFirst(filter, sort);
    if (found !== null) return [this.#replace(found, update), false];
    if (upsert !== true) return null;
    if (typeof filter['id'] !== 'string') throw new TypeError('the filter of an upsert must match the id by equality');
    const doc = applyUpdate(buildSeed(filter), update, true);
    this.insert(this.#encode(doc));
    return [JSON.stringify(doc), true];
  }

  changeIds({ ids, filter, update = {} }: IdsRequest): number {
    const matching = ids
      .map((id) => this.#findById(id))
      .filter((found): found is DocRow => found !== null && matchesFilter(found.doc, filter));
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
    const where = buildWhereSql(filters, this.#table.columns);
    const from = `FROM "${this.#name}" WHERE ${where.text}`;
    // Not `RETURNING`, whose text is not validated.
    const rows = hasSideTables(this.#table) ? this.#connection.prepare(`SELECT n ${from}`).all(where.values) : [];
    for (const [n = null] of rows)
      writeSideRows(this.#connection, this.#name, n, this.#readStoredSideRows(n), EMPTY_SIDE_ROWS);
    return this.#run(`DELETE ${from}`, where.values);
  }

  #findFirst(filter: Filter, sort?: Sort): DocRow | null {
    const id = filter['id'];
    if (typeof id === 'string') {
      const found = this.#findById(id);
      return found !== null && matchesFilter(found.doc, filter) ? found : null;
    }
    const few = findFewRows(this.#connection, this.#table, filter, sort ?? []);
    const walk = chooseWalk(this.#table, filter, sort);
    const { columns } = few === null ? walk : this.#table;
    const from = few === null ? { text: walk.from, values: [] } : buildRowsFrom(this.#name, few);
    const where = buildWhereSql([filter], columns);
    const order = buildOrderSql(sort, columns);
    const sql = `SELECT "${this.#name}".n, body ${from.text} WHERE ${where.text} ORDER BY ${order} LIMIT 1`;
    return parseRow(this.#connection.prepare(sql).get([...from.values, ...where.values]));
  }

  #findById(id: string): DocRow | null {
    return parseRow(this.#connection.prepare(`SELECT n, body FROM "${this.#name}" WHERE id = ?`).get([id]));
  }

  #replace({ n, doc }: DocRow, update: Update): string {
    const { unique, compressed, paths, values, search } = this.#table;
    const isTouched = createTouchPredicate(update);
    const columns = paths.filter(isTouched);
    const side = { values: values.filter(isTouched), search: search.some(isTouched) ? search : [] };
    const before = columns.map((path) => encodeColumnValue(getPathValue(doc, path)));
    const sideBefore = buildSideRows(doc, side);
    applyUpdate(doc, update);
    for (const path of unique) if (isTouched(path)) getUniqueValue(doc, path);
    const body = JSON.stringify(doc);
    // Only changed columns, so that other indexes are not rewritten.
    const after = columns.map((path) => encodeColumnValue(getPathValue(doc, path)));
    const moved = columns.filter((_, i) => !isSameValue(before[i] as SqlValue, after[i] as SqlValue));
    const set = moved.map((path) => `, ${getColumnName(path)} = ?`).join('');
    const columnValues = moved.map((path) => after[columns.indexOf(path)] as SqlValue);
    const stored = compressed === undefined ? body : compressBody(this.#encode(doc));
    this.#run(`UPDATE "${this.#name}" SET body = ?${set} WHERE n = ?`, [stored, ...columnValues, n]);
    if (hasSideTables(side)) writeSideRows(this.#connection, this.#name, n, sideBefore, buildSideRows(doc, side));
    return body;
  }

  #buildSideRows(doc: Doc | null): SideTableRows {
    return doc === null ? EMPTY_SIDE_ROWS : buildSideRows(doc, this.#table);
  }

  /** Deletes the entries of an unreadable body. */
  #readStoredSideRows(n: SqlValue): SideTableRows {
    if (!hasSideTables(this.#table)) return EMPTY_SIDE_ROWS;
    try {
      const [body] = this.#connection.prepare(`SELECT body FROM "${this.#name}" WHERE n = ?`).get([n]) ?? [];
      return buildSideRows(parseBody(body as string), this.#table);
    } catch (error) {
      if (!isDamageError(error)) throw error;
      dropSideRows(this.#connection, this.#name, this.#table, n);
      return EMPTY_SIDE_ROWS;
    }
  }

  #parseIndexed([, body]: EncodedDoc): Doc | null {
    const { paths, unique } = this.#table;
    if (paths.length === 0 && !hasSideTables(this.#table)) return null;
    const doc = JSON.parse(body) as Doc;
    for (const path of unique) getUniqueValue(doc, path);
    return doc;
  }

  #encode(doc: Doc): EncodedDoc {
    return encodeDoc(doc, this.#table);
  }

  #getBytesValues([, , , bytes]: EncodedDoc): SqlValue[] {
    return this.#table.bytes === undefined ? [] : [bytes ?? null];
  }

  #run(sql: string, values: readonly SqlValue[]): number {
    try {
      return this.#connection.prepare(sql).run(values);
    } catch (error) {
      const column = parseViolatedColumn(error);
      throw column === undefined ? error : new StoreConflict(column.replace('$.', ''));
    }
  }
}

const parseRow = (row: SqlValue[] | undefined): DocRow | null =>
  row === undefined ? null : { n: row[0] ?? null, doc: parseBody(restoreBody(row[1] as string)) };

const getColumnValues = (doc: Doc | null, paths: readonly string[]): SqlValue[] =>
  doc === null ? [] : paths.map((path) => encodeColumnValue(getPathValue(doc, path)));

function createTouchPredicate(update: Update): (path: string) => boolean {
  const { set, unset = [], inc, max, min, push, pull } = update;
  const fields = new Set(unset.map(getFirstField));
  for (const paths of [set, inc, max, min, push, pull]) for (const path in paths) fields.add(getFirstField(path));
  return (path) => fields.has(getFirstField(path));
}

function getFirstField(path: string): string {
  const dot = path.indexOf('.');
  return dot < 0 ? path : path.slice(0, dot);
}
