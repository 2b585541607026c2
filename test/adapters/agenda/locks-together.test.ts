/** Locks of repeating jobs that are taken and given back together: each keeps its own. */
import { expect } from 'chai';
import type { JobParameters } from 'agenda';
import { FaultLines } from '../../../adapters/agenda/fault-lines.js';
import { JOBS_COLLECTION, type JobDoc } from '../../../adapters/agenda/job-document.js';
import { StoreJobRepository } from '../../../adapters/agenda/repository.js';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { RandomIds } from '../../../adapters/node/ids.js';
import { RepeatedLines } from '../../../lib/text/repeated-lines.js';
import { isoOf } from '../../../lib/time.js';
import { ManualClock } from '../../../testing/clock.js';
import { RecordingLog } from '../../../testing/fakes.js';

const NAMES = ['a.one', 'a.two', 'a.three'];
const EVERY_MS = 10_000;

describe('jobs that are due together', () => {
  let store: MemoryStore;
  let clock: ManualClock;
  let [first, second] = [] as unknown as [StoreJobRepository, StoreJobRepository];
  beforeEach(async () => {
    store = new MemoryStore();
    await store.ensure([JOBS_COLLECTION]);
    clock = new ManualClock();
    first = repository();
    second = repository();
    for (const name of NAMES) await first.rows.schedule(name, EVERY_MS, first.times.in(0), first.times.in(EVERY_MS));
  });

  function repository(): StoreJobRepository {
    return new StoreJobRepository({
      store,
      clock,
      ids: new RandomIds(clock),
      faults: new FaultLines(new RecordingLog(), new RepeatedLines(() => clock.monotonic()), clock),
      leaseMs: (name) => (name === 'a.two' ? 16_000 : 61_000),
      lockMs: 61_000,
      names: () => NAMES,
      freshMs: 250,
      next: () => isoOf(clock.now()),
    });
  }
  const stored = async (): Promise<JobDoc[]> =>
    (await store.collection<JobDoc>(JOBS_COLLECTION.name).find({ sort: [['id', 'asc']] })).items;
  const takeAll = async (process: StoreJobRepository, names = NAMES): Promise<JobParameters[]> =>
    (await Promise.all(names.map((name) => process.getNextJobToRun(name)))).filter((job) => job !== undefined);
  const names = (jobs: readonly JobParameters[]): string[] => jobs.map(({ name }) => name).toSorted();
  const end = (process: StoreJobRepository, job: JobParameters): Promise<void> => {
    const { lockedAt: _lock, ...rest } = job;
    return process.saveJobState(rest);
  };

  it('are locked once by two processes and two concurrent polls', async () => {
    const taken = await Promise.all([takeAll(first, [...NAMES, ...NAMES]), takeAll(second)]);
    expect(names(taken.flat())).to.deep.equal(names(NAMES.map((name) => ({ name }) as JobParameters)));
    expect(await takeAll(second)).to.deep.equal([]);
  });

  it('end independently: a long or failed one does not delay another', async () => {
    const [one, two, three] = await takeAll(first);
    if (!one || !two || !three) expect.fail('all are due');
    for (const job of [one, two, three]) await first.saveJobState(job);
    await Promise.all([end(first, one), end(first, { ...two, failCount: 1, failReason: 'broken' })]);
    expect((await stored()).map(({ id, lock, fail_count }) => [id, lock === undefined, fail_count])).to.deep.equal([
      ['a.one', true, 0],
      ['a.three', false, 0],
      ['a.two', true, 1],
    ]);
    clock.advance(EVERY_MS);
    expect(names(await takeAll(second))).to.deep.equal(['a.one', 'a.two']);
    await end(first, three);
    expect(names(await takeAll(second))).to.deep.equal(['a.three']);
  });

  it('are logged as lost when another process has taken them over, and the others end', async () => {
    const [one, two] = await takeAll(first, ['a.one', 'a.two']);
    if (!one || !two) expect.fail('both are due');
    for (const job of [one, two]) await first.saveJobState(job);
    clock.advance(16_001);
    expect(names(await takeAll(second, ['a.two']))).to.deep.equal(['a.two']);
    const ends = await Promise.allSettled([end(first, one), end(first, two)]);
    expect(ends.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected']);
    const docs = await stored();
    expect(docs.find(({ id }) => id === 'a.one')?.lock).to.equal(undefined);
    expect(docs.find(({ id }) => id === 'a.two')?.lock).to.be.a('string');
  });

  it('are due immediately when they are requested during their run', async () => {
    const [one, two] = await takeAll(first, ['a.one', 'a.two']);
    if (!one || !two) expect.fail('both are due');
    for (const job of [one, two]) await first.saveJobState(job);
    await first.rows.bringForward('a.two', first.times.in(0));
    await Promise.all([end(first, one), end(first, two)]);
    expect(names(await takeAll(second, ['a.one', 'a.two']))).to.deep.equal(['a.two']);
  });
});
