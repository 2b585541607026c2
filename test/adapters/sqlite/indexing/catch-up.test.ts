/** Deferred columns: what the file holds before and after they are settled, and after a process that was killed. */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '../../../../adapters/sqlite/connection/connection.js';
import { performRead } from '../../../../adapters/sqlite/reading/reads.js';
import { ensureCollection } from '../../../../adapters/sqlite/writing/ensure.js';
import { BackgroundWork } from '../../../../adapters/sqlite/writing/background.js';
import { SqliteStore } from '../../../../adapters/sqlite/store.js';
import { performWrite } from '../../../../adapters/sqlite/writing/perform.js';
import type { CollectionSpec, Doc } from '../../../../ports/store.js';
import { requestOf } from '../support/request.js';
import { until } from '../../../harness.js';

const SPEC: CollectionSpec = {
  name: 'rows',
  indexes: [{ fields: ['at'] }, { fields: ['kind', 'at'] }, { fields: ['place'] }],
  tuning: { indexedLater: ['at'], indexedAtOnceWith: ['place'] },
};

describe('sqlite, columns that are indexed later', () => {
  let folder = '';
  let path = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-unsettled-'));
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
  const ids = (connection: Connection): unknown =>
    performRead(connection, [
      'ids',
      'rows',
      JSON.stringify({ filter: { kind: 'a', at: { gte: 0 } }, sort: [['at', 'desc']], rows: 10, after: null }),
    ]);
  const columns = (connection: Connection): unknown =>
    connection.prepare('SELECT id, "$.at", "~" FROM rows ORDER BY id').all([]);

  it('move in no index until they are settled, and reads see them immediately', () => {
    const connection = connected();
    for (const [i, id] of ['a', 'b', 'c'].entries()) write(connection, 'insert', { id, kind: 'a', at: i });
    write(connection, 'change', { filter: { id: 'a' }, update: { set: { at: 9 } } });
    expect(columns(connection)).to.deep.equal([
      ['a', 0, 1],
      ['b', 1, null],
      ['c', 2, null],
    ]);
    expect(ids(connection)).to.deep.equal(['a', 'c', 'b']);
    new BackgroundWork(connection).end();
    expect(columns(connection)).to.deep.equal([
      ['a', 9, null],
      ['b', 1, null],
      ['c', 2, null],
    ]);
    expect(ids(connection)).to.deep.equal(['a', 'c', 'b']);
    connection.close();
  });

  it('a change or a removal that looks by a deferred path settles first; one by id reads the body', () => {
    const connection = connected();
    for (const [i, id] of ['a', 'b', 'c'].entries()) write(connection, 'insert', { id, kind: 'a', at: i });
    const set = (id: string, at: number): unknown =>
      write(connection, 'change', { filter: { id }, update: { set: { at } } });
    set('a', 9);
    const byId = { filter: { id: 'a', at: 9 }, update: { set: { seen: true } } };
    expect(write(connection, 'change', byId)).to.deep.equal([
      JSON.stringify({ id: 'a', kind: 'a', at: 9, seen: true }),
      false,
    ]);
    expect(write(connection, 'remove', { id: 'a', at: 0 })).to.equal(0);
    expect(columns(connection)).to.deep.include(['a', 0, 1]);
    const newest = { filter: { kind: 'a' }, update: { set: { newest: true } }, sort: [['at', 'desc']] };
    expect(write(connection, 'change', newest))
      .to.be.an('array')
      .with.property('0')
      .that.includes('"id":"a"');
    expect(columns(connection)).to.deep.include(['a', 9, null]);
    set('b', 7);
    expect(write(connection, 'remove', { at: { lt: 3 } })).to.equal(1);
    expect(ids(connection)).to.deep.equal(['a', 'b']);
    connection.close();
  });

  it('find nothing by a filter that nothing can match', () => {
    const connection = connected();
    write(connection, 'insert', { id: 'a', kind: 'a', at: 1 });
    write(connection, 'change', { filter: { id: 'a' }, update: { set: { at: 2 } } });
    for (const never of [{ kind: { in: [] } }, { or: [] }, { or: [{ kind: { in: [] } }, { kind: { has_any: [] } }] }]) {
      const request = { filter: { ...never, at: { gt: 0 } }, sort: [['at', 'asc']], rows: 10, after: null };
      expect(performRead(connection, ['ids', 'rows', JSON.stringify(request)])).to.deep.equal([]);
      expect(performRead(connection, ['count', 'rows', JSON.stringify(request.filter)])).to.equal(0);
    }
    connection.close();
  });

  it('are read correctly after a kill, and settled by the next process', async () => {
    const killed = connected();
    write(killed, 'insert', { id: 'a', kind: 'a', at: 1 });
    write(killed, 'insert', { id: 'b', kind: 'a', at: 2 });
    write(killed, 'change', { filter: { id: 'a' }, update: { set: { at: 3 } } });
    // Nothing is written when it ends: this connection has no `BackgroundWork`.
    killed.close();
    const store = new SqliteStore({ path });
    await store.connect();
    const rows = store.collection<Doc & { at: number }>('rows');
    const newest = async (): Promise<string[]> =>
      (await rows.find({ filter: { kind: 'a' }, sort: [['at', 'desc']] })).items.map(({ id }) => id);
    expect(await newest()).to.deep.equal(['a', 'b']);
    const other = new Connection({ path, durability: 'normal' });
    const marked = (): boolean => JSON.stringify(columns(other)).includes(',1]');
    await until('the rows are in their indexes', () => !marked());
    expect(columns(other)).to.deep.equal([
      ['a', 3, null],
      ['b', 2, null],
    ]);
    expect(await newest()).to.deep.equal(['a', 'b']);
    other.close();
    await store.close();
  });

  it('a change that moves a path with which all is indexed immediately leaves no mark, unless one exists', () => {
    const connection = connected();
    const atOnce = (id: string, at: number): unknown =>
      connection.transaction(() =>
        performWrite(connection, [
          'transact',
          '',
          JSON.stringify([{ collection: 'rows', change: { id }, update: { set: { at, place: at } } }]),
        ]),
      );
    for (const id of ['a', 'b']) write(connection, 'insert', { id, kind: 'a', at: 0 });
    connection.recent.clear();
    write(connection, 'change', { filter: { id: 'b' }, update: { set: { at: 1 } } });
    for (const id of ['a', 'b']) atOnce(id, 2);
    expect(columns(connection)).to.deep.equal([
      ['a', 2, null],
      ['b', 0, 1],
    ]);
    new BackgroundWork(connection).end();
    for (const id of ['a', 'b']) atOnce(id, 3);
    write(connection, 'change', { filter: { id: 'a' }, update: { set: { at: 4 } } });
    expect(columns(connection)).to.deep.equal([
      ['a', 3, 1],
      ['b', 2, 1],
    ]);
    connection.recent.clear();
    new BackgroundWork(connection).end();
    atOnce('b', 5);
    expect(columns(connection)).to.deep.equal([
      ['a', 4, null],
      ['b', 5, null],
    ]);
    connection.close();
  });

  it('write only columns that lag behind', () => {
    const connection = connected();
    const both = { ...SPEC, indexes: [...SPEC.indexes, { fields: ['n'] }], tuning: { indexedLater: ['at', 'n'] } };
    connection.transaction(() => ensureCollection(connection, both));
    for (const id of ['a', 'b', 'c']) write(connection, 'insert', { id, kind: 'a', at: 0, n: true });
    write(connection, 'change', { filter: { id: 'a' }, update: { set: { at: 1 } } });
    write(connection, 'change', { filter: { id: 'b' }, update: { set: { n: false } } });
    write(connection, 'change', { filter: { id: 'c' }, update: { set: { at: 2, n: null } } });
    connection.driver.exec('CREATE TEMP TABLE seen (id, path)');
    for (const path of ['at', 'n']) {
      const seen = `INSERT INTO seen VALUES (NEW.id, '${path}')`;
      connection.driver.exec(`CREATE TEMP TRIGGER on_${path} AFTER UPDATE OF "$.${path}" ON rows BEGIN ${seen}; END`);
    }
    new BackgroundWork(connection).end();
    expect(connection.prepare('SELECT id, path FROM seen ORDER BY id, path').all([])).to.deep.equal([
      ['a', 'at'],
      ['b', 'n'],
      ['c', 'at'],
      ['c', 'n'],
    ]);
    expect(columns(connection)).to.deep.equal([
      ['a', 1, null],
      ['b', 0, null],
      ['c', 2, null],
    ]);
    expect(connection.prepare('SELECT id FROM rows WHERE "$.n" IS NULL').all([])).to.deep.equal([['c']]);
    connection.close();
  });

  it('start and stop in a collection with documents', () => {
    const connection = connected();
    write(connection, 'insert', { id: 'a', kind: 'a', at: 1 });
    write(connection, 'change', { filter: { id: 'a' }, update: { set: { at: 2 } } });
    const { tuning: _, ...plain } = SPEC;
    connection.transaction(() => ensureCollection(connection, plain));
    expect(columns(connection)).to.deep.equal([['a', 2, null]]);
    write(connection, 'change', { filter: { id: 'a' }, update: { set: { at: 5 } } });
    expect(columns(connection)).to.deep.equal([['a', 5, null]]);
    connection.transaction(() => ensureCollection(connection, SPEC));
    write(connection, 'change', { filter: { id: 'a' }, update: { set: { at: 6 } } });
    expect(columns(connection)).to.deep.equal([['a', 5, 1]]);
    connection.close();
  });

  it('an index becomes sparse, and whole again', () => {
    const connection = connected();
    const indexes = (): string[] =>
      connection.prepare('SELECT name FROM pragma_index_list(?)').all(['rows']).map(String);
    connection.transaction(() =>
      ensureCollection(connection, {
        ...SPEC,
        indexes: [{ fields: ['at'] }],
        tuning: { ...SPEC.tuning, sparse: ['at'] },
      }),
    );
    expect(indexes()).to.include('rows:sparse:at').and.not.include('rows:at');
    connection.transaction(() => ensureCollection(connection, SPEC));
    expect(indexes()).to.include('rows:at').and.not.include('rows:sparse:at');
    connection.close();
  });
});
