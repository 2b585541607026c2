/**
 * Where nobody asks, the index looks seldom; the first question waits for a look (contract 95,
 * several processes).
 */
import { expect } from 'chai';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { WatchedStore } from '../../support/watched-store.js';
import { ensureCollections, fixtureOn, memoryPackages } from './fixture.js';

describe('unused index of releases', function () {
  it('responds to the first request from the store, and to the next from memory', async () => {
    const [store, packages] = [await ensureCollections(new MemoryStore()), memoryPackages()];
    const maker = fixtureOn(store, packages);
    const requested = fixtureOn(store, packages, maker.clock);
    await requested.index.start();
    try {
      await maker.publish('1.1.0');
      expect((await requested.check('1.0.0')).release?.version).to.equal('1.1.0');
      // From now on it looks by itself: what another process did just now may be two seconds away.
      await maker.publish('1.2.0');
      expect(requested.index.ensureCurrent()).to.equal(null);
      expect((await requested.check('1.0.0')).release?.version).to.equal('1.1.0');
    } finally {
      await requested.index.stop();
    }
  });

  it('shares a read between concurrent requests', async () => {
    const store = new WatchedStore();
    const f = fixtureOn(await ensureCollections(store));
    await f.publish('1.1.0');
    await f.index.start();
    try {
      const before = store.asked.length;
      await Promise.all(Array.from({ length: 20 }, () => f.check('1.0.0')));
      const looks = store.asked.slice(before).filter((query) => JSON.stringify(query).includes('updated_at'));
      expect(looks.length).to.be.within(1, 2);
    } finally {
      await f.index.stop();
    }
  });
});
