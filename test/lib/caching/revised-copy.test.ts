import { expect } from 'chai';
import { RevisionedCache } from '../../../lib/caching/revisioned-cache.js';

/** Two processes on one store. */
class Processes {
  now = 0;
  rev = 0;
  value = 'first';
  reads = 0;
  failing = false;
  readonly errors: unknown[] = [];

  process(): RevisionedCache<string> {
    return new RevisionedCache<string>({
      revisions: {
        get: async () => {
          if (this.failing) throw new Error('the store is away');
          return { rev: this.rev };
        },
        change: async (_filter, { inc }) => (this.rev += inc.rev),
      },
      id: 'rules',
      read: async () => {
        this.reads++;
        return this.value;
      },
      monotonic: () => this.now,
      failed: (error) => this.errors.push(error),
    });
  }
}

describe('lib/caching/revisioned-cache', () => {
  let store: Processes;
  let copy: RevisionedCache<string>;
  beforeEach(async () => {
    store = new Processes();
    copy = store.process();
    expect(copy.current).to.equal(null);
    expect(await copy.get()).to.equal('first');
  });

  it('returns a fresh copy synchronously', () => {
    store.now = 1_000;
    expect(copy.get()).to.equal('first');
    expect(store.reads).to.equal(1);
  });

  it('reflects a change in the same process when `changed` resolves', async () => {
    store.value = 'second';
    await copy.publishChange();
    expect(copy.get()).to.equal('second');
  });

  it('reflects a change in another process within two seconds', async () => {
    store.value = 'second';
    await store.process().publishChange();
    store.now = 2_001;
    expect(await copy.get()).to.equal('second');
  });

  it('skips reads while the revision is unchanged, and reloads everything after half a minute', async () => {
    store.now = 10_000;
    await copy.get();
    expect(store.reads).to.equal(1);
    store.now = 30_001;
    await copy.get();
    expect(store.reads).to.equal(2);
  });

  it('returns the copy and reports the error when a background read fails', async () => {
    store.failing = true;
    store.now = 1_500;
    expect(copy.get()).to.equal('first');
    await new Promise(setImmediate);
    expect(store.errors).to.have.length(1);
  });

  it('rejects when the copy is too old and the store is unavailable', async () => {
    store.failing = true;
    store.now = 2_001;
    const error = await Promise.resolve(copy.get()).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Error);
  });
});
