import { expect } from 'chai';
import { ReadCache, type ReadCacheOptions } from '../../lib/caching/read-cache.js';

const HANG_MS = 60_000;

function defer(): { promise: Promise<number>; resolve: (value: number) => void } {
  let resolve: (value: number) => void = () => undefined;
  const promise = new Promise<number>((done) => (resolve = done));
  return { promise, resolve };
}

describe('lib: read cache', () => {
  let now: number;
  let reads: number;
  const create = (options: Partial<ReadCacheOptions> = {}): ReadCache<number> =>
    new ReadCache<number>({ max: 10, ttlMs: 100, now: () => now, ...options });
  const count = async (): Promise<number> => ++reads;

  beforeEach(() => {
    now = 0;
    reads = 0;
  });

  it('returns the cached value until it expires', async () => {
    const cache = create();
    const results: unknown[] = [];
    for (now of [0, 100, 101]) results.push(await cache.getWithin(HANG_MS, 'a', count));
    expect(results).to.deep.equal([1, 1, 2]);
  });

  it('caches a value longer when its read took longer', async () => {
    const cache = create({ ttlMs: (took) => took * 20 });
    const slow = async (): Promise<number> => {
      now += 5;
      return ++reads;
    };
    await cache.getWithin(HANG_MS, 'a', slow);
    now += 100;
    expect(await cache.getWithin(HANG_MS, 'a', slow)).to.equal(1);
    now += 1;
    expect(await cache.getWithin(HANG_MS, 'a', slow)).to.equal(2);
  });

  it('returns null when the read takes too long, and its value later without a second read', async () => {
    const cache = create();
    const { promise, resolve } = defer();
    expect(await cache.getWithin(0, 'a', () => promise)).to.equal(null);
    const next = cache.getWithin(HANG_MS, 'a', count);
    resolve(7);
    expect(await next).to.equal(7);
    expect(await cache.getWithin(HANG_MS, 'a', count)).to.equal(7);
    expect(reads).to.equal(0);
  });

  it('answers the callers of a read whose entry was evicted', async () => {
    const cache = create({ max: 1 });
    const { promise, resolve } = defer();
    const first = cache.getWithin(HANG_MS, 'a', () => promise);
    await cache.getWithin(HANG_MS, 'b', count);
    resolve(7);
    expect(await first).to.equal(7);
  });

  it('reports a failed read to its callers, and reads again for the next caller', async () => {
    const cache = create();
    const failed = cache.getWithin(HANG_MS, 'a', () => Promise.reject(new Error('no store')));
    expect(await failed.catch((error: Error) => error.message)).to.equal('no store');
    expect(await cache.getWithin(HANG_MS, 'a', count)).to.equal(1);
  });
});
