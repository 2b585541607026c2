/**
 * Contract suite of the Jobs port (ports/jobs.ts) for every store. "Two processes" are child
 * processes if the store is external, and otherwise two instances on one store.
 */
import type { AgendaJobs } from '../../../adapters/agenda/jobs.js';
import type { DocumentStore } from '../../../ports/store.js';
import { endingJobs } from './jobs/ending.js';
import { makeJobs, type CountedRun, type JobsEngine, type JobsWorld } from './jobs/harness.js';
import { jobsOfProcesses } from './jobs/processes.js';
import { repeatingJobs } from './jobs/repeating.js';
import { sharedJobs } from './jobs/sharing.js';
import { waitingJobs } from './jobs/waiting.js';

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

    const world: JobsWorld = {
      get store() {
        return store;
      },
      make: (specs, options) => {
        const made = makeJobs(store, specs, options);
        instances.push(made.jobs);
        return made;
      },
      keep: (jobs) => void instances.push(jobs),
      runs: async () => (await store.collection<CountedRun>('runs').find({ limit: 1000 })).items,
      stored: async () => store.collection('kernel_jobs').count({ due_at: { exists: true } }),
    };

    waitingJobs(world);
    repeatingJobs(world);
    endingJobs(world);
    sharedJobs(world);
    if (engine.runner !== null) jobsOfProcesses(world, engine.runner);
  });
}
