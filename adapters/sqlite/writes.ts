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
import type { RecentDoc } from './recent.js';
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

/** A document that is there. */
interface Found extends RecentDoc {
  doc: Doc;
}

/** Whether an update may write `path`, or something in it. */
function touchedBy(update: Update): (path: string) => boolean {
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
    const id = filter['id'];
    if (typeof id === 'string') return this.#changeOne(id, filter, update, upsert);
    const [from, aside] = this.#from(filter, sort);
    const where = this.#where(filter, sort, aside);
    const order = orderSql(sort, this.#table.columns);
    const sql = `SELECT ${this.#row} ${from.text} WHERE ${where.text} ORDER BY ${order} LIMIT 1`;
    const row = this.#connection.prepare(sql).get([...from.values, ...where.values]);
    if (row) return [this.#replace(this.#parsed(row), update), false];
    if (upsert) throw new TypeError('an upsert names the id by equality');
    return null;
  }

  /** By its id there is one at most. */
  #changeOne(id: string, filter: Filter, update: Update, upsert = false): [body: string, created: boolean] | null {
    const found = this.#byId(id);
    if (found !== null && matches(found.doc, filter)) return [this.#replace(found, update), false];
    if (!upsert) return null;
    const doc = applyUpdate(seedOf(filter), update, true);
    const body = JSON.stringify(doc);
    this.insert(doc, body);
    return [body, true];
  }

  #byId(id: string): Found | null {
    const recent = this.#connection.recent.get(this.#name, id);
    if (recent !== undefined && recent.doc !== null) return recent as Found;
    const row = this.#connection.prepare(`SELECT ${this.#row} FROM "${this.#name}" WHERE id = ?`).get([id]);
    return row === undefined ? null : this.#parsed(row);
  }

  #parsed([rowid, body, mark]: Value[]): Found {
    const marked = mark === null || mark === undefined ? null : this.#connection.recent.settled;
    return { rowid: rowid as number, doc: JSON.parse(body as string) as Doc, marked };
  }

  /** Changes those of `ids` that match. */
  changeIds({ ids, filter, update = {} }: IdsRequest): number {
    const matching = ids.map((id) => this.#byId(id)).filter((found) => found !== null && matches(found.doc, filter));
    // An update's arrays and objects become part of the document, so each document gets its own.
    for (const found of matching) this.#replace(found as Found, structuredClone(update));
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
    this.#connection.recent.clear();
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
  #replace(found: Found, update: Update): string {
    const { rowid, doc } = found;
    const { recent } = this.#connection;
    const { deferred, lookups, unique } = this.#table;
    const isTouched = touchedBy(update);
    const columns = this.#table.written.filter(isTouched);
    const before = columns.map((path) => columnValue(valueAt(doc, path)));
    const looked = lookups.filter(({ path }) => isTouched(path));
    const terms = termSource(doc, looked);
    // What fails from here on leaves a document that is neither the old one nor the new one.
    const kept: RecentDoc = found;
    kept.doc = null;
    applyUpdate(doc, update);
    for (const path of unique) if (isTouched(path)) uniqueValue(doc, path);
    if (termSource(doc, looked).some((source, i) => source !== terms[i])) this.#note(doc.id);
    const body = JSON.stringify(doc);
    let assignments = 'body = ?';
    let unsettled = false;
    const values: Value[] = [body];
    for (const [i, path] of columns.entries()) {
      const value = columnValue(valueAt(doc, path));
      if (value === before[i]) continue;
      if (deferred.includes(path)) {
        unsettled = true;
        continue;
      }
      assignments += `, ${columnName(path)} = ?`;
      values.push(value);
    }
    if (unsettled && found.marked !== recent.settled) {
      assignments += `, ${MARK} = 1`;
      this.#connection.unsettled.add(this.#name);
      kept.marked = recent.settled;
    }
    values.push(rowid);
    this.#run(`UPDATE "${this.#name}" SET ${assignments} WHERE rowid = ?`, values);
    kept.doc = doc;
    recent.set(this.#name, doc.id, kept, body.length);
    return body;
  }

  /** What `#parsed` takes. */
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
