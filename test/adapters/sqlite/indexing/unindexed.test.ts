/** Inserts that are indexed later: such a row is in the unique indexes alone until they catch up, and every read sees it at once. */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '../../../../adapters/sqlite/connection/connection.js';
import type { Value } from '../../../../adapters/sqlite/driver/driver.js';
import { buildSome } from '../../../../adapters/sqlite/indexing/building.js';
import { performRead } from '../../../../adapters/sqlite/reading/reads.js';
import { ensureCollection } from '../../../../adapters/sqlite/writing/ensure.js';
import { BackgroundWork } from '../../../../adapters/sqlite/writing/background.js';
import { catchUp } from '../../../../adapters/sqlite/indexing/catch-up.js';
import { performWrite } from '../../../../adapters/sqlite/writing/perform.js';
import { StoreConflict, type CollectionSpec, type Filter, type Sort } from '../../../../ports/store.js';
import { requestOf } from '../support/request.js';

const SPEC: CollectionSpec = {
  name: 'rows',
  indexes: [{ fields: ['ref'], unique: true }, { fields: ['at'] }, { fields: ['kind', 'at'] }, { fields: ['owner'] }],
  tuning: { sparse: ['owner'], indexedLater: ['at'], insertsIndexedLater: true },
  lookups: [{ path: 'kind', by: 'value' }],
};
const AT_ONCE = { ...SPEC, tuning: { ...SPEC.tuning, insertsIndexedLater: false } };
const LARGE = 10_500;

describe('sqlite, inserts that are indexed later', () => {
  let folder = '';
  let path = '';
  let connection: Connection;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-pending-'));
    path = join(folder, 'aos.db');
    connection = connected();
    declare(SPEC);
  });
  afterEach(async () => {
    connection.close();
    await rm(folder, { recursive: true, force: true });
  });

  const connected = (): Connection => new Connection({ path, durability: 'normal' });
  const declare = (spec: CollectionSpec): void => connection.transaction(() => ensureCollection(connection, spec));
  const write = (kind: 'insert' | 'put' | 'change' | 'remove', request: object): unknown =>
    connection.transaction(() => performWrite(connection, requestOf(kind, 'rows', request)));
  const insert = (id: string, at: number, more: object = {}): unknown =>
    write('insert', { id, ref: `ref-${id}`, kind: 'a', at, ...more });
  const caughtUp = (): boolean => connection.transaction(() => catchUp(connection, 'rows', 1_000));
  const find = (filter: Filter, sort: Sort = [['at', 'asc']], by = connection): unknown =>
    performRead(by, ['ids', 'rows', JSON.stringify({ filter, sort, rows: 10, after: null })]);
  const count = (filter: Filter, by = connection): unknown =>
    performRead(by, ['count', 'rows', JSON.stringify(filter)]);
  const groups = (at: string): unknown =>
    performRead(connection, ['groupCount', 'rows', JSON.stringify({ path: at, filter: {} })]);
  const columns = (): Value[][] =>
    connection
      .prepare('SELECT id, "$.ref", "$.kind", "$.at", "$.owner", "~", "~pending" FROM rows ORDER BY id')
      .all([]);
  const entries = (index: string): unknown =>
    connection.prepare(`SELECT count(*) FROM rows INDEXED BY "${index}" WHERE "~pending" IS NULL`).get([])?.[0];
  const indexes = (): string[] =>
    connection.prepare(`SELECT name FROM pragma_index_list('rows') WHERE origin = 'c' ORDER BY 1`).all([]).map(String);

  it('join the indexes later, and reads see them before', () => {
    insert('a', 1);
    insert('b', 2, { owner: 'me' });
    expect(columns()).to.deep.equal([
      ['a', 'ref-a', null, null, null, 2, 1],
      ['b', 'ref-b', null, null, null, 2, 1],
    ]);
    expect(entries('rows:settled:kind,at')).to.equal(0);
    const holds = (): void => {
      expect(find({ kind: 'a' }, [['at', 'desc']])).to.deep.equal(['b', 'a']);
      expect(find({})).to.deep.equal(['a', 'b']);
      expect(find({ ref: 'ref-b' })).to.deep.equal(['b']);
      expect(find({ owner: { exists: true } })).to.deep.equal(['b']);
      expect(find({ or: [{ owner: 'me' }, { at: 7 }] })).to.deep.equal(['b']);
      expect(count({})).to.equal(2);
      expect(count({ at: { gt: 1 } })).to.equal(1);
      expect(groups('kind')).to.deep.equal([{ key: 'a', n: 2 }]);
      expect(groups('owner')).to.have.deep.members([
        { key: null, n: 1 },
        { key: 'me', n: 1 },
      ]);
    };
    holds();
    expect(caughtUp()).to.equal(false);
    expect(columns()).to.deep.equal([
      ['a', 'ref-a', 'a', 1, null, null, null],
      ['b', 'ref-b', 'a', 2, 'me', null, null],
    ]);
    expect(entries('rows:settled:kind,at')).to.equal(2);
    holds();
  });

  it('are counted once among settled and changed rows', () => {
    for (const [i, id] of ['a', 'b', 'c'].entries()) insert(id, i);
    caughtUp();
    write('change', { filter: { id: 'b' }, update: { set: { at: 9 } } });
    insert('d', 5);
    expect(find({ kind: 'a' })).to.deep.equal(['a', 'c', 'd', 'b']);
    expect(find({ kind: 'a', at: { gt: 1, lt: 9 } })).to.deep.equal(['c', 'd']);
    expect([count({ kind: 'a' }), count({ at: { gte: 5 } }), count({ at: 1 })]).to.deep.equal([4, 2, 0]);
    expect(groups('kind')).to.deep.equal([{ key: 'a', n: 4 }]);
  });

  it('are settled in their current state when they are changed, put or removed before', () => {
    for (const [i, id] of ['a', 'b', 'c'].entries()) insert(id, i, { owner: 'me' });
    write('change', { filter: { id: 'a' }, update: { set: { at: 8, owner: null } } });
    write('put', { id: 'b', ref: 'ref-b', kind: 'b', at: 3 });
    write('remove', { id: 'c', kind: 'a' });
    // What is known of them is forgotten, as another process's commit makes it be.
    connection.recent.clear();
    write('change', { filter: { id: 'a' }, update: { inc: { at: 1 } } });
    expect(find({ at: { gt: 0 } })).to.deep.equal(['b', 'a']);
    expect(find({ owner: 'me' })).to.deep.equal([]);
    expect(columns().map((row) => row.slice(-2))).to.deep.equal([
      [2, 1],
      [2, 1],
    ]);
    caughtUp();
    expect(columns()).to.deep.equal([
      ['a', 'ref-a', 'a', 9, null, null, null],
      ['b', 'ref-b', 'b', 3, null, null, null],
    ]);
  });

  it('are settled before a change that searches for its document', () => {
    insert('a', 1);
    insert('b', 2);
    expect(write('change', { filter: { kind: 'a' }, update: { set: { kind: 'b' } }, sort: [['at', 'desc']] }))
      .to.be.an('array')
      .with.property('0')
      .that.includes('"id":"b"');
    expect(columns().map(([id, , kind]) => [id, kind])).to.deep.equal([
      ['a', 'a'],
      ['b', 'b'],
    ]);
  });

  it('reject a duplicate unique value immediately', () => {
    insert('a', 1);
    expect(() => insert('b', 2, { ref: 'ref-a' })).to.throw(StoreConflict);
  });

  it('apply a new unique path to rows that are not indexed yet', () => {
    insert('a', 1);
    insert('b', 1);
    const tuning = { insertsIndexedLater: true };
    const unique = { ...SPEC, tuning, indexes: [...SPEC.indexes, { fields: ['owner'], unique: true }] };
    declare(unique);
    write('change', { filter: { id: 'a' }, update: { set: { owner: 'me' } } });
    expect(() => insert('c', 3, { owner: 'me' })).to.throw(StoreConflict);
    expect(() => {
      declare({ ...unique, indexes: [...unique.indexes, { fields: ['kind'], unique: true }] });
    }).to.throw(StoreConflict);
  });

  it('are read correctly after a kill, and indexed by the next process', () => {
    insert('a', 1);
    const reader = connected();
    expect([find({ kind: 'a' }, [], reader), count({ at: 1 }, reader)]).to.deep.equal([['a'], 1]);
    reader.close();
    // This connection had no `BackgroundWork`.
    connection.close();
    connection = connected();
    new BackgroundWork(connection).end();
    expect(columns()).to.deep.equal([['a', 'ref-a', 'a', 1, null, null, null]]);
  });

  it('start and stop in a small collection with documents', () => {
    insert('a', 1);
    declare(AT_ONCE);
    expect(columns()).to.deep.equal([['a', 'ref-a', 'a', 1, null, null, null]]);
    expect(indexes()).to.deep.equal([
      'rows:at',
      'rows:kind,at',
      'rows:sparse:owner',
      'rows:unique:ref',
      'rows:unsettled:at',
    ]);
    insert('b', 2);
    expect(columns()[1]).to.deep.equal(['b', 'ref-b', 'a', 2, null, null, null]);
    declare(SPEC);
    insert('c', 3);
    expect(columns()[2]).to.deep.equal(['c', 'ref-c', null, null, null, 2, 1]);
    expect(indexes()).to.deep.equal([
      'rows:pending:at',
      'rows:settled:at',
      'rows:settled:kind,at',
      'rows:sparse:owner',
      'rows:unique:ref',
    ]);
    expect(find({ kind: 'a' })).to.deep.equal(['a', 'b', 'c']);
  });

  it('start in a large collection in use, whose index stays until its replacement is complete', function () {
    declare(AT_ONCE);
    connection.transaction(() => {
      for (let i = 0; i < LARGE; i++)
        performWrite(connection, requestOf('insert', 'rows', { id: `r${i}`, ref: `r${i}`, kind: `k${i % 7}`, at: i }));
    });
    declare(SPEC);
    const holds = (): void => {
      expect(find({ kind: 'new' })).to.deep.equal(['a']);
      expect(find({ at: { gte: LARGE - 2 } })).to.deep.equal([`r${LARGE - 2}`, `r${LARGE - 1}`, 'a']);
      expect([count({ kind: 'k1' }), count({ at: { lt: 50 } })]).to.deep.equal([1_500, 50]);
    };
    const wanted = ['rows:at', 'rows:kind,at'];
    expect(indexes()).to.include.members(wanted);
    insert('a', LARGE, { kind: 'new' });
    holds();
    while (connection.transaction(() => buildSome(connection, 'rows'))) holds();
    holds();
    expect(indexes()).to.include.members(['rows:settled:at', 'rows:settled:kind,at']).and.not.include.members(wanted);
    caughtUp();
    holds();
  });
});
