/** The numbers beside the values of a filter, on every engine. */
import { expect } from 'chai';
import { FilterCountService } from '../../../../plugins/bugs/lists/filter-counts.js';
import { ENGINES, fixtureOn, memoryFixture, report, type Fixture } from '../fixture.js';
import { useStore } from '../../../support/stores.js';

for (const engine of ENGINES) {
  describe(`bugs: filter counts on ${engine.name}`, function () {
    let fixture: Fixture;
    useStore(
      engine,
      async (store) => {
        fixture = fixtureOn(store);
        for (const [project, severity] of [
          ['alpha', 'high'],
          ['alpha', 'low'],
          ['beta', 'high'],
        ] as const)
          await fixture.bugs.record(report({ project, severity, title: `${project} ${severity}` }));
      },
      { once: true },
    );

    it('show the number of results per value, with the other filters applied', async () => {
      const query = { project: ['alpha'], status: ['open'], severity: ['high'] };
      const requested = (): Promise<object | null> =>
        fixture.board.countByFilter('a', query, ['project', 'severity', 'status', 'type']);
      // A page waits for them a moment only; the reading goes on, and the next page finds it.
      let counts = await requested();
      while (counts === null) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        counts = await requested();
      }
      expect(counts).to.deep.equal({
        project: { alpha: 1, beta: 1 },
        severity: { high: 1, low: 1 },
        status: { open: 1 },
        type: { bug: 1 },
      });
    });
  });
}

describe('bugs: slow filter counts', () => {
  it('are null until available, and for a fifth query while four are running', async () => {
    const { deps, indirectMatches } = await memoryFixture();
    const ends: (() => void)[] = [];
    let reads = 0;
    const groupCount = async (): Promise<{ key: string; n: number }[]> => {
      reads++;
      await new Promise<void>((resolve) => ends.push(resolve));
      return [{ key: 'open', n: 3 }];
    };
    const items = Object.assign(Object.create(deps.items) as typeof deps.items, { groupCount });
    const counts = new FilterCountService(items, deps.clock, indirectMatches);
    const count = (key: string): Promise<object | null> => counts.getCounts(key, {}, ['status']);
    expect(await Promise.all(['a', 'b', 'c', 'd', 'e'].map(count))).to.deep.equal([null, null, null, null, null]);
    expect(reads).to.equal(4);
    for (const end of ends) end();
    expect(await count('a')).to.deep.equal({ status: { open: 3 } });
    expect(reads).to.equal(4);
  });
});
