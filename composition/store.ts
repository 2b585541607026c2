/** The store that the configuration names. */
import type { connectionLines } from '../adapters/mongodb/connection-lines.js';
import { MemoryStore } from '../adapters/memory/store.js';
import { SqliteStore } from '../adapters/sqlite/store.js';
import type { Core } from '../config/load.js';
import type { DocumentStore } from '../ports/store.js';

/** Drivers are loaded where they are used: a command would otherwise wait longer for its modules than for its work. */
export async function storeOf({ storage }: Core, tell?: ReturnType<typeof connectionLines>): Promise<DocumentStore> {
  if (storage.engine === 'memory') return new MemoryStore();
  if (storage.engine === 'sqlite') {
    return new SqliteStore({ path: storage.file as string, durability: storage.durability });
  }
  const { MongoStore } = await import('../adapters/mongodb/store.js');
  return new MongoStore({ url: storage.url, ...(tell && { tell }) });
}
