/**
 * Jobs on a machine whose clock is put forward and back (contract 95, a bad day). The monotonic
 * clock goes on as ever.
 */
import { expect } from 'chai';
import type { JobParameters } from 'agenda';
import { JOBS_COLLECTION, type JobDoc } from '../../../adapters/agenda/job-document.js';
import { StoreJobRepository } from '../../../adapters/agenda/repository.js';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { RandomIds } from '../../../adapters/node/ids.js';
import { DAY_MS, HOUR_MS, toIsoString, MINUTE_MS } from '../../../lib/time.js';
import { ManualClock } from '../../kit/clock.js';
import { RecordingLog } from '../../kit/fakes.js';

const NAME = 'test.tick';
const LEASE_MS = 61_000;
const YEAR_MS = 365 * DAY_MS;
const STEPS = { 'an hour back': -HOUR_MS, 'a year back': -YEAR_MS, 'an hour ahead': HOUR_MS, 'a year ahead': YEAR_MS };

describe('jobs: clock jumps', () => {
  let store: MemoryStore;
  let clock: ManualClock;
  beforeEach(async () => {
    store = new MemoryStore();
    await store.ensure([JOBS_COLLECTION]);
    clock = new ManualClock();
  });

  /** One process, which sees the same clock. */
  function repository(time: ManualClock = clock): StoreJobRepository {
    return new StoreJobRepository({
      store,
      clock: time,
      ids: new RandomIds(time),
      log: new RecordingLog(),
      leaseMs: () => LEASE_MS,
      lockMs: LEASE_MS,
      names: () => [NAME],
      next: () => toIsoString(Math.floor(time.now() / DAY_MS + 1) * DAY_MS),
    });
  }
  const step = (ms: number): void => clock.set(clock.now() + ms);
  /** Takes the job, if it is due, and runs it to its end. */
  async function runs(process: StoreJobRepository): Promise<boolean> {
    const job = await process.getNextJobToRun(NAME);
    if (job === undefined) return false;
    await process.saveJobState(job);
    await process.saveJobState(ended(job));
    return true;
  }
  const ended = (job: JobParameters): JobParameters => {
    const { lockedAt: _lock, ...rest } = job;
    return rest;
  };
  const every = async (process: StoreJobRepository, ms: number): Promise<void> => process.rows.schedule(NAME, ms);
  const stored = async (): Promise<JobDoc> =>
    (await store.collection<JobDoc>(JOBS_COLLECTION.name).get(NAME)) ?? expect.fail('it is stored');

  for (const [name, ms] of Object.entries(STEPS)) {
    it(`runs a repeating job at its interval after a jump of ${name}`, async () => {
      const process = repository();
      await every(process, 5 * MINUTE_MS);
      expect(await runs(process)).to.equal(true);
      step(ms);
      // Ahead it is due at once; either way it runs again within its interval, and then once in
      // each.
      clock.advance(5 * MINUTE_MS + 1);
      expect(await runs(process)).to.equal(true);
      clock.advance(5 * MINUTE_MS + 1);
      expect(await runs(process)).to.equal(true);
      expect(await runs(process)).to.equal(false);
      clock.advance(5 * MINUTE_MS - 1_000);
      expect(await runs(process)).to.equal(false);
      clock.advance(1_001);
      expect(await runs(process)).to.equal(true);
    });

    it(`starts the interval at the start of a run when the clock jumps ${name} during the run`, async () => {
      const process = repository();
      await every(process, 5 * MINUTE_MS);
      const job = (await process.getNextJobToRun(NAME)) ?? expect.fail('it is due');
      await process.saveJobState(job);
      clock.advance(MINUTE_MS);
      step(ms);
      await process.saveJobState(ended(job));
      clock.advance(4 * MINUTE_MS - 1);
      expect(await runs(process)).to.equal(false);
      clock.advance(1);
      expect(await runs(process)).to.equal(true);
    });

    it(`keeps the lock of a live process for its full duration and ends that of a dead process (${name})`, async () => {
      const [first, second] = [repository(), repository()];
      await every(first, 5 * MINUTE_MS);
      const job = (await first.getNextJobToRun(NAME)) ?? expect.fail('it is due');
      await first.saveJobState(job);
      clock.advance(1_000);
      step(ms);
      expect(await runs(second)).to.equal(false);
      clock.advance(LEASE_MS - 2_000);
      expect(await runs(second)).to.equal(false);
      // Put back, a lock may have to be anchored first: then it lasts for once more of its length.
      clock.advance(LEASE_MS);
      expect(await runs(second)).to.equal(true);
    });
  }

  it('keeps the lock of a live process when the clock jumps an hour ahead twice', async () => {
    const [first, second] = [repository(), repository()];
    await every(first, 5 * MINUTE_MS);
    const job = (await first.getNextJobToRun(NAME)) ?? expect.fail('it is due');
    await first.saveJobState(job);
    for (const _ of [1, 2]) {
      clock.advance(1_000);
      step(HOUR_MS);
      expect(await runs(second)).to.equal(false);
    }
    clock.advance(LEASE_MS);
    expect(await runs(second)).to.equal(true);
  });

  it('corrects times far in the future that another machine or an earlier process wrote', async () => {
    const wrong = new ManualClock(clock.now() + YEAR_MS);
    const before = repository(wrong);
    await every(before, 5 * MINUTE_MS);
    await runs(before);
    await before.rows.add(NAME, null, before.rows.dueIn(MINUTE_MS), undefined, 0);
    const process = repository();
    expect(await runs(process)).to.equal(false);
    clock.advance(MINUTE_MS);
    expect(await runs(process)).to.equal(true);
    clock.advance(4 * MINUTE_MS);
    expect(await runs(process)).to.equal(true);
    expect((await stored()).due_at).to.equal(toIsoString(clock.now() + 5 * MINUTE_MS));
  });

  it('recomputes the due time of a cron expression but not an explicit due time', async () => {
    const process = repository();
    const midnight = Math.floor(clock.now() / DAY_MS + 1) * DAY_MS;
    await process.rows.schedule(NAME, '0 0 * * *');
    step(-2 * DAY_MS);
    expect(await runs(process)).to.equal(false);
    expect((await stored()).due_at).to.equal(toIsoString(midnight - 2 * DAY_MS));
  });

  it('sends one query per minute', async () => {
    const process = repository();
    const jobs = store.collection<JobDoc>(JOBS_COLLECTION.name);
    await every(process, 5 * MINUTE_MS);
    await runs(process);
    // Nobody but a clock could have put it there.
    const far = toIsoString(clock.now() + YEAR_MS);
    await jobs.change({ id: NAME }, { set: { due_at: far } });
    expect(await runs(process)).to.equal(false);
    expect((await stored()).due_at).to.equal(far);
    clock.advance(MINUTE_MS);
    expect(await runs(process)).to.equal(false);
    expect((await stored()).due_at).to.equal(toIsoString(clock.now() + 5 * MINUTE_MS));
  });
});
