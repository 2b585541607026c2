/** The numbers beside the values of a filter, on every engine. */
import { expect } from 'chai';
import { ENGINES, fixtureOn, report, type Fixture } from '../fixture.js';

for (const engine of ENGINES) {
  describe(`bugs: counts beside filters on ${engine.name}`, function () {
    this.timeout(30_000);
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

    it('say what each value would show beside the other filters', async () => {
      const query = { project: ['alpha'], status: ['open'], severity: ['high'] };
      const counts = await fixture.board.countsBeside('a', query, ['project', 'severity', 'status', 'type']);
      expect(counts).to.deep.equal({
        project: { alpha: 1, beta: 1 },
        severity: { high: 1, low: 1 },
        status: { open: 1 },
        type: { bug: 1 },
      });
    });
  });
}
