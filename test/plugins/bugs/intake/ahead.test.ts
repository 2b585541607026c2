/** What a clock that was ahead has left on items, once it is put back (contract 95, a bad day). */
import { expect } from 'chai';
import { ENGINES, errorReport, fixtureOn, settled, type Fixture } from '../fixture.js';
import { useStore } from '../../../support/stores.js';

const YEAR_MS = 365 * 86_400_000;

for (const engine of ENGINES) {
  describe(`bugs: correction after the clock ran ahead (${engine.name})`, () => {
    let fixture: Fixture;
    useStore(engine, (store) => (fixture = fixtureOn(store)), { end: () => settled(fixture) });

    it('limits last_seen_at of items to the current time', async () => {
      const { clock } = fixture;
      const right = clock.now();
      clock.set(right + YEAR_MS);
      const { id } = await fixture.bugs.record(errorReport());
      const other = await fixture.bugs.record(errorReport({ title: 'Another', exception_class: 'Other' }));
      clock.set(right);
      clock.advance(60_000);
      const seen = async (of: string): Promise<string | undefined> => (await fixture.deps.items.get(of))?.last_seen_at;
      await fixture.jobs.sweep();
      expect(await seen(id)).to.equal(clock.iso());
      expect(await seen(other.id)).to.equal(clock.iso());
      clock.advance(60_000);
      await fixture.bugs.record(errorReport());
      expect(await seen(id)).to.equal(clock.iso());
      const before = await fixture.deps.items.get(other.id);
      await fixture.jobs.sweep();
      expect(await fixture.deps.items.get(other.id)).to.deep.equal(before);
    });
  });
}
