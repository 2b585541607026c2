/** Which way a find goes, and what the side tables hold. */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '../../../adapters/sqlite/connection/connection.js';
import type { Table } from '../../../adapters/sqlite/connection/table.js';
import { buildCountFrom, findFewRows, chooseWalk } from '../../../adapters/sqlite/reading/query-plan.js';
import { buildFindSql, performRead } from '../../../adapters/sqlite/reading/read-requests.js';
import { ensureCollection } from '../../../adapters/sqlite/writing/ensure-collection.js';
import { performWrite } from '../../../adapters/sqlite/writing/write-requests.js';
import type { CollectionSpec, Filter, Sort } from '../../../ports/store/index.js';
import { requestOf } from './support/request.js';

const SPEC: CollectionSpec = {
  name: 'rows',
  indexes: [
    { fields: ['at'] },
    { fields: ['made'] },
    { fields: ['state', 'at'] },
    { fields: ['state', 'owner', 'at'] },
    { fields: ['ref'], unique: true },
  ],
  values: ['tags', 'due'],
  search: ['text'],
};
const BY_AT: Sort = [['at', 'desc']];
const BY_MADE: Sort = [['made', 'desc']];

describe('sqlite: choosing a query plan by selectivity', function () {
  let folder = '';
  let connection: Connection;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-few-'));
    connection = new Connection({ path: join(folder, 'aos.db'), durability: 'normal' });
    connection.runTransaction(() => ensureCollection(connection, SPEC));
  });
  afterEach(async () => {
    connection.close();
    await rm(folder, { recursive: true, force: true });
  });

  const write = (kind: 'insert' | 'change' | 'remove' | 'put', request: object): unknown =>
    connection.runTransaction(() => performWrite(connection, requestOf(kind, 'rows', request)));
  const insertAll = (n: number, docOf: (i: number) => object): void =>
    connection.runTransaction(() => {
      for (let i = 0; i < n; i++) performWrite(connection, requestOf('insert', 'rows', { id: `r${i}`, ...docOf(i) }));
    });
  const table = (): Table => connection.getTable('rows') as Table;
  const few = (filter: Filter, sort: Sort = BY_AT): string[] | null => {
    connection.refreshSchema();
    const rows = findFewRows(connection, table(), filter, sort);
    const id = connection.prepare('SELECT id FROM rows WHERE n = ?');
    return rows && rows.map((row) => String(id.get([row])?.[0]));
  };
  const found = (filter: Filter, sort: Sort = BY_AT): unknown =>
    performRead(connection, ['ids', 'rows', JSON.stringify({ filter, sort, rows: 10, after: null })]);
  const held = (): unknown => connection.prepare('SELECT path, value, n FROM "rows:values" ORDER BY 1, 2, 3').all([]);

  it('count documents with given ids by their ids, not by walking an index', () => {
    const table = connection.getTable('rows') as Table;
    expect(buildCountFrom(table, { id: { in: ['a', 'b'] } }, null)).to.equal('FROM "rows"');
    expect(buildCountFrom(table, { at: 'x' }, null)).to.contain('INDEXED BY');
  });

  it('uses the index for few documents with a value or text, and scans for many', () => {
    insertAll(700, (i) => ({ at: i, made: i, text: `failure ${i}`, tags: i % 100 === 0 ? ['rare', 'x'] : ['x'] }));
    expect(few({ tags: { has: 'rare' } })).to.have.length(7);
    expect(few({ tags: { has: 'x' } })).to.equal(null);
    expect(few({ text: { contains: 'ure 699' } })).to.deep.equal(['r699']);
    expect(few({ text: { contains: 'failure' } })).to.equal(null);
    expect(few({ text: { contains: 'fa' } })).to.equal(null);
    expect(found({ text: { contains: 'failure' } })).to.have.length(10);
    expect(found({ text: { contains: 'ure 699' }, tags: { has: 'rare' } })).to.deep.equal([]);
  });

  it('indexes the current distinct values of a document, and none of a deleted document', () => {
    const rows = { a: 1, b: 2 };
    write('insert', { id: 'a', at: 1, text: 'text of a', tags: ['x', 'y', 'x', null], due: null });
    write('insert', { id: 'b', at: 1, text: 'text of b', tags: [] });
    expect(held()).to.deep.equal([
      ['tags', 'x', rows.a],
      ['tags', 'y', rows.a],
    ]);
    write('change', {
      filter: { id: 'a' },
      update: { inc: { at: 1 }, set: { text: 'needle', tags: ['y'], due: 'd' } },
    });
    expect(few({ text: { contains: 'needle' } })).to.deep.equal(['a']);
    expect(few({ text: { contains: 'text of a' } })).to.deep.equal([]);
    expect(held()).to.deep.equal([
      ['due', 'd', rows.a],
      ['tags', 'y', rows.a],
    ]);
    write('put', { id: 'b', at: 1, text: 'put', tags: ['y'] });
    write('remove', { id: 'a' });
    expect(held()).to.deep.equal([['tags', 'y', rows.b]]);
    expect(few({ text: { contains: 'needle' } })).to.deep.equal([]);
    expect(few({ text: { contains: 'put' } })).to.deep.equal(['b']);
  });

  it('uses another index for few documents, and scans in sort order for many', () => {
    insertAll(3_000, (i) => {
      const state = i % 300 === 0 ? 'rare' : 'usual';
      return { at: i, made: -i, state, owner: `o${i % 3}`, ref: `ref-${i}`, tags: [], text: '' };
    });
    expect(few({ state: 'rare' }, BY_MADE)).to.have.length(10);
    expect(few({ state: { in: ['rare', 'none'] } }, BY_MADE)).to.have.length(10);
    expect(few({ state: 'rare', owner: 'o0' }, BY_MADE)).to.have.length(10);
    expect(few({ state: 'usual', at: { gte: 2_995 } }, BY_MADE)).to.have.length(5);
    expect(few({ state: 'usual' }, BY_MADE)).to.equal(null);
    expect(found({ state: 'usual' }, BY_MADE)).to.have.property('0', 'r1');
    // The index of the order narrows as much.
    expect(few({ state: 'rare' }, BY_AT)).to.equal(null);
    const either = { or: [{ text: { contains: 'nowhere' } }, { ref: 'ref-7' }, { id: { in: ['r9', 'none'] } }] };
    expect(few(either)).to.have.members(['r7', 'r9']);
    expect(found(either)).to.deep.equal(['r9', 'r7']);
    expect(performRead(connection, ['count', 'rows', JSON.stringify(either)])).to.equal(2);
    expect(few({ or: [{ ref: 'ref-7' }, { nothing: 1 }] })).to.equal(null);
  });

  it('scans many documents with an indexed value in the order of that value', () => {
    insertAll(1_200, (i) => ({ due: `2026-${String(i % 700).padStart(4, '0')}`, tags: [] }));
    const [filter, sort]: [Filter, Sort] = [{ due: { gt: '' } }, [['due', 'asc']]];
    expect(few(filter, sort)).to.equal(null);
    const { text, values } = buildFindSql(table(), { filter, sort }, {}, 'id');
    const plan = connection.prepare(`EXPLAIN QUERY PLAN ${text}`).all([...values, 10]);
    expect(plan.map((row) => String(row[3])).join('; '))
      .to.match(/^SEARCH v USING PRIMARY KEY \(path=\?/)
      .and.not.match(/TEMP B-TREE FOR ORDER BY/);
    expect(found(filter, sort)).to.have.members(['r0', 'r700', 'r1', 'r701', 'r2', 'r702', 'r3', 'r703', 'r4', 'r704']);
  });

  it('changes the first of many documents by the index of the sort order', () => {
    insertAll(2_000, (i) => ({ at: i, made: i, state: 'usual' }));
    expect(chooseWalk(table(), { state: 'usual' }, BY_MADE).from).to.equal('FROM "rows" INDEXED BY "rows:made"');
    const [body] = write('change', { filter: { state: 'usual' }, update: { set: { first: true } }, sort: BY_MADE }) as [
      string,
    ];
    expect(JSON.parse(body)).to.include({ id: 'r1999', first: true });
  });
});
