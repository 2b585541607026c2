/**
 * The uptime of days in `/status`, on every engine: the figures of the page, for who asks (contract
 * 30, endpoints).
 */
import { expect } from 'chai';
import type { ServiceError } from '../../../../kernel/errors.js';
import { parseHeartbeat } from '../../../../plugins/watchdog/heartbeat/heartbeat.js';
import { createMonitor } from '../../../../plugins/watchdog/model/monitor-view.js';
import { getUptimeDays, getUptime, type UptimeDays } from '../../../../plugins/watchdog/model/uptime.js';
import { DailyUptimeReader } from '../../../../plugins/watchdog/monitors/daily-uptime-reader.js';
import type { StatusQuery } from '../../../../plugins/watchdog/monitors/monitor-status-service.js';
import { ANYONE, fixtureOn, HOUR, STORES, type Fixture } from '../fixture.js';
import { useStore } from '../../../support/stores.js';

const DAY = 24 * HOUR;

interface Told {
  monitors: { id: string; source: string; uptime?: UptimeDays | null }[];
  next_cursor?: string | null;
}

for (const engine of STORES) {
  describe(`daily uptime in the status (${engine.name})`, function () {
    let fixture: Fixture;

    useStore(engine, (store) => (fixture = fixtureOn(store)), { end: () => fixture.settled() });

    const reported = async (query: StatusQuery): Promise<Told> =>
      JSON.parse((await fixture.status.getStatusJson(query, ANYONE)).toString()) as Told;
    const refusal = async (query: StatusQuery): Promise<ServiceError> => {
      const fault: unknown = await fixture.status.getStatusJson(query, ANYONE).catch((error: unknown) => error);
      return fault as ServiceError;
    };

    it('returns the same figures as the page for every monitor, paged, only on request', async () => {
      for (let i = 0; i < 12; i++) {
        await fixture.beat(`m-${String(i).padStart(2, '0')}`);
        fixture.clock.advance(5 * HOUR);
      }
      for (const source of ['m-03', 'm-07']) {
        await fixture.intake.recordHeartbeat(parseHeartbeat({ source, status: 'error' }, undefined, true), ANYONE);
        fixture.clock.advance(7 * HOUR);
        await fixture.beat(source, { status: 'ok' });
      }
      fixture.clock.advance(2 * DAY + HOUR / 2);
      const now = fixture.clock.now();
      const seen: Told['monitors'] = [];
      let cursor: string | null | undefined;
      do {
        const page = await reported({ uptime: 90, limit: 5, ...(typeof cursor === 'string' && { cursor }) });
        seen.push(...page.monitors);
        cursor = page.next_cursor;
      } while (cursor);
      expect(seen).to.have.length(12);
      for (const { source, uptime } of seen) {
        const doc = await fixture.monitors.getMonitor(source, ANYONE);
        expect(uptime, source).to.deep.equal(getUptimeDays(doc, now, 90));
        expect(uptime?.share, source).to.equal(getUptime(doc, now).quarter);
      }
      expect(seen[3]?.uptime?.days.reduce((sum, { down_seconds }) => sum + down_seconds, 0)).to.equal(7 * 3_600);
      const [one] = (await reported({ uptime: 1, source: ['m-07'] })).monitors;
      expect(one?.uptime?.days).to.have.length(1);
      for (const monitor of (await reported({})).monitors) expect(monitor).not.to.have.property('uptime');
    });

    it('is rejected with the field name for too many monitors and days', async () => {
      const rows = Array.from({ length: 801 }, (_, i) => ({
        insert: createMonitor({ source: `host-${String(i).padStart(4, '0')}` }, fixture.deps.ids, fixture.clock.now()),
      }));
      for (let i = 0; i < rows.length; i += 400) await fixture.deps.monitors.bulk(rows.slice(i, i + 400));
      const fault = await refusal({ uptime: 100 });
      expect(fault).to.include({ code: 'invalid_request', status: 400 });
      expect(fault.fields?.['uptime']).to.equal(
        '100 days of 801 monitors are too many: request at most 99 days, or request pages with limit and cursor',
      );
      const whole = await reported({ uptime: 99 });
      expect(whole.monitors.every(({ uptime }) => uptime?.days.length === 99 && uptime.share === null)).to.equal(true);
      expect(whole.monitors).to.have.length(801);
      const page = await reported({ uptime: 400, limit: 200 });
      expect(page.monitors.map(({ uptime }) => uptime?.days.length)).to.deep.equal(Array<number>(200).fill(400));
    });

    it('skips a monitor that is deleted during the read', async () => {
      await fixture.beat('a');
      await fixture.beat('b');
      const ids = (await reported({})).monitors.map(({ id }) => id);
      const reading = new DailyUptimeReader(fixture.deps.monitors, fixture.deps.clock).createReading(2, 7);
      await fixture.monitors.remove('a', ANYONE);
      expect([...(await reading.of(ids)).keys()]).to.deep.equal([ids[1]]);
    });
  });
}
