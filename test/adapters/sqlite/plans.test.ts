/**
 * That hot look-ups, sorts and keyset pages are index look-ups: the plans SQLite makes for our
 * statements.
 */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '../../../adapters/sqlite/connection/connection.js';
import type { Table } from '../../../adapters/sqlite/connection/table.js';
import { buildFindSql } from '../../../adapters/sqlite/reading/read-requests.js';
import { ensureCollection } from '../../../adapters/sqlite/writing/ensure-collection.js';
import { buildWhereSql } from '../../../adapters/sqlite/sql/translate.js';
import { performWrite } from '../../../adapters/sqlite/writing/write-requests.js';
import { toAfterFilters } from '../../../ports/cursor.js';
import type { Filter, Sort } from '../../../ports/store/index.js';
import { requestOf } from './support/request.js';

describe('sqlite: query plans', () => {
  let folder = '';
  let connection: Connection;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-plans-'));
    connection = new Connection({ path: join(folder, 'aos.db'), durability: 'normal' });
    connection.runTransaction(() => {
      ensureCollection(connection, {
        name: 'items',
        indexes: [
          { fields: ['project', 'state', 'at'] },
          { fields: ['at'] },
          { fields: ['ref'], unique: true },
          { fields: ['claim.expires_at'] },
        ],
      });
      for (let i = 0; i < 300; i++) {
        const doc = { id: `i${i}`, project: `p${i % 3}`, state: i % 2 ? 'open' : 'done', at: i % 50, ref: `r${i}` };
        performWrite(connection, requestOf('insert', 'items', doc));
      }
    });
    connection.refreshSchema();
  });
  after(async () => {
    connection.close();
    await rm(folder, { recursive: true, force: true });
  });

  const table = (): Table => connection.getTable('items') as Table;
  const columns = () => table().columns;
  const plan = (sql: string, values: readonly (string | number | null | Uint8Array)[]): string =>
    connection
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(values)
      .map((row) => String(row[3]))
      .join('; ');
  const planOf = (filter: Filter, sort: Sort, stretch: Filter = {}): string => {
    const sql = buildFindSql(table(), { filter, sort }, stretch, 'body');
    return plan(sql.text, [...sql.values, 51]);
  };
  const byIndex = (text: string): void => {
    expect(text).to.match(/^SEARCH items USING (COVERING )?INDEX [^;]*\)$/);
  };

  it('use indexes for lookups by id, by a unique field and by a nested field', () => {
    byIndex(planOf({ id: 'i1' }, []));
    expect(planOf({ ref: 'r1' }, [])).to.match(/^SEARCH items USING INDEX items:unique:ref/);
    expect(planOf({ ref: { in: ['r1', 'r2'] } }, [])).to.include('SEARCH items USING INDEX items:unique:ref');
    byIndex(planOf({ 'claim.expires_at': { lte: '2026' } }, [['claim.expires_at', 'asc']]));
    byIndex(planOf({ ref: { prefix: 'r1' } }, [['ref', 'asc']]).replace(/; USE TEMP B-TREE FOR.*/, ''));
  });

  it('need no sorting for a filter and sort on the same index, in both directions', () => {
    for (const order of ['asc', 'desc'] as const) {
      byIndex(planOf({ project: 'p1', state: 'open' }, [['at', order]]));
      expect(planOf({}, [['at', order]])).to.match(/^SCAN items USING INDEX items:at$/);
    }
  });

  it('seek an index for every range of a keyset page', () => {
    const sorts: Sort[] = [[['at', 'asc']], [['at', 'desc']]];
    for (const sort of sorts) {
      for (const value of [7, null]) {
        for (const stretch of toAfterFilters(sort, [value, 'i5'])) {
          byIndex(planOf({}, sort, stretch));
          byIndex(planOf({ project: 'p1', state: 'open' }, sort, stretch));
        }
      }
    }
  });

  it('read only the index for counts and groups', () => {
    const where = buildWhereSql([{ project: 'p1', state: 'open' }], columns());
    expect(plan(`SELECT count(*) FROM items WHERE ${where.text}`, where.values)).to.match(
      /^SEARCH items USING COVERING INDEX/,
    );
    const group = buildWhereSql([{ project: 'p1' }], columns());
    const sql = `SELECT "$.state", count(*) FROM items WHERE ${group.text} GROUP BY 1`;
    expect(plan(sql, group.values)).to.match(/^SEARCH items USING COVERING INDEX [^;]*$/);
  });

  it('never make operands part of a statement', () => {
    const hostile = `'); DROP TABLE items; --`;
    const filter: Filter = {
      project: hostile,
      state: { in: [hostile], prefix: hostile, contains: hostile, ne: hostile, gt: hostile },
      tags: { has: hostile },
    };
    const sql = buildWhereSql([filter, { or: [{ at: hostile }] }], columns());
    expect(sql.text).to.not.include('DROP');
    expect(sql.values.filter((value) => value === hostile)).to.have.length.at.least(8);
  });

  it('use few distinct statements for many different lists', () => {
    const texts = new Set(
      Array.from(
        { length: 500 },
        (_, i) => buildWhereSql([{ ref: { in: Array.from({ length: i + 1 }, (_n, k) => `r${k}`) } }], columns()).text,
      ),
    );
    expect(texts.size).to.be.at.most(8);
  });
});
