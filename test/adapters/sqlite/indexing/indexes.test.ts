/** Indexes that a collection declares no longer: the store drops its own, and nobody else's. */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '../../../../adapters/sqlite/connection/connection.js';
import { ensureCollection } from '../../../../adapters/sqlite/writing/ensure.js';
import { performRead } from '../../../../adapters/sqlite/reading/reads.js';
import { performWrite } from '../../../../adapters/sqlite/writing/perform.js';
import type { Filter, IndexSpec, Sort } from '../../../../ports/store.js';
import type { Tuning } from '../../../../ports/store/tuning.js';
import { requestOf } from '../support/request.js';

describe('sqlite, indexes', () => {
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

  const declare = (indexes: readonly IndexSpec[], tuning: Tuning = {}): void =>
    connection.transaction(() => ensureCollection(connection, { name: 'rows', indexes, tuning }));
  const insert = (doc: object): unknown =>
    connection.transaction(() => performWrite(connection, requestOf('insert', 'rows', doc)));
  const labels = (): unknown[] =>
    connection
      .prepare(`SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name`)
      .all([])
      .map(([label]) => label);

  it('are dropped when they are no longer declared, and the others stay', () => {
    declare(
      [{ fields: ['ref'], unique: true }, { fields: ['at'] }, { fields: ['kind', 'at'] }, { fields: ['owner'] }],
      { indexedLater: ['at'], sparse: ['owner'] },
    );
    insert({ id: 'a', ref: 'r', at: 1, kind: 'k', owner: 'o' });
    const all = ['rows:at', 'rows:kind,at', 'rows:sparse:owner', 'rows:unique:ref', 'rows:unsettled:at'];
    expect(labels()).to.deep.equal(all);
    declare([{ fields: ['at'] }], { indexedLater: ['at'] });
    expect(labels()).to.deep.equal(['rows:at', 'rows:unsettled:at']);
    insert({ id: 'b', ref: 'r', at: 2, kind: 'k' });
    declare([{ fields: ['at'] }, { fields: ['kind', 'at'] }], { indexedLater: ['at'] });
    expect(labels()).to.deep.equal(['rows:at', 'rows:kind,at', 'rows:unsettled:at']);
    expect(
      connection.prepare('SELECT id FROM rows INDEXED BY "rows:kind,at" WHERE "$.kind" = ?').all(['k']),
    ).to.deep.equal([['a'], ['b']]);
  });

  it('are replaced when their declaration changes', () => {
    const both = [{ fields: ['owner', 'at'] }, { fields: ['at'] }];
    declare(both);
    declare(both, { sparse: ['owner'] });
    expect(labels()).to.deep.equal(['rows:at', 'rows:sparse:owner,at']);
    declare(both, { sparse: ['at'] });
    expect(labels()).to.deep.equal(['rows:sparse(at):owner,at', 'rows:sparse:at']);
    declare(both);
    expect(labels()).to.deep.equal(['rows:at', 'rows:owner,at']);
  });

  it('serve only queries that compare the later field when they lack documents without it', () => {
    declare([{ fields: ['owner', 'at'] }], { sparse: ['at'] });
    for (let i = 0; i < 40; i++) insert({ id: `i${i}`, owner: `o${i % 2}`, ...(i % 4 === 0 ? { at: i } : {}) });
    const ids = (filter: Filter, sort: Sort = []): string[] =>
      performRead(connection, ['ids', 'rows', JSON.stringify({ filter, sort, rows: 100, after: null })]) as string[];
    expect(
      connection.prepare('SELECT count(*) FROM rows INDEXED BY "rows:sparse(at):owner,at" WHERE "$.at" > -1').get([]),
    ).to.deep.equal([10]);
    expect(ids({ owner: 'o0', at: { gt: 30 } }, [['at', 'asc']])).to.deep.equal(['i32', 'i36']);
    expect(ids({ owner: 'o1' })).to.have.length(20);
    expect(ids({ owner: 'o0' }, [['at', 'asc']])).to.have.length(20);
    expect(ids({ owner: 'o0', at: null })).to.have.length(10);
  });

  it('of another origin stay', () => {
    declare([{ fields: ['at'] }]);
    const { driver } = connection;
    const others = ['by_hand', 'rows:note:of:mine', 'rows:By Hand', 'others:at'];
    for (const label of others) driver.exec(`CREATE INDEX "${label}" ON rows ("$.at")`);
    declare([]);
    expect(labels()).to.have.members(others);
  });
});
