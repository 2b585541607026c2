/**
 * Contract suite of the Jobs port (ports/jobs.ts) for every store. "Two processes" are child
 * processes if the store is external, and otherwise two instances on one store.
 */
import type { AgendaJobs } from '../../../adapters/agenda/jobs.js';
import type { DocumentStore } from '../../../ports/store/index.js';
import { describeEndingJobs } from './jobs/ending.js';
import { createJobs, type CountedRun, type JobsEngine, type JobsFixture } from './jobs/harness.js';
import { describeProcessJobs } from './jobs/processes.js';
import { describeRepeatingJobs } from './jobs/repeating.js';
import { describeSharedJobs } from './jobs/sharing.js';
import { describeEnqueuedJobs } from './jobs/waiting.js';

export function jobsContract(name: string, engine: JobsEngine): void {
  describe(`jobs on ${name}`, function () {
    this.timeout(300_000);
    let store: DocumentStore;
    const instances: AgendaJobs[] = [];

    beforeEach(async () => {
      store = await engine.open();
    });
    afterEach(async () => {
      await Promise.all(instances.splice(0).map((jobs) => jobs.drain(2_000)));
      await engine.close();
    });

    const world: JobsFixture = {
      get store() {
        return store;
      },
      make: (specs, options) => {
        const made = createJobs(store, specs, options);
        instances.push(made.jobs);
        return made;
      },
      keep: (jobs) => void instances.push(jobs),
      runs: async () => (await store.collection<CountedRun>('runs').find({ limit: 1000 })).items,
      stored: async () => store.collection('kernel_jobs').count({ due_at: { exists: true } }),
    };

    describeEnqueuedJobs(world);
    describeRepeatingJobs(world);
    describeEndingJobs(world);
    describeSharedJobs(world);
    if (engine.runner !== null) describeProcessJobs(world, engine.runner);
  });
}
