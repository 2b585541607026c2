import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { parseDatabaseName, MongoStore } from '../../../../adapters/mongodb/store.js';
import { storeContract, type StoreContract } from '../../../kit/contracts/store.js';
import { getRejection } from '../../../harness.js';
import { scaleRepeats } from '../../../support/repeat-budget.js';
import { findMongoUrl, NO_MONGODB_MESSAGE, sortsByUtf16 } from '../../../support/mongo/server.js';

let url: URL | undefined;

const contract: StoreContract = {
  tries: (count) => scaleRepeats(count / 4),
  async open(skip) {
    const server = await findMongoUrl();
    if (server === null) return skip(NO_MONGODB_MESSAGE);
    if (await sortsByUtf16(server))
      contract.utf16Order = 'this server sorts text by UTF-16 units, MongoDB by code point';
    url = new URL(server);
    url.pathname = `/aos_contract_${process.pid}`;
    const store = new MongoStore({ url: url.href });
    await store.connect();
    return store;
  },
  async close() {
    if (!url) return;
    const client = await new MongoClient(url.href).connect();
    await client.db(parseDatabaseName(url.href)).dropDatabase();
    await client.close();
  },
};

storeContract('mongodb', contract);

describe('mongodb: closed store', () => {
  it('starts no write, because a rejected promise without a handler would end the process', async function () {
    const server = (await findMongoUrl()) ?? this.skip();
    const path = new URL(server);
    path.pathname = `/aos_closed_${process.pid}`;
    const store = new MongoStore({ url: path.href });
    await store.connect();
    const rows = store.collection<{ id: string; n?: number }>('rows');
    // What a collection is, it has asked the server: a write is all that comes now.
    await rows.change({ id: 'a' }, { set: { n: 0 } }, { upsert: true });
    await store.close();
    const lost: unknown[] = [];
    const keep = (reason: unknown): void => void lost.push(reason);
    const others = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', keep);
    try {
      const writes = [
        () => rows.insert({ id: 'a' }),
        () => rows.change({ id: 'a' }, { set: { n: 1 } }),
        () => rows.bulk([{ insert: { id: 'b' } }]),
      ];
      for (const write of writes) expect((await getRejection(write())).message).to.equal('the store is closed');
      // Node judges a rejection when the microtasks of its turn are done.
      await new Promise(setImmediate);
    } finally {
      process.off('unhandledRejection', keep);
      for (const listener of others) process.on('unhandledRejection', listener);
      const client = await new MongoClient(path.href).connect();
      await client.db(parseDatabaseName(path.href)).dropDatabase();
      await client.close();
    }
    expect(lost).to.deep.equal([]);
  });
});
