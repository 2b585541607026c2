/** The jobs contract in one process; test/e2e/adapters/agenda has those with several. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { SqliteStore } from '../../../adapters/sqlite/store.js';
import { jobsContract } from '../../kit/contracts/jobs.js';
import { JOBS_COLLECTIONS, type JobsEngine } from '../../kit/contracts/jobs/harness.js';

function memory(): JobsEngine {
  let store = new MemoryStore();
  return {
    async open() {
      store = new MemoryStore();
      await store.ensure(JOBS_COLLECTIONS);
      return store;
    },
    runner: null,
    close: () => store.close(),
  };
}

function sqlite(): JobsEngine {
  let folder = '';
  let store: SqliteStore | undefined;
  return {
    async open() {
      folder = await mkdtemp(join(tmpdir(), 'aos-jobs-'));
      store = new SqliteStore({ path: join(folder, 'jobs.db') });
      await store.connect();
      await store.ensure(JOBS_COLLECTIONS);
      return store;
    },
    runner: null,
    async close() {
      await store?.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

jobsContract('memory', memory());
jobsContract('sqlite', sqlite());
