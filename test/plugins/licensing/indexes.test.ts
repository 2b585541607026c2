/** Every query that licensing makes in use finds a declared index (design, ports: hot look-ups). */
import 'reflect-metadata';
import { expect } from 'chai';
import { COLLECTIONS } from '../../../plugins/licensing/collections.js';
import { listUncoveredQueries, WatchedStore } from '../../support/watched-store.js';
import { createLicenseSearch, createMachineSearch } from '../../../plugins/licensing/pages/search.js';
import { createSearchQuery } from '../../support/search-query.js';
import { ADMIN, fixtureOn, STORE } from './fixture.js';

describe('declared indexes of licensing', () => {
  it('cover its queries', async () => {
    const store = new WatchedStore();
    const f = fixtureOn(await STORE.ensureCollections(store));
    const { doc, key } = await f.license({ client_ref: 'order-1', max_activations: 1 });
    await f.license({ expires_at: new Date(f.clock.now() + 3_600_000).toISOString() });
    await f.licenses.createMany(ADMIN, { product: 'shop', max_activations: 2, client_ref: null }, 3);
    for (const machine_id of ['machine-one', 'machine-two'])
      await f.online.validate(key, { product: 'shop', machine_id }, { takesSeat: true, warnings: [] });
    const floating = await f.license({ floating: true, max_activations: 1 });
    for (const machine_id of ['one', 'two'])
      await f.online.validate(floating.key, { product: 'shop', machine_id }, { takesSeat: true, warnings: [] });
    const seats = await f.seatAdministration.listPage(ADMIN, floating.doc.id, { limit: 10 });
    await seats.count();
    f.clock.advance(3_600_000);
    await f.online.validate(floating.key, { product: 'shop', machine_id: 'two' }, { takesSeat: true, warnings: [] });
    await f.seats.release('00000000-0000-4000-8000-000000000000');
    await f.seats.removeReleased();
    for (const query of [
      {},
      { product: 'shop' },
      { status: 'active' as const },
      { status: 'expired' as const },
      { product: 'shop', status: 'revoked' as const },
      { client_ref: 'order-1' },
      { key_sha256: doc.key_sha256 },
    ])
      await (await f.licenses.listPage(ADMIN, { ...query, limit: 10 })).count();
    await f.licenses.listExpiring('shop', new Date(f.clock.now() + 7_200_000).toISOString(), 3);
    await (await f.activations.listPage(ADMIN, doc.id, { limit: 10 })).count();
    await f.activations.listPage(ADMIN, doc.id, { limit: 10, status: 'active' });
    await f.activations.listPending(ADMIN, 10);
    await f.activations.countPending();
    await f.activations.countByState(doc.id);
    const [machine] = (await f.activations.listPage(ADMIN, doc.id, { limit: 1 })).items;
    await createLicenseSearch(f.licenses).find(createSearchQuery('order-1'));
    await createMachineSearch(f.deps).find(createSearchQuery('machine-one'));
    await f.activations.applyTransition(ADMIN, doc.id, machine!.id, 'release');
    await f.licenses.applyTransition(ADMIN, doc.id, 'deactivate', 'unpaid');
    for await (const _ of f.directory.iterateCredentials('shop')) void _;
    await f.directory.getRevision();
    await f.directory.findByKeySha256(doc.key_sha256);
    await f.hashes.reconcile(f.clock.iso());
    f.clock.advance(100 * 86_400_000);
    await f.expiry.run();
    await f.machines.releaseUnseen();
    for (const outbox of f.outboxes) await outbox.reconcile();
    await f.settled();
    const { without, looked } = listUncoveredQueries(store.asked, 'licensing', COLLECTIONS);
    // `include_total` without a filter counts them all.
    expect(without).to.deep.equal(['licensing_licenses.count {} []']);
    expect(looked).to.be.greaterThan(30);
  });
});
