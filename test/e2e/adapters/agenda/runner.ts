/**
 * A process that runs jobs on a store until it is killed: `node runner.js '{"sqlite": "<path>"}'`,
 * or `{"mongodb": "<url>"}`; `options` beside it are the engine's.
 */
import type { AgendaJobsOptions } from '../../../../adapters/agenda/jobs.js';
import { RandomIds } from '../../../../adapters/node/ids.js';
import { SystemClock } from '../../../../adapters/node/clock.js';
import type { JobSpec } from '../../../../ports/jobs.js';
import type { DocumentStore } from '../../../../ports/store/index.js';
import { createCountJob, createJobs, type CountedRun } from '../../../kit/contracts/jobs/harness.js';

const place = JSON.parse(process.argv[2] ?? '{}') as {
  sqlite?: string;
  mongodb?: string;
  options?: AgendaJobsOptions;
};
/** Of the two engines only the one that is used is loaded. */
async function storeAt({ sqlite, mongodb = '' }: typeof place): Promise<DocumentStore> {
  if (sqlite !== undefined)
    return new (await import('../../../../adapters/sqlite/store.js')).SqliteStore({ path: sqlite });
  return new (await import('../../../../adapters/mongodb/store.js')).MongoStore({ url: mongodb });
}
const store = await storeAt(place);
await store.connect();
const hang = (name: string, timeoutMs: number): JobSpec => ({
  name,
  timeoutMs,
  run: async ({ data }) => {
    const id = new RandomIds(new SystemClock()).uuid();
    await store.collection<CountedRun>('runs').insert({ id, n: Number(data), pid: process.pid });
    await new Promise(() => undefined);
  },
});
const specs = [createCountJob(store), hang('test.hang', 4_000), hang('test.long', 600_000)];
const { jobs } = createJobs(store, specs, place.options);
await jobs.start();
console.log('ready');
