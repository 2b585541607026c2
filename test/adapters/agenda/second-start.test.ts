/** What a start writes of its repeating jobs: most find each in its place. */
import { expect } from 'chai';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { RandomIds } from '../../../adapters/node/ids.js';
import { toIsoString } from '../../../lib/time.js';
import type { Collection, Doc } from '../../../ports/store/index.js';
import { JOBS_COLLECTION, type JobDoc } from '../../../adapters/agenda/job-document.js';
import { JobStore } from '../../../adapters/agenda/job-store.js';
import { ManualClock } from '../../kit/clock.js';

const EVERY_MS = 60_000;

class Counted extends MemoryStore {
  changes = 0;

  override collection<T extends Doc>(name: string): Collection<T> {
    const inner = super.collection<T>(name);
    const change: Collection<T>['change'] = (...requested) => {
      this.changes++;
      return inner.change(...requested);
    };
    return new Proxy(inner, {
      get: (_, member) => {
        const own: unknown = member === 'change' ? change : Reflect.get(inner, member);
        return typeof own === 'function' ? own.bind(inner) : own;
      },
    });
  }
}

describe('repeating jobs at startup', () => {
  let store: Counted;
  let clock: ManualClock;
  beforeEach(async () => {
    store = new Counted();
    await store.ensure([JOBS_COLLECTION]);
    clock = new ManualClock();
  });

  /**
   * A start of a process whose job has this interval: how many changes it asked for, and when the
   * job is due then.
   */
  async function start(everyMs: number): Promise<[changes: number, due: string | undefined]> {
    const jobs = store.collection<JobDoc>(JOBS_COLLECTION.name);
    const rows = new JobStore(jobs, clock, new RandomIds(clock), () => expect.fail('it has no cron expression'));
    const stored = await rows.findByNames(['a.tick', 'a.other']);
    store.changes = 0;
    await rows.schedule('a.tick', everyMs, stored.get('a.tick'));
    return [store.changes, (await jobs.get('a.tick'))?.due_at];
  }

  it('creates all jobs in one write, and writes nothing at the next start', async () => {
    const due = toIsoString(clock.now());
    expect(await start(EVERY_MS)).to.deep.equal([1, due]);
    clock.advance(1_000);
    expect(await start(EVERY_MS)).to.deep.equal([0, due]);
  });

  it('moves a job to a shorter interval unless it is locked', async () => {
    await start(EVERY_MS);
    const jobs = store.collection<JobDoc>(JOBS_COLLECTION.name);
    const later = toIsoString(clock.now() + EVERY_MS);
    await jobs.change({ id: 'a.tick' }, { set: { due_at: later } });
    expect(await start(EVERY_MS)).to.deep.equal([0, later]);
    await jobs.change({ id: 'a.tick' }, { set: { lock: 'x' } });
    expect(await start(1_000)).to.deep.equal([1, later]);
    await jobs.change({ id: 'a.tick' }, { unset: ['lock'] });
    expect(await start(1_000)).to.deep.equal([1, toIsoString(clock.now() + 1_000)]);
  });

  it('schedules a job without a due time immediately', async () => {
    await start(EVERY_MS);
    await store.collection<JobDoc>(JOBS_COLLECTION.name).change({ id: 'a.tick' }, { unset: ['due_at'] });
    clock.advance(5_000);
    expect(await start(EVERY_MS)).to.deep.equal([1, toIsoString(clock.now())]);
  });
});
