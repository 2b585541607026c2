/**
 * What says when heartbeats are expected: one kind at a time, and nothing without effect (contract
 * 30, amendments).
 */
import { expect } from 'chai';
import type { MonitorFields } from '../../../../ports/domain/watchdog.js';
import { ANYONE, memoryFixture, MINUTE, HOUR, type Fixture } from '../fixture.js';

describe('monitor timing', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await memoryFixture();
  });
  const fields = async (work: Promise<unknown>): Promise<string[]> =>
    work.then(
      () => [],
      (error: { fields?: object }) => Object.keys(error.fields ?? {}),
    );

  for (const [given, field] of [
    [{ timezone: 'UTC' }, 'timezone'],
    [{ grace_seconds: 60 }, 'grace_seconds'],
    [{ interval_seconds: 60, grace_seconds: 60 }, 'grace_seconds'],
    [{ interval_seconds: 60, schedule: '@daily' }, 'schedule'],
    [{ interval_seconds: 60, period_seconds: 60 }, 'period_seconds'],
    [{ period_seconds: 60, schedule: '@daily' }, 'schedule'],
    [{ period_seconds: 60, timezone: 'UTC' }, 'timezone'],
  ] as [Partial<MonitorFields>, string][])
    it(`rejects ${JSON.stringify(given)} by the field without effect, on create and update`, async () => {
      expect(await fields(fixture.monitors.create({ source: 'a', ...given }, ANYONE))).to.deep.equal([field]);
      await fixture.monitors.create({ source: 'a' }, ANYONE);
      expect(await fields(fixture.monitors.update('a', given, ANYONE))).to.deep.equal([field]);
    });

  it('warns after the period, and is down after the additional grace period', async () => {
    await fixture.monitors.create({ source: 'job', period_seconds: 86_400, grace_seconds: 3_600 }, ANYONE);
    await fixture.beat('job', { interval: 60 });
    for (const [after, state] of [
      [24 * HOUR, 'up'],
      [1, 'warning'],
      [HOUR - 1, 'warning'],
      [1, 'down'],
    ] as const) {
      fixture.clock.advance(after);
      await fixture.evaluate();
      expect((await fixture.monitor('job')).state).to.equal(state);
    }
    expect(fixture.told[0]?.data.reason).to.equal(
      'No heartbeat for 1 d 1 h; expected every 1 d with a grace period of 1 h',
    );
  });

  it('switches between timing kinds', async () => {
    await fixture.monitors.create({ source: 'a', period_seconds: 600 }, ANYONE);
    expect(await fixture.monitor('a')).to.include({ period_seconds: 600, grace_seconds: 3_600 });
    expect(await fixture.monitors.update('a', { grace_seconds: 60 }, ANYONE)).to.include({ grace_seconds: 60 });
    const daily = await fixture.monitors.update('a', { schedule: '@daily' }, ANYONE);
    expect(daily).to.include({ period_seconds: null, schedule: '@daily', timezone: 'UTC', grace_seconds: 60 });
    const interval = await fixture.monitors.update('a', { interval_seconds: 5 }, ANYONE);
    expect(interval).to.include({ schedule: null, period_seconds: null, grace_seconds: null, interval_seconds: 5 });
    const run = await fixture.monitors.update('a', { max_run_seconds: 90 }, ANYONE);
    expect(run).to.include({ interval_seconds: 5, max_run_seconds: 90 });
    fixture.clock.advance(MINUTE);
  });
});
