/** The state of a group is the worst of its children (contract 30, amendments, imports). */
import { expect } from 'chai';
import { findWorstState } from '../../../../plugins/watchdog/group-states.js';
import { ANYONE, fixtureOn, MINUTE, STORES, type Fixture } from '../fixture.js';
import { useStore } from '../../../support/stores.js';

describe('worstState', () => {
  for (const [states, expected] of [
    [[], 'unknown'],
    [['unknown', 'up'], 'up'],
    [['up', 'warning'], 'warning'],
    [['up', 'down', 'warning'], 'down'],
    [['stopped', 'maintenance'], 'maintenance'],
    [['stopped', 'unknown'], 'stopped'],
  ] as const)
    it(`is ${expected} for [${states.join()}]`, () => expect(findWorstState(new Set(states))).to.equal(expected));
});

for (const engine of STORES) {
  describe(`monitor groups on ${engine.name}`, () => {
    let fixture: Fixture;
    useStore(
      engine,
      async (store) => {
        fixture = fixtureOn(store);
        await fixture.monitors.create({ source: 'all', group: true }, ANYONE);
        await fixture.monitors.create({ source: 'web', group: true, parent_source: 'all' }, ANYONE);
        for (const source of ['web-1', 'web-2'])
          await fixture.monitors.create({ source, parent_source: 'web', interval_seconds: 60 }, ANYONE);
      },
      { end: () => fixture.settled() },
    );

    const states = async (): Promise<string[]> => {
      await fixture.settled();
      return [(await fixture.monitor('web')).state, (await fixture.monitor('all')).state];
    };
    const alarms = (): string[] => fixture.told.map(({ event, data }) => `${event} ${data.source}`);

    it('derive their state from children, including nested groups', async () => {
      expect(await states()).to.deep.equal(['unknown', 'unknown']);
      await fixture.beat('web-1');
      expect(await states()).to.deep.equal(['up', 'up']);
      await fixture.beat('web-2', { status: 'warning' });
      expect(await states()).to.deep.equal(['warning', 'warning']);
      await fixture.beat('web-2', { status: 'down' });
      expect(await states()).to.deep.equal(['down', 'down']);
      await fixture.beat('web-2');
      expect(await states()).to.deep.equal(['up', 'up']);
    });

    it('raise and suppress no alarms, and reflect silence found by the evaluator', async () => {
      await fixture.beat('web-1');
      await fixture.beat('web-2');
      fixture.clock.advance(5 * MINUTE);
      await fixture.beat('web-1');
      await fixture.evaluate();
      expect(await states()).to.deep.equal(['down', 'down']);
      await fixture.beat('web-1', { status: 'down' });
      await fixture.settled();
      expect(alarms()).to.deep.equal(['monitor.down web-2', 'monitor.down web-1']);
      expect(await fixture.monitor('web')).to.include({ alarm: 'none' });
      await fixture.beat('web-1');
      await fixture.beat('web-2');
      expect(await states()).to.deep.equal(['up', 'up']);
      expect(alarms().slice(2)).to.deep.equal(['monitor.recovered web-1', 'monitor.recovered web-2']);
    });

    it('are never late themselves, and update when a child is removed', async () => {
      await fixture.beat('web-1', { status: 'down' });
      expect(await states()).to.deep.equal(['down', 'down']);
      await fixture.monitors.remove('web-1', ANYONE);
      await fixture.beat('web-2', { interval: 31_536_000 });
      fixture.clock.advance(1_000 * MINUTE);
      await fixture.evaluate();
      expect(await states()).to.deep.equal(['up', 'up']);
    });

    it('retain reported child states during a maintenance window', async () => {
      const until = new Date(fixture.clock.now() + 10 * MINUTE).toISOString();
      await fixture.windows.create({ sources: ['web'], until }, ANYONE);
      await fixture.beat('web-1', { status: 'down', interval: 3_600 });
      expect((await states())[0]).to.equal('maintenance');
      fixture.clock.advance(11 * MINUTE);
      await fixture.evaluate();
      expect(await states()).to.deep.equal(['down', 'down']);
      expect(alarms()).to.deep.equal(['monitor.down web-1']);
    });

    it('stop being groups when they send heartbeats themselves', async () => {
      await fixture.beat('web');
      expect(await fixture.monitor('web')).to.include({ group: false, state: 'up' });
      await fixture.beat('web-1', { status: 'down' });
      expect((await states())[0]).to.equal('up');
    });
  });
}
