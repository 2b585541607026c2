/** Look-ups: what their tables hold, which way a find goes, and documents that are taken in by steps. */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { candidatesOf, planOf } from '../../../../adapters/sqlite/lookups/candidates.js';
import { Connection } from '../../../../adapters/sqlite/connection/connection.js';
import type { Table } from '../../../../adapters/sqlite/connection/table.js';
import { takeIn } from '../../../../adapters/sqlite/lookups/lookups.js';
import { performRead } from '../../../../adapters/sqlite/reading/reads.js';
import { ensureCollection } from '../../../../adapters/sqlite/writing/ensure.js';
import { performWrite } from '../../../../adapters/sqlite/writing/perform.js';
import type { CollectionSpec, Filter, Sort } from '../../../../ports/store.js';
import { requestOf } from '../support/request.js';

const SPEC: CollectionSpec = {
  name: 'rows',
  indexes: [
    { fields: ['at'] },
    { fields: ['made'] },
    { fields: ['state', 'at'] },
    { fields: ['state', 'owner', 'at'] },
    { fields: ['ref'], unique: true },
    { fields: ['seen'] },
  ],
  tuning: { indexedLater: ['seen'] },
  lookups: [
    { path: 'text', by: 'text' },
    { path: 'tags', by: 'value' },
  ],
};
const BY_AT: Sort = [['at', 'desc']];
const BY_MADE: Sort = [['made', 'desc']];

describe('sqlite, look-ups', function () {
  let folder = '';
  let path = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-lookups-'));
    path = join(folder, 'aos.db');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const connected = (): Connection => {
    const connection = new Connection({ path, durability: 'normal' });
    connection.transaction(() => ensureCollection(connection, SPEC));
    return connection;
  };
  const write = (connection: Connection, kind: 'insert' | 'change' | 'remove', request: object): unknown =>
    connection.transaction(() => performWrite(connection, requestOf(kind, 'rows', request)));
  const allIn = (connection: Connection): void => {
    while (connection.transaction(() => takeIn(connection, 'rows')) !== null);
  };
  const tableOf = (connection: Connection): Table => connection.table('rows') as Table;
  const candidates = (connection: Connection, filter: Filter, sort: Sort = BY_AT): string[] | null => {
    const plan = planOf(tableOf(connection), filter, sort);
    const rows = plan && candidatesOf(connection, tableOf(connection), plan);
    const id = connection.prepare('SELECT id FROM rows WHERE rowid = ?');
    return rows && rows.map((row) => String(id.get([row])?.[0]));
  };
  const found = (connection: Connection, filter: Filter, sort: Sort = BY_AT): unknown =>
    performRead(connection, ['ids', 'rows', JSON.stringify({ filter, sort, rows: 10, after: null })]);
  const held = (connection: Connection): unknown[] =>
    ['fresh', 'numbers'].map((table) => connection.prepare(`SELECT count(*) FROM "rows:${table}"`).get([])?.[0]);

  it('notes only the document in a write; it is found immediately, and indexed later', () => {
    const connection = connected();
    for (let i = 0; i < 700; i++) {
      const doc = { id: `r${i}`, at: i, made: i, text: `failure ${i}`, tags: i % 100 === 0 ? ['rare'] : [] };
      write(connection, 'insert', doc);
    }
    expect(held(connection)).to.deep.equal([700, 0]);
    // More is noted than is worth a look: the walk answers.
    expect(candidates(connection, { tags: { has: 'rare' } })).to.equal(null);
    expect(found(connection, { text: { contains: 'ure 699' } })).to.deep.equal(['r699']);
    allIn(connection);
    expect(held(connection)).to.deep.equal([0, 700]);
    expect(candidates(connection, { tags: { has: 'rare' } })).to.have.length(7);
    expect(candidates(connection, { text: { contains: 'ure 699' } })).to.deep.equal(['r699']);
    expect(candidates(connection, { text: { contains: 'ure 699' }, tags: { has: 'rare' } })).to.deep.equal([]);
    expect(candidates(connection, { text: { contains: 'failure' } })).to.equal(null);
    expect(found(connection, { text: { contains: 'failure' } })).to.have.length(10);
    connection.close();
  });

  it('notes a change, a removal and a return, and no change of other fields', () => {
    const connection = connected();
    for (const id of ['a', 'b']) write(connection, 'insert', { id, at: 1, text: `text ${id}`, tags: ['x'] });
    allIn(connection);
    write(connection, 'change', { filter: { id: 'a' }, update: { inc: { at: 1 }, set: { tags: ['x'], seen: 5 } } });
    expect(held(connection)).to.deep.equal([0, 2]);
    write(connection, 'change', { filter: { id: 'a' }, update: { set: { text: 'needle' } } });
    expect(held(connection)).to.deep.equal([1, 2]);
    expect(found(connection, { text: { contains: 'needle' } })).to.deep.equal(['a']);
    expect(found(connection, { text: { contains: 'text a' } })).to.deep.equal([]);
    write(connection, 'remove', { id: 'b' });
    write(connection, 'remove', { tags: { has: 'none' } });
    allIn(connection);
    expect(held(connection)).to.deep.equal([0, 1]);
    expect(candidates(connection, { text: { contains: 'needle' } })).to.deep.equal(['a']);
    expect(candidates(connection, { text: { contains: 'text a' } })).to.deep.equal([]);
    write(connection, 'insert', { id: 'b', at: 1, text: 'again', tags: [] });
    expect(found(connection, { text: { contains: 'again' } })).to.deep.equal(['b']);
    allIn(connection);
    expect(found(connection, { text: { contains: 'again' } })).to.deep.equal(['b']);
    connection.close();
  });

  it('look up few documents in any order, and walk many in the order', () => {
    const connection = connected();
    connection.transaction(() => {
      for (let i = 0; i < 3_000; i++) {
        const state = i % 300 === 0 ? 'rare' : 'usual';
        const doc = { id: `r${i}`, at: i, made: -i, seen: i, state, owner: `o${i % 3}`, ref: `ref-${i}`, tags: [] };
        performWrite(connection, requestOf('insert', 'rows', doc));
      }
    });
    allIn(connection);
    expect(candidates(connection, { state: 'rare' }, BY_MADE)).to.have.length(10);
    expect(found(connection, { state: 'rare' }, BY_MADE)).to.deep.include('r0');
    expect(candidates(connection, { state: { in: ['rare', 'none'] } }, BY_MADE)).to.have.length(10);
    expect(candidates(connection, { state: 'rare', owner: 'o0' }, [['seen', 'asc']])).to.have.length(10);
    expect(candidates(connection, { state: 'usual', at: { gte: 2_995 } }, BY_MADE)).to.have.length(5);
    expect(candidates(connection, { state: 'usual' }, BY_MADE)).to.equal(null);
    const table = tableOf(connection);
    for (const [filter, sort] of [
      [{}, BY_AT],
      [{ state: 'rare' }, BY_AT],
      [{ state: 'rare', at: { gt: 5 } }, BY_AT],
      [{ id: 'r1', state: 'rare' }, BY_MADE],
      [{ state: 'rare' }, []],
      [{ state: null }, BY_MADE],
      [{ seen: { gt: 5 } }, BY_MADE],
      [{ nothing: 1 }, BY_MADE],
    ] as [Filter, Sort][])
      expect(planOf(table, filter, sort), JSON.stringify([filter, sort])).to.equal(null);
    // Alternatives, each by what it has.
    const either = { or: [{ text: { contains: 'nowhere' } }, { ref: 'ref-7' }] };
    expect(candidates(connection, either)).to.deep.equal(['r7']);
    expect(found(connection, either)).to.deep.equal(['r7']);
    expect(performRead(connection, ['count', 'rows', JSON.stringify(either)])).to.equal(1);
    expect(candidates(connection, { or: [{ ref: 'ref-7' }, { nothing: 1 }] })).to.equal(null);
    connection.close();
  });

  it('does not sort all documents of a frequent status', () => {
    const connection = connected();
    connection.transaction(() => {
      for (let i = 0; i < 2_000; i++)
        performWrite(connection, requestOf('insert', 'rows', { id: `r${i}`, at: i, made: i, state: 'usual' }));
    });
    const table = tableOf(connection);
    const plan = planOf(table, { state: 'usual' }, BY_MADE);
    expect(plan?.aside).to.deep.equal(new Set(['state']));
    expect(found(connection, { state: 'usual' }, BY_MADE)).to.have.property('0', 'r1999');
    // The same for a change of the first one.
    const asked: string[] = [];
    const prepare = connection.prepare.bind(connection);
    connection.prepare = (sql) => (asked.push(sql), prepare(sql));
    write(connection, 'change', { filter: { state: 'usual' }, update: { set: { first: true } }, sort: BY_MADE });
    connection.prepare = prepare;
    const change = asked.find((sql) => sql.includes('ORDER BY')) ?? '';
    const rows = connection.prepare(`EXPLAIN QUERY PLAN ${change}`).all(['usual']);
    expect(rows.map((row) => String(row[3])).join('; ')).to.match(/^SCAN rows USING INDEX rows:made$/);
    connection.close();
  });
});
