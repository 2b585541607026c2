import 'reflect-metadata';
import { expect } from 'chai';
import { buildItemSearch } from '../../../../plugins/bugs/pages/item-search.js';
import { createSearchQuery } from '../../../support/search-query.js';
import { memoryFixture, report, settled, type Fixture } from '../fixture.js';

describe('bugs: search', () => {
  let fixture: Fixture;
  const exact = (text: string): Promise<string | null> | undefined =>
    buildItemSearch({ ...fixture.deps, indirectMatches: fixture.indirectMatches }).findExact?.(createSearchQuery(text));
  beforeEach(async () => {
    fixture = await memoryFixture();
  });
  afterEach(() => settled(fixture));

  it('redirects to the item of a ref or a full client_ref', async () => {
    const { item } = await fixture.bugs.record(report({ client_ref: 'TICKET 7' }));
    expect(await exact(item.ref.toUpperCase())).to.equal(`/bugs/${item.ref}`);
    expect(await exact('TICKET 7')).to.equal(`/bugs/${item.ref}`);
    expect(await exact('TICKET')).to.equal(null);
    expect(await exact('ticket 7')).to.equal(null);
  });

  it('finds a client_ref that looks like a ref', async () => {
    const { item } = await fixture.bugs.record(report({ client_ref: 'ticket-999' }));
    expect(await exact('ticket-999')).to.equal(`/bugs/${item.ref}`);
  });

  it('does not redirect when two projects have the client_ref', async () => {
    await fixture.bugs.record(report({ client_ref: 'r1' }));
    await fixture.bugs.record(report({ client_ref: 'r1', project: 'beta' }));
    expect(await exact('r1')).to.equal(null);
  });
});
