/** Stores of every engine with the collections of one plugin, each fresh, for suites that run on several. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { MemoryStore } from '../../adapters/memory/store.js';
import { MongoStore } from '../../adapters/mongodb/store.js';
import { SqliteStore } from '../../adapters/sqlite/store.js';
import type { CollectionSpec, DocumentStore, Transact } from '../../ports/store.js';
import { mongoUrl } from './mongo/server.js';

export interface OpenedStore {
  store: DocumentStore;
  close: () => Promise<void>;
}

export interface StoreEngine {
  name: string;
  open: () => Promise<OpenedStore>;
}

/** One that may not be on this machine: `skip` ends the test or the suite. */
export interface OptionalEngine {
  name: string;
  open: (skip: () => never) => Promise<OpenedStore>;
}

export class PluginStores {
  constructor(
    private readonly plugin: string,
    private readonly collections: readonly CollectionSpec[],
  ) {}

  /** The stored name of a collection. */
  readonly nameOf = (collection: string): string => `${this.plugin}_${collection}`;

  /** The store's transactions, by the names in the manifest. */
  readonly transactOf = (store: DocumentStore): Transact | null => {
    const { transact } = store;
    if (transact === null) return null;
    return (writes) => transact(writes.map((write) => ({ ...write, collection: this.nameOf(write.collection) })));
  };

  /** The store, connected and with its indexes. */
  readonly ensured = async <S extends DocumentStore>(store: S): Promise<S> => {
    await store.connect();
    await store.ensure(this.collections.map((spec) => ({ ...spec, name: this.nameOf(spec.name) })));
    return store;
  };

  /** Engines that are on every machine. */
  get embedded(): readonly StoreEngine[] {
    return [
      {
        name: 'memory',
        open: async () => {
          const store = await this.ensured(new MemoryStore());
          return { store, close: () => store.close() };
        },
      },
      {
        name: 'sqlite',
        open: async () => {
          const folder = await mkdtemp(join(tmpdir(), `aos-${this.plugin}-`));
          const store = await this.ensured(new SqliteStore({ path: join(folder, 'aos.db') }));
          const close = async (): Promise<void> => {
            await store.close();
            await rm(folder, { recursive: true, force: true });
          };
          return { store, close };
        },
      },
    ];
  }

  /** Those and MongoDB, in a database of its own. */
  get all(): readonly OptionalEngine[] {
    return [...this.embedded, { name: 'mongodb', open: (skip) => this.#mongo(skip) }];
  }

  async #mongo(skip: () => never): Promise<OpenedStore> {
    const server = await mongoUrl();
    if (server === null) return skip();
    const url = new URL(server);
    url.pathname = `/aos_${randomBytes(6).toString('hex')}`;
    const store = await this.ensured(new MongoStore({ url: url.href }));
    const close = async (): Promise<void> => {
      await store.close();
      const client = await new MongoClient(url.href).connect();
      await client.db().dropDatabase();
      await client.close();
    };
    return { store, close };
  }
}
