/** One reading for all who ask: again while it is quick, a little old once it is slow. */
import { expect } from 'chai';
import { KeyedCoalescedCache, CoalescedCache } from '../../lib/caching/coalesced-cache.js';

/** Numbers, each reading the next; slow ones wait until they are let go. */
function readings(quickMs: number) {
  let at = 0;
  let begun = 0;
  const held: (() => void)[] = [];
  const state = { failing: false, holding: false };
  const read = async (): Promise<number> => {
    const n = ++begun;
    if (state.failing) throw new Error('no store');
    if (state.holding) await new Promise<void>((resolve) => held.push(resolve));
    return n;
  };
  const shared = new CoalescedCache(read, { maxAgeMs: 2_000, quickMs, monotonic: () => at });
  return { shared, state, begun: () => begun, at: (ms: number) => (at = ms), release: () => held.shift()?.() };
}

/** Every reading is slow. */
const SLOW = -1;
const QUICK = 60_000;
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('lib: coalesced cache', () => {
  it('reads again for every request while reads are fast', async () => {
    const { shared } = readings(QUICK);
    expect([await shared.get(), await shared.get(), await shared.get()]).to.deep.equal([1, 2, 3]);
  });

  it('shares the next read among requests that arrive during a fast read', async () => {
    const { shared, state, release, begun } = readings(QUICK);
    await shared.get();
    state.holding = true;
    const requested = [shared.get(), shared.get(), shared.get()];
    release();
    await settled();
    release();
    expect(await Promise.all(requested)).to.deep.equal([2, 3, 3]);
    expect(begun()).to.equal(3);
  });

  it('returns the cached value when reads are slow, until it expires', async () => {
    const { shared, at } = readings(SLOW);
    expect(await shared.get()).to.equal(1);
    at(1_000);
    expect(await shared.get()).to.equal(1);
    at(2_001);
    expect(await shared.get()).to.equal(2);
  });

  it('refreshes the value in the background once before it expires', async () => {
    const { shared, state, at, release, begun } = readings(SLOW);
    await shared.get();
    state.holding = true;
    at(2_000);
    expect([await shared.get(), await shared.get()]).to.deep.equal([1, 1]);
    expect(begun()).to.equal(2);
    release();
    await settled();
    at(3_000);
    expect(await shared.get()).to.equal(2);
  });

  it('reports a failed background read to the next request, and reads again for the following request', async () => {
    const { shared, state, at } = readings(SLOW);
    await shared.get();
    state.failing = true;
    at(2_000);
    expect(await shared.get()).to.equal(1);
    await settled();
    expect(await shared.get().catch((error: Error) => error.message)).to.equal('no store');
    state.failing = false;
    expect(await shared.get()).to.equal(4);
  });

  it('rereads a small value, even if the last read was slow', async () => {
    let n = 0;
    const options = { maxAgeMs: 2_000, monotonic: () => 0, isSmall: (value: number) => value < 3 };
    const shared = new CoalescedCache(async () => ++n, options);
    const taken = [await shared.get(), await shared.get(), await shared.get(), await shared.get()];
    expect(taken).to.deep.equal([1, 2, 3, 3]);
  });
});

describe('keyed reads', () => {
  it('are shared by requests for the same key until they expire', async () => {
    let now = 0;
    const requested: string[] = [];
    const readings = new KeyedCoalescedCache<number>(2, {
      maxAgeMs: 1_000,
      monotonic: () => now,
      isSmall: (n) => n < 10,
    });
    const take = (key: string, value: number): Promise<number> =>
      readings.get(key, () => {
        requested.push(key);
        return Promise.resolve(value);
      });
    expect([await take('a', 50), await take('a', 50), await take('b', 60)]).to.deep.equal([50, 50, 60]);
    expect(requested).to.deep.equal(['a', 'b']);
    now += 1_001;
    expect(await take('a', 50)).to.equal(50);
    expect(requested).to.deep.equal(['a', 'b', 'a']);
    // What is small is counted again each time: somebody sees a change at once.
    await take('c', 5);
    await take('c', 5);
    expect(requested.slice(3)).to.deep.equal(['c', 'c']);
  });
});
