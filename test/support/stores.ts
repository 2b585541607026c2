/**
 * Empty stores of every engine with the collections of one plugin. A closed durable store is
 * emptied and reused in this process, because creating one is slow.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '../../adapters/memory/store.js';
import { MongoStore } from '../../adapters/mongodb/store.js';
import { SqliteStore } from '../../adapters/sqlite/store.js';
import type { CollectionSpec, DocumentStore, Transact } from '../../ports/store/index.js';
import { createDatabaseUrl } from './mongo/databases.js';
import { findMongoUrl } from './mongo/server.js';

export interface OpenedStore {
  store: DocumentStore;
  close: () => Promise<void>;
}

export interface StoreEngine {
  name: string;
  open: () => Promise<OpenedStore>;
}

/** An engine that may be missing; `skip` ends the test or the suite. */
export interface OptionalEngine {
  name: string;
  open: (skip: () => never) => Promise<OpenedStore>;
}

/**
 * Opens a store before each test (or once before all) and closes it at the end. Skips if the engine
 * is missing.
 * @param begin receives the opened store
 * @param options.end runs before the store is closed
 */
export function useStore(
  engine: OptionalEngine,
  begin: (store: DocumentStore) => unknown,
  { end, once = false }: { end?: () => unknown; once?: boolean } = {},
): void {
  let opened: OpenedStore | undefined;
  (once ? before : beforeEach)(async function () {
    opened = await engine.open(() => this.skip());
    await begin(opened.store);
  });
  (once ? after : afterEach)(async () => {
    if (opened === undefined) return;
    await end?.();
    await opened.close();
    opened = undefined;
  });
}

let storeFolder: string | undefined;

function createFilePath(): string {
  if (storeFolder === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'aos-stores-'));
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
    storeFolder = made;
  }
  return join(storeFolder, `${randomBytes(6).toString('hex')}.db`);
}

export class PluginStores {
  readonly #idleStores: Record<'sqlite' | 'mongodb', DocumentStore[]> = { sqlite: [], mongodb: [] };

  constructor(
    private readonly plugin: string,
    private readonly collections: readonly CollectionSpec[],
  ) {}

  readonly toStoredName = (collection: string): string => `${this.plugin}_${collection}`;

  readonly createTransact = (store: DocumentStore): Transact | null => {
    const { transact } = store;
    if (transact === null) return null;
    return (writes) => transact(writes.map((write) => ({ ...write, collection: this.toStoredName(write.collection) })));
  };

  readonly ensureCollections = async <S extends DocumentStore>(store: S): Promise<S> => {
    await store.connect();
    await store.ensure(this.collections.map((spec) => ({ ...spec, name: this.toStoredName(spec.name) })));
    return store;
  };

  get embedded(): readonly StoreEngine[] {
    return [
      {
        name: 'memory',
        open: async () => {
          const store = await this.ensureCollections(new MemoryStore());
          return { store, close: () => store.close() };
        },
      },
      {
        name: 'sqlite',
        open: () =>
          this.#lendStore('sqlite', () =>
            this.ensureCollections(new SqliteStore({ path: createFilePath(), durability: 'normal' })),
          ),
      },
    ];
  }

  /** Those and MongoDB, in a separate database. */
  get all(): readonly OptionalEngine[] {
    return [...this.embedded, { name: 'mongodb', open: (skip) => this.#openMongo(skip) }];
  }

  async #openMongo(skip: () => never): Promise<OpenedStore> {
    const server = await findMongoUrl();
    if (server === null) return skip();
    return this.#lendStore('mongodb', () => this.ensureCollections(new MongoStore({ url: createDatabaseUrl(server) })));
  }

  async #lendStore(engine: 'sqlite' | 'mongodb', open: () => Promise<DocumentStore>): Promise<OpenedStore> {
    const kept = this.#idleStores[engine];
    const store = kept.pop() ?? (await open());
    let lent = true;
    const close = async (): Promise<void> => {
      if (!lent) return;
      lent = false;
      const names = await store.listCollections();
      await Promise.all(names.map((name) => store.collection(name).remove({})));
      kept.push(store);
    };
    return { store: ignoreClose(store), close };
  }
}

const declared = new WeakMap<DocumentStore, Map<string, string>>();

/** Ensures only collections whose declaration changed since the last service. */
async function ensureChanged(store: DocumentStore, specs: readonly CollectionSpec[]): Promise<void> {
  const known = declared.get(store) ?? new Map<string, string>();
  declared.set(store, known);
  const others = specs.filter((spec) => known.get(spec.name) !== JSON.stringify(spec));
  await store.ensure(others);
  for (const spec of others) known.set(spec.name, JSON.stringify(spec));
}

/** A stopping service closes its store, which must stay open here. */
function ignoreClose(store: DocumentStore): DocumentStore {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'close') return () => Promise.resolve();
      if (name === 'ensure') return (specs: readonly CollectionSpec[]) => ensureChanged(target, specs);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
