/**
 * The write operations on one connection, inside a transaction that writer.ts opens. Each ends in at most one statement per
 * document, so a conflict undoes nothing but itself and needs no savepoint.
 */
import { applyUpdate, matches, seedOf, uniqueValue, valueAt } from '../../ports/document.js';
import {
  StoreConflict,
  type CollectionSpec,
  type Doc,
  type Filter,
  type Sort,
  type TransactionWrite,
  type Update,
} from '../../ports/store.js';
import { candidatesOf, fromCandidates, planOf } from './lookups/candidates.js';
import type { Connection, Table } from './connection.js';
import { violatedColumn, type Value } from './driver.js';
import type { ChangeRequest, IdsRequest, TransactRequest, WriteKind, WriteRequest } from './messages.js';
import { createTable, ensureCollection } from './schema.js';
import { columnName, orderSql, whereSql, type Sql } from './translate.js';
import { noteForLookups } from './lookups/lookups.js';
import { MARK } from './mark.js';
import { termSource } from './lookups/terms.js';
import { ALL, isUnsettled, settle, settledColumns } from './unsettled.js';
import { columnValue } from './values.js';

type Kind = Exclude<WriteKind, 'ping' | 'ensure' | 'transact'>;
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
  if (kind === 'transact') return transact(connection, JSON.parse(text) as TransactRequest);
  if (kind !== 'ensure') return WRITES[kind](new TableWriter(connection, name), text);
  for (const spec of JSON.parse(text) as CollectionSpec[]) ensureCollection(connection, spec);
  return null;
}

/** A change has found no document. */
class Refused extends Error {}

/** The bodies that are asked for; null when nothing was written. */
function transact(connection: Connection, writes: TransactRequest): (string | null)[] | null {
  try {
    return connection.savepoint(() => writes.map((write) => step(connection, write)));
  } catch (error) {
    if (error instanceof Refused || error instanceof StoreConflict) return null;
    throw error;
  }
}

function step(connection: Connection, write: TransactionWrite): string | null {
  const writer = new TableWriter(connection, write.collection);
  if ('insert' in write) return writer.insert(write.insert, JSON.stringify(write.insert));
  const { change: filter, update, upsert = false, answer } = write;
  const changed = writer.change({ filter, update, upsert });
  if (changed === null) throw new Refused();
  return answer === true ? changed[0] : null;
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
    const columns = this.#table.written;
    const names = ['id', 'body', ...columns.map(columnName)];
    const values = [doc.id, body, ...columns.map((path) => columnValue(valueAt(doc, path)))];
    this.#run(`INSERT INTO "${this.#name}" (${names.join()}) VALUES (${names.map(() => '?').join()})`, values);
    this.#note(doc.id);
    return null;
  }

  /** The document as text and whether it was created; null when none matched. */
  change({ filter, update, sort, upsert }: ChangeRequest): [body: string, created: boolean] | null {
    const [from, aside] = this.#from(filter, sort);
    const where = this.#where(filter, sort, aside);
    // By its id there is one at most, and nothing to sort.
    const order = typeof filter['id'] === 'string' ? '' : ` ORDER BY ${orderSql(sort, this.#table.columns)}`;
    const sql = `SELECT ${this.#row} ${from.text} WHERE ${where.text}${order} LIMIT 1`;
    const row = this.#connection.prepare(sql).get([...from.values, ...where.values]);
    if (row) return [this.#replace(row, update), false];
    if (!upsert) return null;
    const doc = applyUpdate(seedOf(filter), update, true);
    const body = JSON.stringify(doc);
    this.insert(doc, body);
    return [body, true];
  }

  /** Changes those of `ids` that match. */
  changeIds({ ids, filter, update = {} }: IdsRequest): number {
    const select = this.#connection.prepare(`SELECT ${this.#row} FROM "${this.#name}" WHERE id = ?`);
    const rows = ids.map((id) => select.get([id])).filter((row) => row !== undefined);
    const matching = rows.filter(([, body]) => matches(JSON.parse(body as string) as Doc, filter));
    // An update's arrays and objects become part of the document, so each document gets its own.
    for (const row of matching) this.#replace(row, structuredClone(update));
    return matching.length;
  }

  remove(filter: Filter): number {
    return this.#delete(this.#where(filter));
  }

  removeIds({ ids, filter }: IdsRequest): number {
    return ids.reduce((n, id) => n + this.#removeOne(id, filter), 0);
  }

  #removeOne(id: string, filter: Filter): number {
    return this.#delete(whereSql([{ id }, filter], settledColumns(this.#table)));
  }

  #delete(where: Sql): number {
    const sql = `DELETE FROM "${this.#name}" WHERE ${where.text}`;
    if (this.#table.lookups.length === 0) return this.#run(sql, where.values);
    const gone = this.#connection.prepare(`${sql} RETURNING id`).all(where.values);
    for (const [id] of gone) this.#note(id as string);
    return gone.length;
  }

  #note(id: string): void {
    if (this.#table.lookups.length > 0) noteForLookups(this.#connection, this.#table, id);
  }

  /** Only columns whose value changed are set: the indexes over the others stay as they are. */
  #replace([rowid, old, mark]: Value[], update: Update): string {
    const doc = JSON.parse(old as string) as Doc;
    const columns = this.#table.written;
    const before = columns.map((path) => columnValue(valueAt(doc, path)));
    const terms = termSource(doc, this.#table.lookups);
    applyUpdate(doc, update);
    for (const path of this.#table.unique) uniqueValue(doc, path);
    if (termSource(doc, this.#table.lookups).some((source, i) => source !== terms[i])) this.#note(doc.id);
    const body = JSON.stringify(doc);
    let assignments = 'body = ?';
    let unsettled = false;
    const values: Value[] = [body];
    for (const [i, path] of columns.entries()) {
      const value = columnValue(valueAt(doc, path));
      if (value === before[i]) continue;
      if (this.#table.deferred.includes(path)) {
        unsettled = true;
        continue;
      }
      assignments += `, ${columnName(path)} = ?`;
      values.push(value);
    }
    if (unsettled && mark === null) {
      assignments += `, ${MARK} = 1`;
      this.#connection.unsettled.add(this.#name);
    }
    values.push(rowid as Value);
    this.#run(`UPDATE "${this.#name}" SET ${assignments} WHERE rowid = ?`, values);
    return body;
  }

  /** What `#replace` takes. */
  get #row(): string {
    return this.#table.deferred.length > 0 ? `rowid, body, ${MARK}` : 'rowid, body';
  }

  /** One document by its id is read from its body where a column may lag behind; for the others all rows are settled first. */
  #where(filter: Filter, sort?: Sort, aside?: ReadonlySet<string>): Sql {
    if (typeof filter['id'] === 'string') return whereSql([filter], settledColumns(this.#table));
    if (isUnsettled(this.#connection, this.#name, filter, sort)) settle(this.#connection, this.#name, ALL);
    return whereSql([filter], this.#table.columns, aside);
  }

  /** Of the table the few documents that can match; or all of it, and the paths whose indexes lead astray then. */
  #from(filter: Filter, sort: Sort = []): [from: Sql, aside?: ReadonlySet<string>] {
    const plan = planOf(this.#table, filter, sort);
    const few = plan && candidatesOf(this.#connection, this.#table, plan);
    if (few !== null) return [fromCandidates(this.#name, few)];
    const all = { text: `FROM "${this.#name}"`, values: [] };
    return plan === null ? [all] : [all, plan.aside];
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
