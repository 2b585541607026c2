/**
 * What every adapter of a port must do (`aos/testing/contracts`), as mocha suites that need chai
 * and fast-check beside it.
 *
 * storeContract('my engine', { open: async () => new MyStore(url) });
 */
export { jobsContract } from './jobs.js';
export { JOBS_COLLECTIONS, type JobsEngine, type Runner } from './jobs/harness.js';
export { releaseStoreContract } from './release-store.js';
export { storeContract, type StoreContract } from './store.js';
