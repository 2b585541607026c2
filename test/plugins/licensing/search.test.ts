import 'reflect-metadata';
import { expect } from 'chai';
import { createLicenseSearch, createMachineSearch } from '../../../plugins/licensing/pages/search.js';
import { WatchedStore } from '../../support/watched-store.js';
import { createSearchQuery } from '../../support/search-query.js';
import { fixtureOn, STORE, type Fixture } from './fixture.js';

describe('licensing: search', () => {
  let f: Fixture;
  beforeEach(async () => {
    f = fixtureOn(await STORE.ensureCollections(new WatchedStore()));
  });
  afterEach(() => f.settled());

  it('finds a license once by its full client_ref', async () => {
    const { doc } = await f.license({ client_ref: 'order-1', licensee: 'order-1 Ltd' });
    await f.license({ client_ref: 'order-12' });
    const hits = await createLicenseSearch(f.licenses).find(createSearchQuery('order-1'));
    expect(hits.map(({ href, detail }) => [href, detail])).to.deep.equal([[`/licenses/${doc.id}`, 'shop · order-1']]);
  });

  it('finds a machine by the start of its id or name, and links to its license', async () => {
    const { doc, key } = await f.license();
    const machine = { product: 'shop', machine_id: 'machine-one', machine_name: 'Reception' };
    await f.online.validate(key, machine, { takesSeat: true, warnings: [] });
    await f.online.validate(key, { product: 'shop', machine_id: 'machine-two' }, { takesSeat: true, warnings: [] });
    const hit = {
      title: 'Reception',
      href: `/licenses/${doc.id}`,
      detail: 'shop · machine-one',
      state: 'active',
    };
    const search = createMachineSearch(f.deps);
    expect(await search.find(createSearchQuery('machine-one'))).to.deep.equal([hit]);
    expect(await search.find(createSearchQuery('Reception'))).to.deep.equal([hit]);
    const [unnamed] = await search.find(createSearchQuery('machine-two'));
    expect(unnamed).to.include({ title: 'machine-two', detail: 'shop' });
    expect(await search.find(createSearchQuery('machine'))).to.deep.equal([hit, unnamed]);
    expect(await search.find(createSearchQuery('achine-one'))).to.deep.equal([]);
  });
});
