/** Uptime and incidents under a clock that steps. */
import { expect } from 'chai';
import fc from 'fast-check';
import { getDailyUptime, getUptime } from '../../../../plugins/watchdog/model/uptime.js';
import { getMonitorId } from '../../../../plugins/watchdog/model/monitor-id.js';
import { ANYONE, memoryFixture } from '../fixture.js';

describe('watchdog when the clock steps', () => {
  it('limits uptime to 0–100 % and days to 86,400 s, and ends no incident before its start (property)', async () => {
    const step = fc.record({
      ms: fc.integer({ min: -3 * 86_400_000, max: 3 * 86_400_000 }),
      status: fc.constantFrom('ok', 'warning', 'down', 'stopped', 'delete'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const fixture = await memoryFixture();
        await fixture.beat('a');
        for (const { ms, status } of steps) {
          fixture.clock.set(fixture.clock.now() + ms);
          if (status !== 'delete') await fixture.beat('a', { status });
          else if ((await fixture.monitors.find('a')) !== null) await fixture.monitors.remove('a', ANYONE);
          await fixture.settled();
          const doc = await fixture.deps.monitors.get(getMonitorId('a'));
          const { items } = await fixture.deps.incidents.find({ filter: {}, limit: 100 });
          for (const { began_at, ended_at } of items) expect(ended_at === null || ended_at >= began_at).to.equal(true);
          if (doc === null) continue;
          const now = fixture.clock.now();
          const { day, month, quarter } = getUptime(doc, now);
          const { days, share } = getDailyUptime(doc, now, 30);
          for (const one of [day, month, quarter, share, ...days.map((each) => each.share)])
            expect(one === null || (one >= 0 && one <= 1), String(one)).to.equal(true);
          for (const { up_seconds, warning_seconds, down_seconds } of days) {
            for (const seconds of [up_seconds, warning_seconds, down_seconds]) expect(seconds).to.be.at.least(0);
            expect(up_seconds + warning_seconds + down_seconds).to.be.at.most(86_400);
          }
        }
      }),
      { numRuns: 40 },
    );
  });
});
