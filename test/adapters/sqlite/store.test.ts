import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteStore } from '../../../adapters/sqlite/store.js';
import { storeContract } from '../../kit/contracts/store.js';
import { scaleRepeats } from '../../support/repeat-budget.js';

/** As the service has it, and as a command has it: the caller's thread does all. */
for (const threads of [true, false]) {
  let folder = '';

  storeContract(threads ? 'sqlite' : 'sqlite without threads', {
    async open() {
      folder = await mkdtemp(join(tmpdir(), 'aos-sqlite-'));
      const store = new SqliteStore({ path: join(folder, 'sub', 'aos.db'), threads });
      await store.connect();
      return store;
    },
    close: () => rm(folder, { recursive: true, force: true }),
    tries: (count) => scaleRepeats(count / 4),
  });
}
