/** Builds that can close an item (contract 20, transitions). */
import { expect } from 'chai';
import { codeOf, errorReport, MANAGER, memoryFixture, type Fixture } from '../fixture.js';

describe('bugs: build that contains the fix', () => {
  let fixture: Fixture;
  let id: string;
  beforeEach(async () => {
    fixture = await memoryFixture();
    ({ id } = await fixture.bugs.record(errorReport({ app_version: '1.2.0' })));
    await fixture.bugs.record(errorReport({ app_version: '1.4.0' }));
  });
  const resolve = (resolved_in_build: string) =>
    fixture.edits.editWithDetails(id, MANAGER, { status: 'resolved', resolved_in_build });

  for (const [given, stored] of [
    ['v1.5.0', '1.5.0'],
    ['shop@1.5.0', '1.5.0'],
    ['@acme/shop@v1.5.0', '1.5.0'],
    ['vanilla-7', 'vanilla-7'],
    ['2026.11_rc+1', '2026.11_rc+1'],
  ] as const)
    it(`stores ${given} as ${stored}`, async () => {
      expect((await resolve(given)).item).to.include({ status: 'resolved', resolved_in_build: stored });
    });

  for (const wrong of ['banana!!', 'a b', '-x', 'x'.repeat(65), 'shop@'])
    it(`rejects ${wrong.slice(0, 20)}`, async () => {
      expect(await codeOf(resolve(wrong))).to.equal('validation_failed');
      expect((await fixture.deps.items.get(id))?.status).to.equal('open');
    });

  it('rejects builds up to the first occurrence, and warns if the error occurred in the given build', async () => {
    for (const old of ['1.2.0', 'v1.2', '1.0']) expect(await codeOf(resolve(old)), old).to.equal('validation_failed');
    const { item, warnings, latest_build } = await resolve('1.4.0');
    expect(item.status).to.equal('resolved');
    expect(warnings).to.have.lengthOf(1);
    expect(warnings?.[0]).to.include('1.4.0');
    expect(latest_build).to.equal(null);
  });

  it('closes for a published build above the last occurrence, never for one in which it occurred', async () => {
    await fixture.published('1.4.0');
    await fixture.published('1.5.0');
    const seen = await resolve('1.4.0');
    expect(seen).to.deep.include({ latest_build: '1.5.0' });
    expect(seen.item.status).to.equal('resolved');
    await fixture.jobs.sweep();
    expect((await fixture.edits.editWithDetails(id, MANAGER, {})).item.status).to.equal('resolved');
    const closed = await fixture.edits.editWithDetails(id, MANAGER, { resolved_in_build: 'v1.5.0' });
    expect(closed.item.status).to.equal('closed');
    expect(closed).to.not.have.property('warnings');
  });

  it('closes on the publish itself, regardless of sightings', async () => {
    await resolve('1.4.0');
    expect(await fixture.bugs.recordRelease('alpha', { version: '1.4.0', build: null })).to.deep.equal([id]);
  });
});
