/**
 * What is told of the end of a run whose storing takes long, as it does on a busy machine's first
 * start.
 */
import { expect } from 'chai';
import { Job } from 'agenda';
import { MemoryStore } from '../../../adapters/memory/store.js';
import type { Collection, Doc, Update } from '../../../ports/store/index.js';
import { JOBS_COLLECTIONS, createJobs, waitUntil } from '../../kit/contracts/jobs/harness.js';

/** Holds every write that ends a lock until `release`. */
class SlowEnds extends MemoryStore {
  held = 0;
  release: () => void = () => undefined;
  readonly #gate = new Promise<void>((resolve) => (this.release = resolve));

  override collection<T extends Doc>(name: string): Collection<T> {
    const inner = super.collection<T>(name);
    const passed = async (update: Update): Promise<void> => {
      if (update.unset?.includes('lock') !== true) return;
      this.held++;
      await this.#gate;
    };
    const slow: Pick<Collection<T>, 'change' | 'changeMany'> = {
      change: async (filter, update, options) => passed(update).then(() => inner.change(filter, update, options)),
      changeMany: async (filter, update, limit) => passed(update).then(() => inner.changeMany(filter, update, limit)),
    };
    return new Proxy(inner, {
      get: (_, method) => {
        const own: unknown = Reflect.get(method in slow ? slow : inner, method);
        return typeof own === 'function' ? own.bind(inner) : own;
      },
    });
  }
}

describe('jobs: end of a run', function () {
  let looks = 0;
  const original = Object.getOwnPropertyDescriptor(Job.prototype, 'isExpired') ?? {};
  before(() => {
    // Agenda's watch over its runs: each look of it is counted, so that no time has to be guessed.
    Object.defineProperty(Job.prototype, 'isExpired', {
      ...original,
      value(this: Job, ...args: unknown[]): unknown {
        looks++;
        return Reflect.apply(original.value as () => unknown, this, args);
      },
    });
  });
  after(() => {
    Object.defineProperty(Job.prototype, 'isExpired', original);
  });

  it('does not log a run as canceled when storing its result takes long', async () => {
    const store = new SlowEnds();
    await store.ensure(JOBS_COLLECTIONS);
    let ran = 0;
    const { jobs, lines } = createJobs(store, [{ name: 'a.tick', everyMs: 3_600_000, run: async () => void ran++ }]);
    await jobs.start();
    await waitUntil('the end that is held', async () => store.held > 0);
    const before = looks;
    await waitUntil('Agenda looked after the run', async () => looks >= before + 3);
    store.release();
    await waitUntil('the end is stored', async () => (await jobs.list())[0]?.last_finished_at);
    await jobs.drain();
    expect(lines).to.deep.equal([]);
    expect(ran).to.equal(1);
  });
});
