/** Folded values: a document that goes from one to the other stays where it is in the indexes, and stores of before are taken in. */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '../../../../adapters/sqlite/connection/connection.js';
import type { Table } from '../../../../adapters/sqlite/connection/table.js';
import type { Value } from '../../../../adapters/sqlite/driver/driver.js';
import { aliasLabel } from '../../../../adapters/sqlite/sql/indexed-as.js';
import { planOf } from '../../../../adapters/sqlite/lookups/candidates.js';
import { findSql, performRead } from '../../../../adapters/sqlite/reading/reads.js';
import { ensureCollection } from '../../../../adapters/sqlite/writing/ensure.js';
import { catchUp } from '../../../../adapters/sqlite/indexing/catch-up.js';
import { performWrite } from '../../../../adapters/sqlite/writing/perform.js';
import type { CollectionSpec, Filter, Sort } from '../../../../ports/store.js';
import { requestOf } from '../support/request.js';

const PLAIN: CollectionSpec = {
  name: 'rows',
  indexes: [{ fields: ['status', 'at'] }, { fields: ['status', 'project', 'at'] }, { fields: ['at'] }],
};
const ALIASED: CollectionSpec = { ...PLAIN, tuning: { indexedAs: { path: 'status', value: 'taken', as: 'open' } } };
const BY_TIME: Sort = [['at', 'asc']];

for (const insertsIndexedLater of [false, true])
  describe(`sqlite, values indexed as another${insertsIndexedLater ? ', inserts indexed later' : ''}`, () => {
    let folder = '';
    let path = '';
    let connection: Connection;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'aos-fold-'));
      path = join(folder, 'aos.db');
      connection = connected();
    });
    afterEach(async () => {
      connection.close();
      await rm(folder, { recursive: true, force: true });
    });

    const connected = (): Connection => new Connection({ path, durability: 'normal' });
    const declare = (spec: CollectionSpec): void =>
      connection.transaction(() =>
        ensureCollection(connection, { ...spec, tuning: { ...spec.tuning, insertsIndexedLater } }),
      );
    const write = (kind: 'insert' | 'change', request: object, by = connection): unknown =>
      by.transaction(() => performWrite(by, requestOf(kind, 'rows', request)));
    const insert = (id: string, status: string, at: number): unknown =>
      write('insert', { id, status, project: 'p', at });
    const to = (id: string, status: string, by = connection): unknown =>
      write('change', { filter: { id }, update: { set: { status } } }, by);
    const settled = (): boolean => connection.transaction(() => catchUp(connection, 'rows', 1_000));
    const ids = (filter: Filter, by = connection): unknown =>
      performRead(by, ['ids', 'rows', JSON.stringify({ filter, sort: BY_TIME, rows: 10, after: null })]);
    const count = (filter: Filter, by = connection): unknown =>
      performRead(by, ['count', 'rows', JSON.stringify(filter)]);
    const groups = (): unknown =>
      performRead(connection, ['groupCount', 'rows', JSON.stringify({ path: 'status', filter: {} })]);
    const columns = (): Value[][] =>
      connection.prepare('SELECT id, "$.status", "$.~folded" FROM rows ORDER BY id').all([]);
    const labels = (): string[] =>
      connection.prepare(`SELECT name FROM pragma_index_list('rows') WHERE origin = 'c'`).all([]).map(String);
    const LABEL = aliasLabel('rows', { path: 'status', value: 'taken', as: 'open' });

    it('moves a document in no index over the path', () => {
      declare(ALIASED);
      insert('a', 'open', 1);
      insert('b', 'taken', 2);
      insert('c', 'done', 3);
      settled();
      expect(columns()).to.deep.equal([
        ['a', 'open', null],
        ['b', 'open', 'taken'],
        ['c', 'done', null],
      ]);
      to('a', 'taken');
      to('b', 'open');
      expect(columns()).to.deep.equal([
        ['a', 'open', 'taken'],
        ['b', 'open', null],
        ['c', 'done', null],
      ]);
      to('a', 'done');
      to('c', 'taken');
      expect(columns()).to.deep.equal([
        ['a', 'done', null],
        ['b', 'open', null],
        ['c', 'open', 'taken'],
      ]);
      expect([ids({ status: 'open' }), ids({ status: 'taken' }), ids({ status: 'done' })]).to.deep.equal([
        ['b'],
        ['c'],
        ['a'],
      ]);
    });

    it('converts an existing store once, visibly to other connections, and back when it is no longer declared', () => {
      declare(PLAIN);
      for (const [at, status] of ['open', 'taken', 'done', 'taken', 'open'].entries()) insert(`r${at}`, status, at);
      settled();
      const other = connected();
      expect(ids({ status: 'taken' }, other)).to.deep.equal(['r1', 'r3']);
      declare(ALIASED);
      expect(labels()).to.include(LABEL);
      expect(columns().map(([, status]) => status)).to.deep.equal(['open', 'open', 'done', 'open', 'open']);
      to('r0', 'taken', other);
      to('r1', 'open', other);
      for (const by of [connection, other]) {
        expect(ids({ status: 'taken' }, by)).to.deep.equal(['r0', 'r3']);
        expect(ids({ status: 'open' }, by)).to.deep.equal(['r1', 'r4']);
        expect(count({ status: 'open' }, by)).to.equal(2);
      }
      expect(groups()).to.have.deep.members([
        { key: 'open', n: 2 },
        { key: 'taken', n: 2 },
        { key: 'done', n: 1 },
      ]);
      declare(PLAIN);
      expect(labels()).not.to.include(LABEL);
      expect(columns()).to.deep.equal([
        ['r0', 'taken', null],
        ['r1', 'open', null],
        ['r2', 'done', null],
        ['r3', 'taken', null],
        ['r4', 'open', null],
      ]);
      to('r4', 'taken', other);
      expect(ids({ status: 'taken' }, other)).to.deep.equal(['r0', 'r3', 'r4']);
      other.close();
    });

    it('lists walk the index of both, the few that are folded are found by their own, and counts look into no row', () => {
      declare(ALIASED);
      for (let at = 0; at < 300; at++) insert(`r${at}`, at % 30 === 0 ? 'taken' : 'open', at);
      settled();
      connection.refresh();
      const table = connection.table('rows') as Table;
      const plan = (sql: string, values: readonly Value[]): string =>
        connection
          .prepare(`EXPLAIN QUERY PLAN ${sql}`)
          .all(values)
          .map((row) => String(row[3]))
          .join('; ');
      const { text, values } = findSql(table, { filter: { status: 'open', project: 'p' }, sort: BY_TIME }, {}, 'body');
      expect(plan(text, [...values, 51]))
        .to.match(/^SEARCH rows USING INDEX \S*status,project,at /)
        .and.not.include('TEMP B-TREE');
      expect(planOf(table, { status: 'taken', project: 'p' }, BY_TIME)?.ways.indexed).to.deep.include(['~folded']);
      const asked: string[] = [];
      const prepare = connection.prepare.bind(connection);
      connection.prepare = (sql) => {
        asked.push(sql);
        return prepare(sql);
      };
      expect(count({ status: 'open', project: 'p' })).to.equal(290);
      const counts = asked.filter((sql) => sql.startsWith('SELECT count(*)'));
      expect(counts).to.have.length(2);
      expect(plan(counts[0] as string, ['open', 'p'])).to.match(/COVERING INDEX/);
      expect(plan(counts[1] as string, ['p', 'taken'])).to.include(`USING INDEX ${LABEL}`);
    });

    it('rejects values that cannot be indexed as another', () => {
      for (const indexedAs of [
        { path: 'status', value: 'open', as: 'open' },
        { path: 'status', value: "o'pen", as: 'open' },
        { path: 'nowhere', value: 'taken', as: 'open' },
      ])
        expect(() => declare({ ...ALIASED, tuning: { indexedAs } })).to.throw(TypeError);
    });
  });
