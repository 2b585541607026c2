/**
 * Which indexes MongoDB gets of those that are declared, and which go that an earlier version made.
 */
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { buildIndexPlan, isManagedIndex, listServedFields } from '../../../../adapters/mongodb/indexes.js';
import { parseDatabaseName, MongoStore } from '../../../../adapters/mongodb/store.js';
import type { CollectionSpec } from '../../../../ports/store/index.js';
import { findMongoUrl } from '../../../support/mongo/server.js';

const SPEC: CollectionSpec = {
  name: 'rows',
  indexes: [{ fields: ['ref'], unique: true }, { fields: ['kind', 'at'] }, { fields: ['kind'] }],
  values: ['person', 'tags', 'ref'],
  search: ['text'],
};

describe('mongodb: indexes', function () {
  it('share a single wildcard index for several value paths', () => {
    const { own, shared, instead } = buildIndexPlan(SPEC);
    expect(own.map(({ name }) => name)).to.deep.equal(['ref', 'kind,at,_id', 'kind,_id', '~text']);
    expect(shared).to.deep.equal({
      key: { '$**': 1 },
      name: 'few person,tags',
      wildcardProjection: { person: 1, tags: 1 },
    });
    expect(instead.map(({ name }) => name)).to.deep.equal(['person,_id', 'tags,_id']);
    expect(shared && listServedFields(shared)).to.deep.equal(['person', 'tags']);
    expect(own.flatMap(listServedFields)).to.deep.equal(['ref', 'kind', 'kind', '~text']);
  });

  it('use a regular index for a single value path', () => {
    const { own, shared } = buildIndexPlan({ indexes: [], values: ['person'] });
    expect([own.map(({ name }) => name), shared]).to.deep.equal([['person,_id'], null]);
  });

  it('are distinguished from indexes created by an administrator', () => {
    expect(isManagedIndex({ key: { a: 1, _id: 1 }, name: 'a,_id' })).to.equal(true);
    expect(isManagedIndex({ key: { '$**': 1 }, name: 'few a,b' })).to.equal(true);
    expect(isManagedIndex({ key: { '$**': 1 }, name: '$**_1' })).to.equal(false);
    expect(isManagedIndex({ key: { a: 1, _id: 1 }, name: 'a_1__id_1' })).to.equal(false);
    expect(isManagedIndex({ key: { a: 1 }, name: 'a', unique: true })).to.equal(false);
    expect(isManagedIndex({ key: { _id: 1 }, name: '_id_' })).to.equal(false);
  });

  it('are dropped when no longer declared, except manually created indexes, idempotently', async function () {
    const server = (await findMongoUrl()) ?? this.skip();
    const url = new URL(server);
    url.pathname = `/aos_indexes_${process.pid}`;
    const client = await new MongoClient(url.href).connect();
    const store = new MongoStore({ url: url.href });
    await store.connect();
    try {
      const rows = client.db(parseDatabaseName(url.href)).collection('rows');
      const before = { name: 'rows', indexes: [{ fields: ['kind', 'at'] }, { fields: ['old'] }] };
      await store.ensure([before]);
      await rows.createIndex({ kind: 1, at: -1 }, { name: 'by hand' });
      const names = async (): Promise<string[]> => (await rows.indexes()).map(({ name }) => String(name)).toSorted();
      expect(await names()).to.deep.equal(['_id_', 'by hand', 'kind,at,_id', 'old,_id']);
      await store.ensure([SPEC]);
      const made = await names();
      await store.ensure([SPEC]);
      expect(await names()).to.deep.equal(made);
      const few = made.includes('few person,tags') ? ['few person,tags'] : ['person,_id', 'tags,_id'];
      expect(made).to.deep.equal(['_id_', 'by hand', 'kind,_id', 'kind,at,_id', 'ref', '~text', ...few].toSorted());
    } finally {
      await store.close();
      await client.db(parseDatabaseName(url.href)).dropDatabase();
      await client.close();
    }
  });
});
