/** Monitors that are due by a schedule (contract 30, beyond the specification), on every engine. */
import { expect } from 'chai';
import { getMonitorId } from '../../../../plugins/watchdog/model/monitor-id.js';
import { ANYONE, HOUR, MINUTE, STORES, fixtureOn, type Fixture } from '../fixture.js';
import { useStore } from '../../../support/stores.js';

for (const engine of STORES) {
  describe(`watchdog schedules (${engine.name})`, function () {
    let fixture: Fixture;

    useStore(
      engine,
      (store) => {
        fixture = fixtureOn(store);
        fixture.clock.set(Date.parse('2026-03-27T12:00:00Z'));
      },
      { end: () => fixture.settled() },
    );

    const berlin = { schedule: '0 3 * * *', timezone: 'Europe/Berlin', grace_seconds: 600 };
    const at = async (time: string): Promise<string> => {
      fixture.clock.set(Date.parse(time));
      await fixture.evaluate();
      return (await fixture.monitor('job')).state;
    };
    const rejected = async (work: Promise<unknown>): Promise<Record<string, string>> =>
      work.then(
        () => ({}),
        (error: { fields?: Record<string, string> }) => error.fields ?? {},
      );

    it('goes to warning when a scheduled heartbeat is missing, and down after the grace period', async () => {
      await fixture.monitors.create({ source: 'job', ...berlin }, ANYONE);
      expect(await at('2026-03-29T12:00:00Z'), 'no heartbeat yet').to.equal('unknown');
      fixture.clock.set(Date.parse('2026-03-27T12:00:00Z'));
      const beat = await fixture.beat('job');
      expect(beat).to.include({ warn_after: '2026-03-28T02:00:00.000Z', down_after: '2026-03-28T02:10:00.000Z' });
      expect(await at('2026-03-28T02:00:00.000Z')).to.equal('up');
      expect(await at('2026-03-28T02:00:00.001Z')).to.equal('warning');
      expect(await at('2026-03-28T02:10:00.000Z')).to.equal('warning');
      expect(await at('2026-03-28T02:10:00.001Z')).to.equal('down');
      expect(await fixture.monitor('job')).to.include({ alarm: 'open', down_since_utc: '2026-03-28T02:10:00.000Z' });
    });

    it('preserves the local hour across daylight saving changes', async () => {
      await fixture.monitors.create({ source: 'job', ...berlin }, ANYONE);
      fixture.clock.set(Date.parse('2026-03-28T02:00:10Z'));
      expect(await fixture.beat('job')).to.include({ warn_after: '2026-03-29T01:00:00.000Z' });
    });

    it('accepts a heartbeat that is a few seconds early for its due time', async () => {
      await fixture.monitors.create({ source: 'job', ...berlin }, ANYONE);
      fixture.clock.set(Date.parse('2026-03-28T01:59:45Z'));
      expect(await fixture.beat('job')).to.include({ warn_after: '2026-03-29T01:00:00.000Z' });
    });

    it('allows a started run the grace period from its start', async () => {
      await fixture.monitors.create({ source: 'job', ...berlin }, ANYONE);
      await fixture.beat('job');
      fixture.clock.set(Date.parse('2026-03-28T02:00:00Z'));
      await fixture.intake.recordRunStart('job', ANYONE, { run: '', interval: null });
      expect(await at('2026-03-28T02:10:00.000Z'), 'it runs').to.equal('up');
      expect(await at('2026-03-28T02:10:00.001Z')).to.equal('down');
    });

    it('skips a time zone that is not available, without stopping the run', async () => {
      await fixture.monitors.create({ source: 'job', ...berlin }, ANYONE);
      await fixture.beat('job');
      await fixture.beat('other', { interval: 60 });
      await fixture.deps.monitors.change({ id: getMonitorId('job') }, { set: { timezone: 'Mars/Base' } });
      fixture.clock.advance(48 * HOUR);
      expect(await fixture.evaluate()).to.include({ result: 'ok', errors: 1, to_down: 1 });
      expect((await fixture.monitor('other')).state).to.equal('down');
    });

    it('replaces an interval, and restores it when removed', async () => {
      await fixture.monitors.create({ source: 'job', interval_seconds: 60 }, ANYONE);
      await fixture.beat('job');
      const daily = await fixture.monitors.update('job', { schedule: '@daily' }, ANYONE);
      expect(daily).to.include({ interval_seconds: null, schedule: '@daily', timezone: 'UTC', grace_seconds: 3600 });
      fixture.clock.advance(HOUR);
      await fixture.evaluate();
      expect(await fixture.monitor('job')).to.include({ state: 'up' });
      const minute = await fixture.monitors.update('job', { interval_seconds: 60 }, ANYONE);
      expect(minute).to.include({ interval_seconds: 60, schedule: null, timezone: null, grace_seconds: null });
      fixture.clock.advance(MINUTE);
      await fixture.evaluate();
      expect(await fixture.monitor('job')).to.include({ state: 'down' });
    });

    it('rejects a schedule combined with an interval, and an invalid schedule', async () => {
      const make = (fields: object): Promise<Record<string, string>> =>
        rejected(fixture.monitors.create({ source: 'job', ...fields }, ANYONE));
      expect(await make({ schedule: '0 24 * * *' })).to.deep.equal({
        schedule: 'the hour at position 3 is not valid',
      });
      expect(await make({ schedule: '@daily', timezone: 'Nowhere' })).to.have.property('timezone');
      expect((await make({ schedule: '@daily', interval_seconds: 60 }))['schedule']).to.match(/cannot be combined/);
      expect(await make(berlin)).to.deep.equal({});
      expect(await rejected(fixture.monitors.update('job', { timezone: 'Nowhere' }, ANYONE))).to.have.property(
        'timezone',
      );
    });
  });
}
