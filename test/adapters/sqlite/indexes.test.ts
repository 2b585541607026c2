/** Indexes that a collection declares no longer: the store drops its own, and nobody else's. */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '../../../adapters/sqlite/connection/connection.js';
import { ensureCollection } from '../../../adapters/sqlite/writing/ensure-collection.js';
import { performWrite } from '../../../adapters/sqlite/writing/write-requests.js';
import { StoreConflict, type IndexSpec } from '../../../ports/store/index.js';
import { requestOf } from './support/request.js';

describe('sqlite: indexes', () => {
  let folder = '';
  let connection: Connection;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-indexes-'));
    connection = new Connection({ path: join(folder, 'aos.db'), durability: 'normal' });
  });
  afterEach(async () => {
    connection.close();
    await rm(folder, { recursive: true, force: true });
  });

  const declare = (indexes: readonly IndexSpec[]): void =>
    connection.runTransaction(() => ensureCollection(connection, { name: 'rows', indexes }));
  const insert = (doc: object): unknown =>
    connection.runTransaction(() => performWrite(connection, requestOf('insert', 'rows', doc)));
  const labels = (): unknown[] =>
    connection
      .prepare(`SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name`)
      .all([])
      .map(([label]) => label);

  it('are built from existing data, and dropped when no longer declared, without changing others', () => {
    insert({ id: 'a', ref: 'r', at: 1, kind: 'k' });
    declare([{ fields: ['ref'], unique: true }, { fields: ['at'] }, { fields: ['kind', 'at'] }]);
    expect(labels()).to.deep.equal(['rows:at', 'rows:kind,at', 'rows:unique:ref']);
    declare([{ fields: ['at'] }]);
    expect(labels()).to.deep.equal(['rows:at']);
    insert({ id: 'b', ref: 'r', at: 2, kind: 'k' });
    declare([{ fields: ['at'] }, { fields: ['kind', 'at'] }]);
    expect(labels()).to.deep.equal(['rows:at', 'rows:kind,at']);
    expect(
      connection.prepare('SELECT id FROM rows INDEXED BY "rows:kind,at" WHERE "$.kind" = ?').all(['k']),
    ).to.deep.equal([['a'], ['b']]);
    expect(() => declare([{ fields: ['ref'], unique: true }])).to.throw(StoreConflict);
  });

  it('are retained when they were not created by the service', () => {
    declare([{ fields: ['at'] }]);
    const { driver } = connection;
    const others = ['by_hand', 'rows:note:of:mine', 'rows:By Hand', 'others:at'];
    for (const label of others) driver.exec(`CREATE INDEX "${label}" ON rows ("$.at")`);
    declare([]);
    expect(labels()).to.have.members(others);
  });
});
