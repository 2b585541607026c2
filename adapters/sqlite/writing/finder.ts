/** Finds the document that a change is for: among those that are known already, and in the file. */
import { matches } from '../../../ports/document.js';
import type { Filter, Sort } from '../../../ports/store.js';
import { parsedBody, wholeBody } from '../body/stored-body.js';
import type { Connection } from '../connection/connection.js';
import type { Table } from '../connection/table.js';
import type { Value } from '../driver/driver.js';
import { ALL, catchUp, currentColumns, indexedWhere, isBehind } from '../indexing/catch-up.js';
import { readAheadQuery, type FoundDoc, type ReadAheadQuery, type ReadAheadRow } from '../kept/read-ahead.js';
import { candidatesOf, fromCandidates, planOf } from '../lookups/candidates.js';
import { MARK } from '../schema/mark.js';
import { orderSql, whereSql, type Sql } from '../sql/translate.js';

export class Finder {
  readonly #connection: Connection;
  readonly #table: Table;

  constructor(connection: Connection, table: Table) {
    this.#connection = connection;
    this.#table = table;
  }

  /** The first one in the order of `sort`; by its id there is one at most. Null: none matches. */
  first({ filter, sort }: { filter: Filter; sort?: Sort }): FoundDoc | null {
    const id = filter['id'];
    if (typeof id !== 'string') return this.#inOrder(filter, sort);
    const found = this.byId(id);
    return found !== null && matches(found.doc, filter) ? found : null;
  }

  byId(id: string): FoundDoc | null {
    const { name } = this.#table;
    const recent = this.#connection.recent.get(name, id);
    if (recent !== undefined && recent.doc !== null) return recent as FoundDoc;
    const row = this.#connection.prepare(`SELECT ${this.#row} FROM "${name}" WHERE id = ?`).get([id]);
    return row === undefined ? null : this.#parsed(row);
  }

  /** For one document by its id later columns are not read; for the others all rows catch up first. */
  where(filter: Filter, sort?: Sort, aside?: ReadonlySet<string>): Sql {
    const { name } = this.#table;
    if (typeof filter['id'] === 'string') return whereSql([filter], currentColumns(this.#table));
    if (isBehind(this.#connection, name, filter, sort)) catchUp(this.#connection, name, ALL);
    return indexedWhere(this.#table, [filter], sort, aside);
  }

  #inOrder(filter: Filter, sort?: Sort): FoundDoc | null {
    const { name, columns } = this.#table;
    const asked = readAheadQuery(this.#table, filter, sort);
    const known = asked === null ? undefined : this.#connection.readAhead.first(asked);
    if (known !== undefined) return known;
    const plan = planOf(this.#table, filter, sort ?? []);
    const few = plan && candidatesOf(this.#connection, this.#table, plan);
    const aside = few === null ? plan?.aside : undefined;
    const next = few === null && asked !== null ? this.#readAhead(asked, aside) : undefined;
    if (next !== undefined) return next;
    const from = few === null ? { text: `FROM "${name}"`, values: [] } : fromCandidates(name, few);
    const where = this.where(filter, sort, aside);
    const sql = `SELECT ${this.#row} ${from.text} WHERE ${where.text} ORDER BY ${orderSql(sort, columns)} LIMIT 1`;
    const row = this.#connection.prepare(sql).get([...from.values, ...where.values]);
    return row === undefined ? null : this.#parsed(row);
  }

  /** As `ReadAhead.first` answers, of rows that are read now. */
  #readAhead(asked: ReadAheadQuery, aside?: ReadonlySet<string>): FoundDoc | null | undefined {
    const { readAhead } = this.#connection;
    const { name, columns } = this.#table;
    const most = readAhead.wanted(asked);
    if (most === 0) return undefined;
    const where = this.where(asked.filter, asked.sort, aside);
    const order = orderSql(asked.sort, columns);
    const sql = `SELECT id, ${this.#row} FROM "${name}" WHERE ${where.text} ORDER BY ${order} LIMIT ?`;
    const rows = this.#connection.prepare(sql).all([...where.values, most]);
    readAhead.read(
      asked,
      name,
      rows.map((row) => this.#aheadRow(row)),
      most,
    );
    return readAhead.first(asked);
  }

  #aheadRow([id, ...row]: Value[]): ReadAheadRow {
    const { catchUps } = this.#connection.recent;
    let found: FoundDoc | null = null;
    return {
      id: id as string,
      found: () => (found ??= this.#parsed(row, catchUps)),
    };
  }

  /** @param catchUps `Recent.catchUps` when the row was read */
  #parsed([rowid, body, mark]: Value[], catchUps = this.#connection.recent.catchUps): FoundDoc {
    const marked = mark === null || mark === undefined ? null : catchUps;
    const whole = wholeBody(body as string);
    return { rowid: rowid as number, doc: parsedBody(whole), length: whole.length, marked };
  }

  /** A row, as `#parsed` takes it. */
  get #row(): string {
    return this.#table.behind.length > 0 ? `rowid, body, ${MARK}` : 'rowid, body';
  }
}
