/** The numbers beside the values of a filter, on every engine. */
import { expect } from 'chai';
import { ENGINES, fixtureOn, report, type Fixture } from '../fixture.js';

for (const engine of ENGINES) {
  describe(`bugs: counts of filters on ${engine.name}`, function () {
    let fixture: Fixture;
    let close: () => Promise<void>;
    before(async function () {
      const opened = await engine.open(() => this.skip());
      close = opened.close;
      fixture = fixtureOn(opened.store);
      for (const [project, severity] of [
        ['alpha', 'high'],
        ['alpha', 'low'],
        ['beta', 'high'],
      ] as const)
        await fixture.bugs.record(report({ project, severity, title: `${project} ${severity}` }));
    });
    after(async () => close?.());

    it('show the results of each value with the other filters', async () => {
      const query = { project: ['alpha'], status: ['open'], severity: ['high'] };
      const asked = (): Promise<object | null> =>
        fixture.board.countsBeside('a', query, ['project', 'severity', 'status', 'type']);
      // A page waits for them a moment only; the reading goes on, and the next page finds it.
      let counts = await asked();
      while (counts === null) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        counts = await asked();
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
