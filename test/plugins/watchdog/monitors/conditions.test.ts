/**
 * Monitors as a page for visitors needs them, and where the search for them ends, on every engine
 * (contract 30).
 */
import { expect } from 'chai';
import type { ConditionQuery } from '../../../../ports/domain/watchdog.js';
import { createMonitor } from '../../../../plugins/watchdog/model/monitor-view.js';
import { ANYONE, fixtureOn, STORES, type Fixture } from '../fixture.js';
import { useStore } from '../../../support/stores.js';

for (const engine of STORES) {
  describe(`monitor conditions (${engine.name})`, function () {
    let fixture: Fixture;

    useStore(
      engine,
      async (store) => {
        fixture = fixtureOn(store);
        const { ids, clock, monitors } = fixture.deps;
        const insert = (source: string, parent_source: string | null, project: string | null = null) => ({
          insert: createMonitor({ source, parent_source, project }, ids, clock.now()),
        });
        await monitors.bulk([
          insert('root', null, 'shop'),
          ...Array.from({ length: 4 }, (_, i) => insert(`rack-${i}`, 'root')),
          ...Array.from({ length: 4 }, (_, i) => insert(`host-${i}`, `rack-${i}`, 'shop')),
          insert('alone', null),
        ]);
      },
      { end: () => fixture.settled(), once: true },
    );

    const found = async (query: Partial<ConditionQuery>): Promise<[number, boolean]> => {
      const requested = { sources: [], subtrees: ['root'], project: null, days: 1, limit: 100, ...query };
      const { monitors, complete } = await fixture.conditions.findConditions(requested);
      return [new Set(monitors.map(({ source }) => source)).size, complete];
    };

    it('finds each monitor of a branch and of a list once', async () => {
      expect(await found({ sources: ['alone', 'host-1', 'nowhere'] })).to.deep.equal([10, true]);
      expect(await found({ project: 'shop' })).to.deep.equal([5, true]);
    });

    it('reports whether the limit omitted monitors', async () => {
      expect(await found({ limit: 9 })).to.deep.equal([9, true]);
      for (const limit of [8, 5, 4, 1]) expect(await found({ limit }), `${limit}`).to.deep.equal([limit, false]);
      expect(await found({ limit: 1, subtrees: [], sources: ['alone', 'root'] })).to.deep.equal([1, false]);
      const [own, complete] = await found({ limit: 6, project: 'shop' });
      expect([own < 5, complete], 'others between count').to.deep.equal([true, false]);
    });

    it('skips deleted monitors', async () => {
      await fixture.monitors.remove('alone', ANYONE);
      expect(await found({ subtrees: [], sources: ['alone'] })).to.deep.equal([0, true]);
    });
  });
}
