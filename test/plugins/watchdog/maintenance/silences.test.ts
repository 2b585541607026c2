/** Silences (contract 30, amendments: silence and maintenance), on every engine. */
import { expect } from 'chai';
import { parseHeartbeat } from '../../../../plugins/watchdog/heartbeat/heartbeat.js';
import type { NewMaintenanceWindow } from '../../../../plugins/watchdog/maintenance/window-service.js';
import { MIGRATIONS } from '../../../../plugins/watchdog/migrations.js';
import type { WindowDoc, WindowView } from '../../../../plugins/watchdog/model/maintenance-window.js';
import { toIsoString } from '../../../../lib/time.js';
import { ANYONE, fixtureOn, HOUR, MINUTE, STORES, type Fixture } from '../fixture.js';
import { useStore } from '../../../support/stores.js';

for (const engine of STORES) {
  describe(`silences (${engine.name})`, function () {
    let fixture: Fixture;

    useStore(engine, (store) => (fixture = fixtureOn(store)), { end: () => fixture.settled() });

    const later = (ms: number): string => toIsoString(fixture.clock.now() + ms);
    const silence = (given: NewMaintenanceWindow): Promise<WindowView> =>
      fixture.windows.create({ until: later(HOUR), ...given }, ANYONE, 'silence');
    const reported = async (): Promise<string[]> => {
      await fixture.settled();
      return fixture.told.map(({ event, data }) => `${event} ${data.source}${data.deferred ? ' deferred' : ''}`);
    };
    const notices = async (): Promise<string[]> => {
      await fixture.settled();
      return fixture.notices.map(({ event, data }) => `${event} ${data.source}`);
    };
    const pass = async (ms: number): Promise<void> => {
      fixture.clock.advance(ms);
      await fixture.evaluate();
    };

    it('suppress alarms without changing the state, and send pending alarms at their end', async () => {
      for (const source of ['late', 'failed', 'back', 'well']) await fixture.beat(source, { interval: 60 });
      const { id, until } = await silence({ sources: ['late', 'failed', 'back', 'well'], reason: 'Known' });
      expect(await fixture.monitor('late')).to.deep.include({
        state: 'up',
        maintenance: null,
        silence: { id, until, reason: 'Known' },
      });
      await fixture.beat('failed', { status: 'down', message: 'disk full' });
      await fixture.beat('back', { status: 'down' });
      await pass(5 * MINUTE);
      await fixture.beat('back', { interval: 86_400 });
      await fixture.beat('well', { interval: 86_400 });
      for (const source of ['late', 'failed'])
        expect(await fixture.monitor(source), source).to.include({ state: 'down', alarm: 'suppressed' });
      expect((await fixture.status.getCounts()).down).to.equal(2);
      expect(await reported()).to.deep.equal([]);
      await pass(54 * MINUTE);
      expect(await reported()).to.deep.equal([]);
      await pass(2 * MINUTE);
      expect((await reported()).toSorted()).to.deep.equal([
        'monitor.down failed deferred',
        'monitor.down late deferred',
      ]);
      expect(await fixture.monitor('failed')).to.include({ state: 'down', alarm: 'open', silence: null });
      expect(await fixture.monitor('well')).to.include({ state: 'up', silence: null });
      await pass(HOUR);
      expect(await reported()).to.have.lengthOf(2);
    });

    it('are no recovery: an open alarm ends with the next heartbeat, and no other starts', async () => {
      await fixture.beat('a', { status: 'down' });
      await silence({ sources: ['a'] });
      await fixture.evaluate();
      expect(await reported()).to.deep.equal(['monitor.down a']);
      expect(await fixture.monitor('a')).to.include({ state: 'down', alarm: 'open' });
      await fixture.beat('a', { interval: 86_400 });
      await fixture.beat('a', { status: 'down' });
      expect(await reported()).to.deep.equal(['monitor.down a', 'monitor.recovered a']);
      await fixture.beat('a', { interval: 86_400 });
      await pass(2 * HOUR);
      expect(await reported()).to.deep.equal(['monitor.down a', 'monitor.recovered a']);
    });

    it('suppress warnings and certificate events, and send those still valid at their end', async () => {
      const probed = parseHeartbeat(
        {
          source: 'tls',
          status: 'ok',
          checks: { certificate: { ok: false, message: 'x' } },
          certificate: { days_left: 5, expires_at: '2027-01-01T00:00:00.000Z', warn_days: 14 },
          interval: 86_400,
        },
        undefined,
        true,
      );
      for (const source of ['warns', 'mended', 'tls']) await fixture.beat(source, { interval: 86_400 });
      await silence({ sources: ['warns', 'mended', 'tls'] });
      for (const source of ['warns', 'mended']) await fixture.beat(source, { interval: 86_400, status: 'warning' });
      await fixture.intake.recordHeartbeat(probed, ANYONE);
      await fixture.beat('mended', { interval: 86_400 });
      expect(await notices()).to.deep.equal([]);
      await pass(HOUR + 1);
      expect(await notices()).to.deep.equal(['monitor.warning warns']);
      await fixture.intake.recordHeartbeat(probed, ANYONE);
      expect(await notices()).to.deep.equal(['monitor.warning warns', 'monitor.certificate_expiring tls']);
    });

    it('cover a subtree that monitors can leave, and end when deleted', async () => {
      await fixture.monitors.create({ source: 'rack' }, ANYONE);
      for (const source of ['moved', 'stays', 'gone'])
        await fixture.monitors.create({ source, parent_source: 'rack' }, ANYONE);
      const { id } = await silence({ subtree: 'rack' });
      for (const source of ['moved', 'stays', 'gone']) await fixture.beat(source, { status: 'down' });
      expect(await reported()).to.deep.equal([]);
      await fixture.monitors.remove('gone', ANYONE);
      await fixture.beat('gone', { status: 'down' });
      expect(await reported()).to.deep.equal(['monitor.down gone']);
      await fixture.monitors.update('moved', { parent_source: null }, ANYONE);
      await fixture.evaluate();
      await pass(2 * MINUTE);
      expect(await reported()).to.deep.equal(['monitor.down gone', 'monitor.down moved deferred']);
      await fixture.windows.remove(id, ANYONE, 'silence');
      await fixture.evaluate();
      expect((await reported()).at(-1)).to.equal('monitor.down stays deferred');
      expect(await reported()).to.have.lengthOf(3);
    });

    it('outlast the outage of a parent and a maintenance window within them', async () => {
      await fixture.monitors.create({ source: 'child', parent_source: 'parent' }, ANYONE);
      for (const source of ['parent', 'child', 'kept']) await fixture.beat(source, { interval: 86_400 });
      await silence({ sources: ['child', 'kept'], until: later(3 * HOUR) });
      await fixture.windows.create({ sources: ['kept'], until: later(HOUR) }, ANYONE);
      expect(await fixture.monitor('kept')).to.include({ state: 'maintenance' });
      await fixture.beat('parent', { status: 'down' });
      await fixture.beat('child', { status: 'down' });
      await fixture.beat('kept', { status: 'down' });
      expect(await fixture.monitor('child')).to.include({ alarm: 'suppressed', suppressed_by: 'parent' });
      await fixture.beat('parent', { interval: 86_400 });
      for (let i = 0; i < 5; i++) await pass(20 * MINUTE);
      expect(await fixture.monitor('child')).to.include({ state: 'down', alarm: 'suppressed', suppressed_by: null });
      expect(await fixture.monitor('kept')).to.include({ state: 'down', alarm: 'suppressed', maintenance: null });
      expect(await reported()).to.deep.equal(['monitor.down parent', 'monitor.recovered parent']);
      await pass(2 * HOUR);
      expect((await reported()).slice(2).toSorted()).to.deep.equal([
        'monitor.down child deferred',
        'monitor.down kept deferred',
      ]);
    });

    it('are independent of maintenance windows', async () => {
      await fixture.beat('a', { interval: 60 });
      const { id } = await silence({ sources: ['a'] });
      expect(await fixture.windows.list(ANYONE)).to.deep.equal([]);
      expect((await fixture.windows.list(ANYONE, 'silence')).map((one) => one.id)).to.deep.equal([id]);
      const code = await fixture.windows.remove(id, ANYONE).catch((error: { code: string }) => error.code);
      expect(code).to.equal('not_found');
    });

    it('replace only windows created by the "Silence" buttons', async () => {
      const sources = ['hour', 'morning', 'planned', 'repeats', 'long'];
      fixture.clock.set(Date.parse('2026-12-01T17:12:33.250Z'));
      for (const source of sources) await fixture.beat(source, { interval: 86_400 });
      const now = fixture.clock.now();
      const morning = '2026-12-02T09:00:00.000Z';
      const times: Record<string, NewMaintenanceWindow> = {
        hour: { from: toIsoString(now - 40), until: toIsoString(now - 40 + HOUR) },
        morning: { until: morning },
        planned: { from: toIsoString(now + HOUR), until: toIsoString(now + 2 * HOUR) },
        repeats: { until: null, schedule: '12 17 * * *', duration_seconds: 3_600 },
        long: { until: toIsoString(now + 5 * HOUR) },
      };
      for (const source of sources) {
        const { id } = await fixture.windows.create({ sources: [source], ...times[source] }, ANYONE);
        await fixture.deps.windows.change({ id }, { unset: ['kind'] });
      }
      const ctx = {
        collection: () => fixture.deps.windows as never,
        clock: fixture.clock,
        ids: fixture.deps.ids,
        log: fixture.log,
      };
      for (const _ of [1, 2]) await MIGRATIONS[0]?.run(ctx);
      const { items } = await fixture.deps.windows.find({ filter: { kind: 'silence' } });
      expect(items.flatMap((window: WindowDoc) => window.sources).toSorted()).to.deep.equal(['hour', 'morning']);
      await fixture.evaluate();
      expect(await fixture.monitor('hour')).to.include({ state: 'up', maintenance: null });
      expect((await fixture.monitor('morning')).silence).to.include({ until: morning });
    });
  });
}
