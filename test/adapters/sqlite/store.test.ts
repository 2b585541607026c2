import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteStore } from '../../../adapters/sqlite/store.js';
import { storeContract } from '../../../testing/contracts/store.js';

let folder = '';

storeContract('sqlite', {
  async open() {
    folder = await mkdtemp(join(tmpdir(), 'aos-sqlite-'));
    const store = new SqliteStore({ path: join(folder, 'sub', 'aos.db') });
    await store.connect();
    return store;
  },
  close: () => rm(folder, { recursive: true, force: true }),
});
