/** The writes of one collection on the writer's connection, each in at most one statement per document. */
import { applyUpdate, matches, seedOf } from '../../../ports/document.js';
import { StoreConflict, type Doc, type Filter, type Json, type Update } from '../../../ports/store.js';
import { parsedBody, storedBody, textOf, wholeBody, type DocText } from '../body/stored-body.js';
import type { Connection } from '../connection/connection.js';
import type { Table } from '../connection/table.js';
import { violatedColumn, type Value } from '../driver/driver.js';
import { currentColumns } from '../indexing/catch-up.js';
import type { FoundDoc } from '../kept/read-ahead.js';
import type { RecentDoc } from '../kept/recent.js';
import { termSource } from '../lookups/terms.js';
import { MARK } from '../schema/mark.js';
import { ALIASED } from '../sql/indexed-as.js';
import { columnName, whereSql, type Sql } from '../sql/translate.js';
import {
  outcomeOf,
  type ChangeRenderedRequest,
  type ChangeRequest,
  type IdsRequest,
  type Outcome,
} from '../threads/messages.js';
import { afterWrite } from './after-write.js';
import {
  assigned,
  bytesAssigned,
  bytesValues,
  checkUnique,
  columnsOf,
  insertedPaths,
  insertSql,
  touchedBy,
} from './columns.js';
import { createTable } from './ensure.js';
import { Finder } from './finder.js';
import { renderIn } from '../connection/renders.js';

const isNamed = ({ id }: Filter): boolean => typeof id === 'string';

/** The table is made when it is missing. */
export class TableWriter {
  readonly #connection: Connection;
  readonly #name: string;
  readonly #table: Table;
  readonly #finder: Finder;

  constructor(connection: Connection, name: string) {
    this.#connection = connection;
    this.#name = name;
    if (connection.table(name) === null) createTable(connection, name);
    this.#table = connection.table(name) as Table;
    this.#finder = new Finder(connection, this.#table);
  }

  insert(text: DocText): void {
    const [id, body, compressed] = text;
    const { unique, alias } = this.#table;
    const doc = this.#parsedFor(text);
    if (doc !== null) checkUnique(doc, unique);
    const columns = columnsOf(doc, insertedPaths(this.#table), alias);
    this.#run(insertSql(this.#table), [id, storedBody(text), ...bytesValues(this.#table, text), ...columns]);
    const isPart = compressed !== undefined;
    afterWrite(this.#connection, this.#table, { kind: 'inserted', id, doc, length: body.length, isPart });
  }

  /** In the place of the document with its id, whatever that holds, or as a new one. */
  put(text: DocText): void {
    const [id] = text;
    const { written, unique, behind: lagging, alias } = this.#table;
    const before = [lagging.length > 0 ? MARK : 'NULL', 'rowid', ...written.map(columnName)].join();
    const row = this.#connection.prepare(`SELECT ${before} FROM "${this.#name}" WHERE id = ?`).get([id]);
    if (row === undefined) return this.insert(text);
    const doc = this.#parsedFor(text);
    if (doc !== null) checkUnique(doc, unique);
    const [mark = null, rowid = null, ...old] = row;
    const isMarked = mark !== null;
    const after = columnsOf(doc, written, alias);
    const { text: set, values, behind } = assigned(this.#table, written, old, after, { marked: isMarked, isMarked });
    const apart = bytesValues(this.#table, text);
    const sql = `UPDATE "${this.#name}" SET body = ?${bytesAssigned(this.#table)}${set} WHERE rowid = ?`;
    this.#run(sql, [storedBody(text), ...apart, ...values, rowid]);
    afterWrite(this.#connection, this.#table, { kind: 'replaced', id, behind });
  }

  /** The document as text and whether it was created; null when none matched. */
  change(request: ChangeRequest): [body: string, created: boolean] | null {
    const { filter, update, upsert } = request;
    const found = this.#finder.first(request);
    if (found !== null) return [this.#replace(found, update, isNamed(filter)), false];
    if (upsert !== true) return null;
    if (!isNamed(filter)) throw new TypeError('an upsert names the id by equality');
    const doc = applyUpdate(seedOf(filter), update, true);
    this.insert(this.#textOf(doc));
    return [JSON.stringify(doc), true];
  }

  /**
   * The JSON of the changed document; null when none matched. An error of the function is answered as a value, because
   * the change is made all the same.
   */
  changeRendered({ rendering, ...request }: ChangeRenderedRequest): Outcome | null {
    const { module, beside: collection, context } = rendering;
    const render = renderIn(this.#connection, module);
    const found = this.#finder.first(request);
    if (found === null) return null;
    this.#replace(found, request.update, isNamed(request.filter));
    const { doc } = found;
    try {
      const other = collection === null ? null : this.#bodyOf(collection, doc.id);
      const beside = other === null ? null : parsedBody(other);
      return { value: JSON.stringify(render(doc, beside, JSON.parse(context) as Json)) };
    } catch (error) {
      return outcomeOf(error);
    }
  }

  /** Changes those of `ids` that match. */
  changeIds({ ids, filter, update = {} }: IdsRequest): number {
    const matching = ids
      .map((id) => this.#finder.byId(id))
      .filter((found): found is FoundDoc => found !== null && matches(found.doc, filter));
    // An update's arrays and objects become part of the document, so each document gets its own.
    for (const found of matching) this.#replace(found, structuredClone(update), true);
    return matching.length;
  }

  remove(filter: Filter): number {
    return this.#delete(this.#finder.where(filter));
  }

  removeIds({ ids, filter }: IdsRequest): number {
    return ids.reduce((n, id) => n + this.#delete(whereSql([{ id }, filter], currentColumns(this.#table))), 0);
  }

  #delete(where: Sql): number {
    const from = `FROM "${this.#name}" WHERE ${where.text}`;
    // Not `RETURNING`, whose text comes unchecked (../driver/strict.ts).
    const looked = this.#table.lookups.length > 0;
    const gone = looked ? this.#connection.prepare(`SELECT id ${from}`).all(where.values) : [];
    const n = this.#run(`DELETE ${from}`, where.values);
    afterWrite(this.#connection, this.#table, { kind: 'removed', ids: gone.map(([id]) => id as string) });
    return n;
  }

  /** @param isNamed the change named the document by its id */
  #replace(found: FoundDoc, update: Update, isNamed: boolean): string {
    const { rowid, doc, marked } = found;
    const { lookups, unique, alias, written, compressed } = this.#table;
    const isTouched = touchedBy(update);
    const columns = written.filter((path) => isTouched(path === ALIASED && alias !== null ? alias.path : path));
    const before = columnsOf(doc, columns, alias);
    const looked = lookups.filter(({ path }) => isTouched(path));
    const terms = termSource(doc, looked);
    // A failure from here on leaves a document that is neither the old one nor the new one.
    const kept: RecentDoc = found;
    kept.doc = null;
    applyUpdate(doc, update);
    checkUnique(doc, unique.filter(isTouched));
    const body = JSON.stringify(doc);
    const stored = compressed !== undefined ? storedBody(this.#textOf(doc)) : body;
    const isMarked = marked === this.#connection.recent.catchUps;
    const after = columnsOf(doc, columns, alias);
    const set = assigned(this.#table, columns, before, after, { marked: marked !== null, isMarked });
    const at = rowid === null ? 'id' : 'rowid';
    const sql = `UPDATE "${this.#name}" SET body = ?${set.text} WHERE ${at} = ?`;
    this.#run(sql, [stored, ...set.values, rowid ?? doc.id]);
    afterWrite(this.#connection, this.#table, {
      kind: 'changed',
      doc,
      kept,
      length: body.length,
      isNamed,
      behind: set.behind,
      isTouched,
      isFoundElsewhere: termSource(doc, looked).some((source, i) => source !== terms[i]),
    });
    return body;
  }

  /** The document of another collection. */
  #bodyOf(collection: string, id: string): string | null {
    if (this.#connection.table(collection) === null) return null;
    const [stored] = this.#connection.prepare(`SELECT body FROM "${collection}" WHERE id = ?`).get([id]) ?? [];
    return stored === undefined ? null : wholeBody(stored as string);
  }

  /** The document without its compressed fields; null where no field is indexed, and nobody has to look at it. */
  #parsedFor([, body]: DocText): Doc | null {
    return this.#table.written.length === 0 ? null : (JSON.parse(body) as Doc);
  }

  #textOf(doc: Doc): DocText {
    return textOf(doc, this.#table);
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
