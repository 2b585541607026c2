/** Columns and indexes that a large table gets while it is in use: by steps, with whole answers, also after a kill. */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '../../../../adapters/sqlite/connection/connection.js';
import type { Table } from '../../../../adapters/sqlite/connection/table.js';
import { buildSome } from '../../../../adapters/sqlite/indexing/building.js';
import { buildOf } from '../../../../adapters/sqlite/schema/index-builds.js';
import { performRead } from '../../../../adapters/sqlite/reading/reads.js';
import { ensureCollection } from '../../../../adapters/sqlite/writing/ensure.js';
import { SqliteStore } from '../../../../adapters/sqlite/store.js';
import { performWrite } from '../../../../adapters/sqlite/writing/perform.js';
import type { CollectionSpec, Doc } from '../../../../ports/store.js';
import { requestOf } from '../support/request.js';

const ALL = 10_500;
const BEFORE: CollectionSpec = { name: 'rows', indexes: [{ fields: ['at'] }] };
const AFTER: CollectionSpec = {
  name: 'rows',
  indexes: [{ fields: ['at'] }, { fields: ['kind', 'at'] }, { fields: ['owner'] }, { fields: ['at', 'kind'] }],
  tuning: { sparse: ['owner'] },
};
interface Row extends Doc {
  at: number;
  kind: string | boolean;
  owner?: string | null;
}

describe('sqlite, columns of a large table', function () {
  let folder = '';
  let path = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-later-'));
    path = join(folder, 'aos.db');
    const connection = new Connection({ path, durability: 'normal' });
    connection.transaction(() => {
      ensureCollection(connection, BEFORE);
      for (let i = 0; i < ALL; i++) {
        const owner = i % 1_000 === 0 ? { owner: `o${i}` } : {};
        const row: Row = { id: `r${i}`, at: i, kind: i % 2 === 0 ? 'even' : i % 3 === 0, ...owner };
        performWrite(connection, requestOf('insert', 'rows', row));
      }
    });
    connection.close();
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const connected = (): Connection => {
    const connection = new Connection({ path, durability: 'normal' });
    connection.refresh();
    return connection;
  };
  const count = (connection: Connection, filter: object): unknown =>
    performRead(connection, ['count', 'rows', JSON.stringify(filter)]);
  const pathsOf = (connection: Connection): unknown[] =>
    (connection.table('rows') as Table).indexes.map(({ paths }) => paths);
  const step = (connection: Connection): boolean => connection.transaction(() => buildSome(connection, 'rows'));

  it('are filled in steps, another process continues, and each result is complete', () => {
    const first = connected();
    first.transaction(() => ensureCollection(first, AFTER));
    expect([...(first.table('rows') as Table).columns]).to.deep.equal(['at']);
    expect(buildOf(first, 'rows')?.paths).to.deep.equal(['kind', 'owner']);
    for (let i = 0; i < 5; i++) expect(step(first)).to.equal(true);
    const reader = connected();
    const holds = (): void => {
      expect(count(reader, { kind: 'even', at: { lt: 100 } })).to.equal(50);
      expect(count(reader, { kind: true })).to.equal(1_750);
      expect(count(reader, { owner: { exists: true } })).to.equal(11);
    };
    holds();
    // Written while some rows are filled and others are not.
    const write = (kind: 'insert' | 'change' | 'remove', request: object): unknown =>
      first.transaction(() => performWrite(first, requestOf(kind, 'rows', request)));
    for (const id of ['r0', 'r9999']) {
      write('change', { filter: { id }, update: { set: { owner: 'me', kind: 'mine' } } });
      write('change', { filter: { owner: 'me', id }, update: { inc: { at: 1 } } });
    }
    write('insert', { id: 'r00', at: 7, kind: 'mine', owner: 'me' });
    write('insert', { id: 'z', at: 7, kind: 'mine', owner: 'me' });
    write('remove', { id: 'r1000' });
    expect(count(reader, { kind: 'mine', owner: 'me' })).to.equal(4);
    first.close();
    const second = connected();
    let steps = 0;
    while (step(second)) steps++;
    expect(steps).to.be.greaterThan(40);
    expect(buildOf(second, 'rows')).to.equal(null);
    expect([...(second.table('rows') as Table).columns].toSorted()).to.deep.equal(['at', 'kind', 'owner']);
    const stored = second.prepare(`SELECT count(*) FROM rows WHERE "$.kind" = 'mine' AND "$.owner" = 'me'`).get([]);
    expect(stored).to.deep.equal([4]);
    expect(second.prepare(`SELECT count(*) FROM rows WHERE "$.kind" = x'02'`).get([])).to.deep.equal([1_749]);
    expect(pathsOf(second)).to.deep.include.members([
      ['kind', 'at', 'id'],
      ['owner', 'id'],
    ]);
    expect(count(reader, { kind: 'mine', owner: 'me' })).to.equal(4);
    expect((reader.table('rows') as Table).columns.has('kind')).to.equal(true);
    reader.close();
    second.close();
  });

  it('are filled by the store itself, also after a restart; a unique index exists immediately', async () => {
    const first = new SqliteStore({ path });
    await first.connect();
    await first.ensure([{ ...AFTER, indexes: [...AFTER.indexes, { fields: ['ref'], unique: true }] }]);
    const rows = first.collection<Row & { ref: string }>('rows');
    await rows.insert({ id: 'one', at: 1, kind: 'x', ref: 'a' });
    expect(await rows.bulk([{ insert: { id: 'two', at: 1, kind: 'x', ref: 'a' } }])).to.deep.equal([
      { conflict: 'ref' },
    ]);
    await first.close();
    const second = new SqliteStore({ path });
    await second.connect();
    const look = connected();
    while (buildOf(look, 'rows') !== null) await new Promise((resolve) => setTimeout(resolve, 10));
    look.refresh();
    expect(pathsOf(look)).to.deep.include.members([['kind', 'at', 'id']]);
    look.close();
    expect(await second.collection<Row>('rows').count({ kind: 'even' })).to.equal(ALL / 2);
    await second.close();
  });

  it('use the old index until its replacement is complete', () => {
    const connection = connected();
    const labels = (): unknown => connection.prepare('SELECT name FROM pragma_index_list(?)').all(['rows']).map(String);
    connection.transaction(() => ensureCollection(connection, { ...BEFORE, tuning: { sparse: ['at'] } }));
    expect(labels()).to.include('rows:at').and.not.include('rows:sparse:at');
    while (step(connection));
    expect(labels()).to.include('rows:sparse:at').and.not.include('rows:at');
    connection.close();
  });

  it('include indexes that are declared during the work', () => {
    const connection = connected();
    connection.transaction(() => ensureCollection(connection, { ...AFTER, indexes: AFTER.indexes.slice(0, 2) }));
    for (let i = 0; i < 3; i++) step(connection);
    connection.transaction(() => ensureCollection(connection, AFTER));
    connection.transaction(() => ensureCollection(connection, AFTER));
    while (step(connection));
    expect((connection.table('rows') as Table).indexes).to.have.length(4);
    expect(connection.prepare(`SELECT count(*) FROM rows WHERE "$.owner" IS NOT NULL`).get([])).to.deep.equal([11]);
    connection.close();
  });
});
