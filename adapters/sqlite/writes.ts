/**
 * The write operations on one connection, inside a transaction that writer.ts opens. Each ends in at most one statement per
 * document, so a conflict undoes nothing but itself and needs no savepoint.
 */
import { applyUpdate, matches, seedOf, uniqueValue, valueAt } from '../../ports/document.js';
import { StoreConflict, type CollectionSpec, type Doc, type Filter, type Update } from '../../ports/store.js';
import type { Connection, Table } from './connection.js';
import { violatedColumn, type Value } from './driver.js';
import type { ChangeRequest, IdsRequest, WriteKind, WriteRequest } from './messages.js';
import { createTable, ensureCollection } from './schema.js';
import { columnName, orderSql, whereSql } from './translate.js';
import { columnValue } from './values.js';

type Kind = Exclude<WriteKind, 'ping' | 'ensure'>;
const WRITES: Record<Kind, (writer: TableWriter, text: string) => unknown> = {
  insert: (writer, text) => writer.insert(JSON.parse(text) as Doc, text),
  change: (writer, text) => writer.change(JSON.parse(text) as ChangeRequest),
  touch: (writer, text) => (writer.change(JSON.parse(text) as ChangeRequest) === null ? 0 : 1),
  changeIds: (writer, text) => writer.changeIds(JSON.parse(text) as IdsRequest),
  remove: (writer, text) => writer.remove(JSON.parse(text) as Filter),
  removeIds: (writer, text) => writer.removeIds(JSON.parse(text) as IdsRequest),
};

/** @throws StoreConflict, TypeError (a programming error), or the driver's error */
export function performWrite(connection: Connection, [kind, name, text]: WriteRequest): unknown {
  if (kind === 'ping') return null;
  if (kind !== 'ensure') return WRITES[kind](new TableWriter(connection, name), text);
  for (const spec of JSON.parse(text) as CollectionSpec[]) ensureCollection(connection, spec);
  return null;
}

/** Writes of one collection; its table is made when it is missing. */
class TableWriter {
  readonly #connection: Connection;
  readonly #name: string;
  readonly #table: Table;

  constructor(connection: Connection, name: string) {
    this.#connection = connection;
    this.#name = name;
    if (connection.table(name) === null) createTable(connection, name);
    this.#table = connection.table(name) as Table;
  }

  insert(doc: Doc, body: string): null {
    if (typeof doc.id !== 'string') throw new TypeError('a document has a text id');
    for (const path of this.#table.unique) uniqueValue(doc, path);
    const columns = [...this.#table.columns];
    const names = ['id', 'body', ...columns.map(columnName)];
    const values = [doc.id, body, ...columns.map((path) => columnValue(valueAt(doc, path)))];
    this.#run(`INSERT INTO "${this.#name}" (${names.join()}) VALUES (${names.map(() => '?').join()})`, values);
    return null;
  }

  /** The document as text and whether it was created; null when none matched. */
  change({ filter, update, sort, upsert }: ChangeRequest): [body: string, created: boolean] | null {
    const where = whereSql([filter], this.#table.columns);
    // By its id there is one at most, and nothing to sort.
    const order = typeof filter['id'] === 'string' ? '' : ` ORDER BY ${orderSql(sort, this.#table.columns)}`;
    const sql = `SELECT rowid, body FROM "${this.#name}" WHERE ${where.text}${order} LIMIT 1`;
    const row = this.#connection.prepare(sql).get(where.values);
    if (row) return [this.#replace(row, update), false];
    if (!upsert) return null;
    const doc = applyUpdate(seedOf(filter), update, true);
    const body = JSON.stringify(doc);
    this.insert(doc, body);
    return [body, true];
  }

  /** Changes those of `ids` that match. */
  changeIds({ ids, filter, update = {} }: IdsRequest): number {
    const select = this.#connection.prepare(`SELECT rowid, body FROM "${this.#name}" WHERE id = ?`);
    const rows = ids.map((id) => select.get([id])).filter((row) => row !== undefined);
    const matching = rows.filter(([, body]) => matches(JSON.parse(body as string) as Doc, filter));
    // An update's arrays and objects become part of the document, so each document gets its own.
    for (const row of matching) this.#replace(row, structuredClone(update));
    return matching.length;
  }

  remove(filter: Filter): number {
    const where = whereSql([filter], this.#table.columns);
    return this.#run(`DELETE FROM "${this.#name}" WHERE ${where.text}`, where.values);
  }

  removeIds({ ids, filter }: IdsRequest): number {
    return ids.reduce((n, id) => n + this.#removeOne(id, filter), 0);
  }

  #removeOne(id: string, filter: Filter): number {
    const where = whereSql([{ id }, filter], this.#table.columns);
    return this.#run(`DELETE FROM "${this.#name}" WHERE ${where.text}`, where.values);
  }

  /** Only columns whose value changed are set: the indexes over the others stay as they are. */
  #replace([rowid, old]: Value[], update: Update): string {
    const doc = JSON.parse(old as string) as Doc;
    const columns = [...this.#table.columns];
    const before = columns.map((path) => columnValue(valueAt(doc, path)));
    applyUpdate(doc, update);
    for (const path of this.#table.unique) uniqueValue(doc, path);
    const body = JSON.stringify(doc);
    let assignments = 'body = ?';
    const values: Value[] = [body];
    for (const [i, path] of columns.entries()) {
      const value = columnValue(valueAt(doc, path));
      if (value === before[i]) continue;
      assignments += `, ${columnName(path)} = ?`;
      values.push(value);
    }
    values.push(rowid as Value);
    this.#run(`UPDATE "${this.#name}" SET ${assignments} WHERE rowid = ?`, values);
    return body;
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
