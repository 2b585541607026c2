/**
 * The write operations on one connection, inside a transaction that writer.ts opens. Each ends in at most one statement per
 * document, so a conflict undoes nothing but itself and needs no savepoint.
 */
import { applyUpdate, matches, seedOf, uniqueValue } from '../../ports/document.js';
import type { AnyRender } from '../../ports/rendering.js';
import {
  StoreConflict,
  type CollectionSpec,
  type Doc,
  type Filter,
  type Json,
  type Sort,
  type Update,
} from '../../ports/store.js';
import { askedOf, type AheadRow, type Asked, type Found } from './kept/ahead.js';
import { candidatesOf, fromCandidates, planOf } from './lookups/candidates.js';
import type { Connection, Table } from './connection.js';
import { violatedColumn, type Value } from './driver.js';
import { FOLDED, indexedAt, type Fold } from './indexing/fold.js';
import {
  outcomeOf,
  type ChangeRenderedRequest,
  type ChangeRequest,
  type IdsRequest,
  type Outcome,
  type TransactRequest,
  type WriteKind,
  type WriteRequest,
} from './messages.js';
import { createTable, ensureCollection } from './schema.js';
import { columnName, orderSql, whereSql, type Sql } from './translate.js';
import { noteForLookups } from './lookups/lookups.js';
import { INSERTED, LAGS, MARK, PENDING } from './mark.js';
import { storedBody, textOf, wholeBody, type DocText } from './packing/packing.js';
import type { RecentDoc } from './kept/recent.js';
import { termSource } from './lookups/terms.js';
import { ALL, isUnsettled, settle, settledColumns, settledWhere } from './unsettled.js';
import { columnValue, isSame } from './values.js';

type Kind = Exclude<WriteKind, 'ping' | 'ensure' | 'load' | 'transact'>;
const WRITES: Record<Kind, (writer: TableWriter, text: string, docs: readonly DocText[]) => unknown> = {
  insert: (writer, _, docs) => given(docs).forEach((doc) => writer.insert(doc)),
  put: (writer, _, docs) => given(docs).forEach((doc) => writer.put(doc)),
  change: (writer, text) => writer.change(JSON.parse(text) as ChangeRequest),
  changeRendered: (writer, text) => writer.changeRendered(JSON.parse(text) as ChangeRenderedRequest),
  touch: (writer, text) => (writer.change(JSON.parse(text) as ChangeRequest) === null ? 0 : 1),
  changeIds: (writer, text) => writer.changeIds(JSON.parse(text) as IdsRequest),
  remove: (writer, text) => writer.remove(JSON.parse(text) as Filter),
  removeIds: (writer, text) => writer.removeIds(JSON.parse(text) as IdsRequest),
};

/** @throws TypeError for a request that would write nothing and say that it had */
function given(docs: readonly DocText[]): readonly DocText[] {
  if (docs.length === 0) throw new TypeError('nothing is given to insert');
  return docs;
}

/**
 * @param careful a transaction that cannot be finished takes its own writes back; otherwise it throws `Undone`
 * @throws StoreConflict, TypeError (a programming error), Undone, or the driver's error
 */
export function performWrite(
  connection: Connection,
  [kind, name, text, docs = []]: WriteRequest,
  careful = true,
): unknown {
  if (kind === 'ping') return null;
  if (kind === 'load') {
    renderIn(connection, text);
    return null;
  }
  if (kind === 'transact') return transact(connection, JSON.parse(text) as TransactRequest, docs, careful);
  if (kind !== 'ensure') return WRITES[kind](new TableWriter(connection, name), text, docs);
  for (const spec of JSON.parse(text) as CollectionSpec[]) ensureCollection(connection, spec);
  return null;
}

/** What a loaded module makes of documents. @throws TypeError with the reason why it was not to be loaded */
function renderIn(connection: Connection, module: string): AnyRender {
  const render = connection.renders.get(module);
  if (typeof render === 'function') return render;
  throw new TypeError(render?.message ?? `${module} is not loaded`, { cause: render });
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

const columnsOf = (doc: Doc | null, paths: readonly string[], fold: Fold | null): Value[] =>
  doc === null ? [] : paths.map((path) => columnValue(indexedAt(doc, path, fold)));

/** @throws TypeError */
function checkUnique(doc: Doc, paths: readonly string[]): void {
  for (const path of paths) uniqueValue(doc, path);
}

/** The paths whose columns an insert fills. */
const insertedPaths = ({ written, unique, pending }: Table): readonly string[] => (pending ? unique : written);

/** Of each table, made once: it is long, and so is looking for a long text among the prepared ones. */
const insertions = new WeakMap<Table, string>();

function insertSql(table: Table): string {
  let sql = insertions.get(table);
  if (sql === undefined) {
    const { name } = table;
    const columns = ['id', 'body', ...insertedPaths(table).map(columnName)];
    const values = columns.map(() => '?');
    if (table.pending) {
      columns.push(MARK, PENDING);
      values.push(String(INSERTED), '1');
    }
    sql = `INSERT INTO "${name}" (${columns.join()}) VALUES (${values.join()})`;
    insertions.set(table, sql);
  }
  return sql;
}

/** A change has found no document. */
class Refused extends Error {}

/**
 * A transaction of several writes cannot be finished, and some of them are made (one whose first write is refused has made none):
 * all that was written with them is to be rolled back and done again, carefully. That is seldom; a savepoint for each, for which
 * SQLite copies every page before it changes, costs a fifth of a new group.
 */
export class Undone extends Error {}

/** It concerns one operation, not the connection. */
export const isOfOne = (error: unknown): boolean =>
  error instanceof StoreConflict || error instanceof TypeError || error instanceof Refused;

/** The bodies that are asked for; null when nothing was written. */
function transact(
  connection: Connection,
  writes: TransactRequest,
  docs: readonly DocText[],
  careful: boolean,
): (string | null)[] | null {
  const steps = new Steps(connection, docs);
  const all = (): (string | null)[] => writes.map((write) => steps.take(write));
  try {
    return careful ? connection.savepoint(all) : all();
  } catch (error) {
    if (!careful && steps.taken > 0 && isOfOne(error))
      throw new Undone('a transaction cannot be finished', { cause: error });
    if (error instanceof Refused || error instanceof StoreConflict) return null;
    throw error;
  }
}

/** The writes of one transaction. */
class Steps {
  /** How many are made. */
  taken = 0;
  readonly #connection: Connection;
  readonly #docs: IterableIterator<DocText>;

  constructor(connection: Connection, docs: readonly DocText[]) {
    this.#connection = connection;
    this.#docs = docs[Symbol.iterator]();
  }

  /** The body, where it is asked for. @throws Refused, StoreConflict, TypeError */
  take(write: TransactRequest[number]): string | null {
    const writer = new TableWriter(this.#connection, write.collection);
    let body: string | null = null;
    if ('insert' in write) writer.insert(this.#next());
    else if ('put' in write) writer.put(this.#next());
    else {
      const { change: filter, update, sort, upsert = false, settled = false } = write;
      const changed = writer.change({ filter, update, upsert, settled, ...(sort !== undefined && { sort }) });
      if (changed === null) throw new Refused();
      if (write.answer === true) body = changed[0];
    }
    this.taken += 1;
    return body;
  }

  /** The document that is to be inserted or put. */
  #next(): DocText {
    return this.#docs.next().value as DocText;
  }
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

  insert(text: DocText): void {
    const [id, body, packed] = text;
    const { unique, pending } = this.#table;
    const { recent, ahead, unsettled } = this.#connection;
    const doc = this.#parsedFor(text);
    if (doc !== null) checkUnique(doc, unique);
    this.#run(insertSql(this.#table), [
      id,
      storedBody(text),
      ...columnsOf(doc, insertedPaths(this.#table), this.#table.fold),
    ]);
    if (pending) unsettled.add(this.#name);
    if (doc !== null && packed === undefined) recent.added(this.#name, id, doc, body.length, pending);
    if (doc !== null) ahead.inserted(this.#name, doc);
    this.#note(id);
  }

  /** In the place of the document with its id, whatever that holds, or as a new one. */
  put(text: DocText): void {
    const [id] = text;
    const { written, unique } = this.#table;
    const before = [this.#table.lagging.length > 0 ? MARK : 'NULL', 'rowid', ...written.map(columnName)].join();
    const row = this.#connection.prepare(`SELECT ${before} FROM "${this.#name}" WHERE id = ?`).get([id]);
    if (row === undefined) return this.insert(text);
    const doc = this.#parsedFor(text);
    if (doc !== null) checkUnique(doc, unique);
    const [mark = null, rowid = null, ...old] = row;
    const { recent, ahead } = this.#connection;
    recent.drop(this.#name, id);
    ahead.drop(this.#name);
    const assigned = this.#assigned(
      written,
      old,
      columnsOf(doc, written, this.#table.fold),
      mark === null ? null : recent.settled,
    );
    this.#run(`UPDATE "${this.#name}" SET body = ?${assigned.text} WHERE rowid = ?`, [
      storedBody(text),
      ...assigned.values,
      rowid,
    ]);
    this.#note(id);
  }

  /** The document without its packed fields; null where no field is indexed, and nobody has to look at it. */
  #parsedFor([, body]: DocText): Doc | null {
    return this.#table.written.length === 0 ? null : (JSON.parse(body) as Doc);
  }

  /**
   * What moves in a row beside its body: only columns whose value changed, so that the indexes over the others stay as they
   * are, and the mark where one of them is deferred.
   * @param marked as `RecentDoc` has it
   * @param settled deferred columns move with the others, unless the row is marked already
   */
  #assigned(
    columns: readonly string[],
    before: readonly Value[],
    after: readonly Value[],
    marked: number | null,
    settled = false,
  ): { text: string; values: Value[]; unsettled: boolean } {
    const { recent } = this.#connection;
    const deferred = settled && marked === null ? [] : this.#table.deferred;
    let text = '';
    let unsettled = false;
    const values: Value[] = [];
    for (const [i, path] of columns.entries()) {
      const value = after[i] as Value;
      if (isSame(value, before[i] as Value)) continue;
      if (deferred.includes(path)) unsettled = true;
      else {
        text += `, ${columnName(path)} = ?`;
        values.push(value);
      }
    }
    if (unsettled && marked !== recent.settled) {
      // A pending row stays so.
      text += `, ${MARK} = coalesce(${MARK}, ${LAGS})`;
      this.#connection.unsettled.add(this.#name);
    }
    return { text, values, unsettled };
  }

  /** The document as text and whether it was created; null when none matched. */
  change(request: ChangeRequest): [body: string, created: boolean] | null {
    const { filter, update, upsert, settled } = request;
    const found = this.#matching(request);
    if (found !== null) return [this.#replace(found, update, settled), false];
    if (upsert !== true) return null;
    if (typeof filter['id'] !== 'string') throw new TypeError('an upsert names the id by equality');
    const doc = applyUpdate(seedOf(filter), update, true);
    this.insert(this.#textOf(doc));
    return [JSON.stringify(doc), true];
  }

  /** What is made of the changed document; null when none matched. What the function throws is answered: the change is made. */
  changeRendered({ rendering, ...request }: ChangeRenderedRequest): Outcome | null {
    const { module, beside: collection, context } = rendering;
    const render = renderIn(this.#connection, module);
    const found = this.#matching(request);
    if (found === null) return null;
    this.#replace(found, request.update, request.settled);
    const { doc } = found;
    try {
      const other = collection === null ? null : this.#bodyOf(collection, doc.id);
      const beside = other === null ? null : (JSON.parse(other) as Doc);
      return { value: JSON.stringify(render(doc, beside, JSON.parse(context) as Json)) };
    } catch (error) {
      return outcomeOf(error);
    }
  }

  /** By its id there is one at most. */
  #matching({ filter, sort }: ChangeRequest): Found | null {
    const id = filter['id'];
    if (typeof id !== 'string') return this.#first(filter, sort);
    const found = this.#byId(id);
    return found !== null && matches(found.doc, filter) ? found : null;
  }

  /** Of another collection. */
  #bodyOf(collection: string, id: string): string | null {
    if (this.#connection.table(collection) === null) return null;
    const [stored] = this.#connection.prepare(`SELECT body FROM "${collection}" WHERE id = ?`).get([id]) ?? [];
    return stored === undefined ? null : wholeBody(stored as string);
  }

  #first(filter: Filter, sort?: Sort): Found | null {
    const asked = askedOf(this.#table, filter, sort);
    const known = asked === null ? undefined : this.#connection.ahead.first(asked);
    if (known !== undefined) return known;
    const plan = planOf(this.#table, filter, sort ?? []);
    const few = plan && candidatesOf(this.#connection, this.#table, plan);
    const aside = few === null ? plan?.aside : undefined;
    const next = few === null && asked !== null ? this.#readAhead(asked, aside) : undefined;
    if (next !== undefined) return next;
    const from = few === null ? { text: `FROM "${this.#name}"`, values: [] } : fromCandidates(this.#name, few);
    const where = this.#where(filter, sort, aside);
    const order = orderSql(sort, this.#table.columns);
    const sql = `SELECT ${this.#row} ${from.text} WHERE ${where.text} ORDER BY ${order} LIMIT 1`;
    const row = this.#connection.prepare(sql).get([...from.values, ...where.values]);
    return row === undefined ? null : this.#parsed(row);
  }

  /** As `Ahead.first` answers, of rows that are read now. */
  #readAhead(asked: Asked, aside?: ReadonlySet<string>): Found | null | undefined {
    const { ahead } = this.#connection;
    const { columns } = this.#table;
    const most = ahead.wanted(asked);
    if (most === 0) return undefined;
    const where = this.#where(asked.filter, asked.sort, aside);
    const order = orderSql(asked.sort, columns);
    const sql = `SELECT id, ${this.#row} FROM "${this.#name}" WHERE ${where.text} ORDER BY ${order} LIMIT ?`;
    const rows = this.#connection.prepare(sql).all([...where.values, most]);
    ahead.read(
      asked,
      this.#name,
      rows.map((row) => this.#aheadRow(row)),
      most,
    );
    return ahead.first(asked);
  }

  #aheadRow([id, ...row]: Value[]): AheadRow {
    const { recent } = this.#connection;
    const { settled } = recent;
    let found: Found | null = null;
    return {
      id: id as string,
      found: () => (found ??= this.#parsed(row, settled)),
    };
  }

  #byId(id: string): Found | null {
    const recent = this.#connection.recent.get(this.#name, id);
    if (recent !== undefined && recent.doc !== null) return recent as Found;
    const row = this.#connection.prepare(`SELECT ${this.#row} FROM "${this.#name}" WHERE id = ?`).get([id]);
    return row === undefined ? null : this.#parsed(row);
  }

  /** @param settled `Recent.settled` when the row was read */
  #parsed([rowid, body, mark]: Value[], settled = this.#connection.recent.settled): Found {
    const marked = mark === null || mark === undefined ? null : settled;
    const whole = wholeBody(body as string);
    return { rowid: rowid as number, doc: JSON.parse(whole) as Doc, length: whole.length, marked };
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
    this.#connection.ahead.drop(this.#name);
    const sql = `DELETE FROM "${this.#name}" WHERE ${where.text}`;
    if (this.#table.lookups.length === 0) return this.#run(sql, where.values);
    const gone = this.#connection.prepare(`${sql} RETURNING id`).all(where.values);
    for (const [id] of gone) this.#note(id as string);
    return gone.length;
  }

  #note(id: string): void {
    if (this.#table.lookups.length > 0) noteForLookups(this.#connection, this.#table, id);
  }

  #textOf(doc: Doc): DocText {
    return textOf(doc, this.#table.packed);
  }

  #replace(found: Found, update: Update, settled = false): string {
    const { rowid, doc } = found;
    const { recent, ahead } = this.#connection;
    const { lookups, unique, fold } = this.#table;
    const isTouched = touchedBy(update);
    const columns = this.#table.written.filter((path) =>
      isTouched(path === FOLDED && fold !== null ? fold.path : path),
    );
    const before = columnsOf(doc, columns, fold);
    const looked = lookups.filter(({ path }) => isTouched(path));
    const terms = termSource(doc, looked);
    // What fails from here on leaves a document that is neither the old one nor the new one.
    const kept: RecentDoc = found;
    kept.doc = null;
    applyUpdate(doc, update);
    checkUnique(doc, unique.filter(isTouched));
    if (termSource(doc, looked).some((source, i) => source !== terms[i])) this.#note(doc.id);
    const body = JSON.stringify(doc);
    const stored = this.#table.packed !== undefined ? storedBody(this.#textOf(doc)) : body;
    const after = columnsOf(doc, columns, fold);
    const { text, values, unsettled } = this.#assigned(columns, before, after, found.marked, settled);
    const at = rowid === null ? 'id' : 'rowid';
    this.#run(`UPDATE "${this.#name}" SET body = ?${text} WHERE ${at} = ?`, [stored, ...values, rowid ?? doc.id]);
    if (unsettled) kept.marked = recent.settled;
    kept.doc = doc;
    recent.set(this.#name, doc.id, kept, body.length);
    ahead.changed(this.#name, doc, isTouched);
    return body;
  }

  /** What `#parsed` takes. */
  get #row(): string {
    return this.#table.lagging.length > 0 ? `rowid, body, ${MARK}` : 'rowid, body';
  }

  /** One document by its id is read from its body where a column may lag behind; for the others all rows are settled first. */
  #where(filter: Filter, sort?: Sort, aside?: ReadonlySet<string>): Sql {
    if (typeof filter['id'] === 'string') return whereSql([filter], settledColumns(this.#table));
    if (isUnsettled(this.#connection, this.#name, filter, sort)) settle(this.#connection, this.#name, ALL);
    return settledWhere(this.#table, [filter], sort, aside);
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
