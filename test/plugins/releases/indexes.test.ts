/**
 * Every query that the release plugin makes in use finds a declared index (design, ports: hot
 * look-ups).
 */
import 'reflect-metadata';
import { expect } from 'chai';
import { COLLECTIONS } from '../../../plugins/releases/collections.js';
import { listUncoveredQueries, WatchedStore } from '../../support/watched-store.js';
import { CI, ensureCollections, fixtureOn } from './fixture.js';

describe('declared indexes of releases', function () {
  it('cover its queries', async () => {
    const store = new WatchedStore();
    const f = fixtureOn(await ensureCollections(store));
    await f.index.start();
    await f.publish('1.0.0');
    await f.publish('1.1.0', 'beta', { channel: 'beta', rollout_percent: 10 });
    await f.check('1.0.0');
    const updated_since = f.clock.iso();
    for (const query of [
      {},
      { product: 'shop' },
      { product: 'shop', channel: 'beta' },
      { channel: 'beta' },
      { platform: 'any' as const },
      { updated_since },
      { updated_since, product: 'shop' },
    ])
      await f.lists.listPage(CI, { limit: 10, include_total: true, ...query });
    await f.changes.promote(
      CI,
      { product: 'shop', channel: 'beta', version: '1.1.0', platform: null },
      'stable',
      10,
      'ci',
    );
    await f.changes.setRollout(CI, { product: 'shop', channel: 'beta', version: '1.1.0', platform: 'any' }, 50);
    await f.changes.withdraw(CI, { product: 'shop', channel: 'stable', version: '1.0.0', platform: null }, 'bad');
    await f.directory.listProducts();
    await f.directory.listChannels('shop', 'any');
    await f.index.refresh();
    await f.resigning.resign();
    await f.halting.checkAll();
    await f.reconciler.run();
    await f.reconciler.compare();
    await f.index.stop();
    const { without, looked } = listUncoveredQueries(store.asked, 'releases', COLLECTIONS);
    // A project has hundreds of releases, seldom thousands: totals, and what an hourly job looks
    // for, are counted out.
    const counted = without.filter((query) => !query.startsWith('releases_releases.count '));
    expect(counted).to.have.lengthOf(1);
    expect(counted[0]).to.include('releases_releases.find {"withdrawn_at":null,"key_id":{"ne":');
    expect(looked).to.be.greaterThan(30);
  });
});
