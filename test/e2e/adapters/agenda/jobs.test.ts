/**
 * The jobs contract on stores that several processes share; test/adapters/agenda has those of one
 * process.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import { MongoStore } from '../../../../adapters/mongodb/store.js';
import { SqliteStore } from '../../../../adapters/sqlite/store.js';
import { jobsContract } from '../../../kit/contracts/jobs.js';
import { JOBS_COLLECTIONS, type JobsEngine, type Runner } from '../../../kit/contracts/jobs/harness.js';
import { SHORT_RUN_NODE_OPTIONS } from '../../../support/programs.js';
import { findMongoUrl, NO_MONGODB_MESSAGE } from '../../../support/mongo/server.js';

const RUNNER = fileURLToPath(new URL('./runner.js', import.meta.url));

/** Child processes of one engine, ended by their own ids. */
class Runners {
  private readonly children: ChildProcess[] = [];

  async start(place: object): Promise<Runner> {
    const child = spawn(process.execPath, [...SHORT_RUN_NODE_OPTIONS, RUNNER, JSON.stringify(place)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.children.push(child);
    if (child.stdout) await once(child.stdout, 'data');
    return { pid: child.pid ?? 0, kill: () => end(child) };
  }

  async end(): Promise<void> {
    await Promise.all(this.children.splice(0).map(end));
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

function sqlite(): JobsEngine {
  let folder = '';
  let store: SqliteStore | undefined;
  const runners = new Runners();
  return {
    async open() {
      folder = await mkdtemp(join(tmpdir(), 'aos-jobs-'));
      store = new SqliteStore({ path: join(folder, 'jobs.db') });
      await store.connect();
      await store.ensure(JOBS_COLLECTIONS);
      return store;
    },
    runner: (options) => runners.start({ sqlite: join(folder, 'jobs.db'), options }),
    async close() {
      await runners.end();
      await store?.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function mongodb(base: string): JobsEngine {
  let url = '';
  let store: MongoStore | undefined;
  let opened = 0;
  const runners = new Runners();
  return {
    async open() {
      const place = new URL(base);
      place.pathname = `/aos_jobs_${process.pid}_${Date.now()}_${++opened}`;
      url = place.href;
      store = new MongoStore({ url });
      await store.connect();
      await store.ensure(JOBS_COLLECTIONS);
      return store;
    },
    runner: (options) => runners.start({ mongodb: url, options }),
    async close() {
      await runners.end();
      await store?.close();
      const client = new MongoClient(url);
      await client.db().dropDatabase();
      await client.close();
    },
  };
}

jobsContract('sqlite in several processes', sqlite());

const url = await findMongoUrl();
if (url === null) it(`jobs on mongodb: ${NO_MONGODB_MESSAGE}`);
else jobsContract('mongodb in several processes', mongodb(url));
