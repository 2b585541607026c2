/**
 * Stores of every engine with the collections of one plugin, each empty, for suites that run on several. A durable store
 * that a test has closed is emptied and kept for the next one of this process: its threads and tables cost a tenth of a
 * second of processor time.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '../../adapters/memory/store.js';
import { MongoStore } from '../../adapters/mongodb/store.js';
import { SqliteStore } from '../../adapters/sqlite/store.js';
import type { CollectionSpec, DocumentStore, Transact } from '../../ports/store.js';
import { newDatabase } from './mongo/databases.js';
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

/**
 * Opens a store of the engine before each test (or once before all), and closes it at the end. Skips without the engine.
 * @param begin what the suite does with the store
 * @param options.end what it does before the store is closed
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

let folder: string | undefined;

/** A new file of its own; all of them go with the process. */
function newFile(): string {
  if (folder === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'aos-stores-'));
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
    folder = made;
  }
  return join(folder, `${randomBytes(6).toString('hex')}.db`);
}

export class PluginStores {
  /** Empty ones that nobody has now, by their engine. */
  readonly #kept: Record<'sqlite' | 'mongodb', DocumentStore[]> = { sqlite: [], mongodb: [] };

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
        open: () =>
          this.#lend('sqlite', () => this.ensured(new SqliteStore({ path: newFile(), durability: 'normal' }))),
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
    return this.#lend('mongodb', () => this.ensured(new MongoStore({ url: newDatabase(server) })));
  }

  async #lend(engine: 'sqlite' | 'mongodb', open: () => Promise<DocumentStore>): Promise<OpenedStore> {
    const kept = this.#kept[engine];
    const store = kept.pop() ?? (await open());
    let lent = true;
    const close = async (): Promise<void> => {
      if (!lent) return;
      lent = false;
      const names = await store.collections();
      await Promise.all(names.map((name) => store.collection(name).remove({})));
      kept.push(store);
    };
    return { store: withoutEnd(store), close };
  }
}

/** What each collection of a store was declared as last. */
const declared = new WeakMap<DocumentStore, Map<string, string>>();

/** The store makes what it does not have as declared: the next service's start finds the most of it there. */
async function ensureOther(store: DocumentStore, specs: readonly CollectionSpec[]): Promise<void> {
  const known = declared.get(store) ?? new Map<string, string>();
  declared.set(store, known);
  const others = specs.filter((spec) => known.get(spec.name) !== JSON.stringify(spec));
  await store.ensure(others);
  for (const spec of others) known.set(spec.name, JSON.stringify(spec));
}

/** A service that stops closes its store: this one goes on. */
function withoutEnd(store: DocumentStore): DocumentStore {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'close') return () => Promise.resolve();
      if (name === 'ensure') return (specs: readonly CollectionSpec[]) => ensureOther(target, specs);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
