import { MongoClient } from 'mongodb';
import { databaseOf, MongoStore } from '../../../adapters/mongodb/store.js';
import { storeContract, type StoreContract } from '../../../testing/contracts/store.js';
import { mongoUrl, NO_MONGODB, sortsByUtf16 } from '../../support/mongo/server.js';

let url: URL | undefined;

const contract: StoreContract = {
  async open(skip) {
    const server = await mongoUrl();
    if (server === null) return skip(NO_MONGODB);
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
    await client.db(databaseOf(url.href)).dropDatabase();
    await client.close();
  },
};

storeContract('mongodb', contract);
