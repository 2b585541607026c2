/** Maintenance windows (contract 30, beyond the specification), on every engine. */
import { expect } from 'chai';
import { parseHeartbeat } from '../../../../plugins/watchdog/heartbeat/heartbeat.js';
import type { NewMaintenanceWindow } from '../../../../plugins/watchdog/maintenance/window-service.js';
import type { WatchdogCaller } from '../../../../plugins/watchdog/model/caller.js';
import type { WindowDoc, WindowView } from '../../../../plugins/watchdog/model/maintenance-window.js';
import type { ServiceError } from '../../../../kernel/errors.js';
import { toIsoString } from '../../../../lib/time.js';
import type { DocumentStore } from '../../../../ports/store/index.js';
import { getRejection } from '../../../harness.js';
import { ANYONE, HOUR, MINUTE, STORES, fixtureOn, over, type Fixture } from '../fixture.js';
import { useStore } from '../../../support/stores.js';

/** So many turns of the event loop. */
async function turns(n: number): Promise<void> {
  for (let i = 0; i < n; i++) await new Promise(setImmediate);
}

for (const engine of STORES) {
  describe(`maintenance windows (${engine.name})`, function () {
    let fixture: Fixture;
    let store: DocumentStore;

    useStore(
      engine,
      (opened) => {
        store = opened;
        fixture = fixtureOn(store);
      },
      { end: () => fixture.settled() },
    );

    const reported = (): string[] => fixture.told.map(({ event, data }) => `${event} ${data.source}`);
    const later = (ms: number): string => toIsoString(fixture.clock.now() + ms);
    const open = (given: NewMaintenanceWindow, caller: WatchdogCaller = ANYONE): Promise<WindowView> =>
      fixture.windows.create({ until: later(HOUR), ...given }, caller);
    const rejected = async (work: Promise<unknown>): Promise<{ code: string; fields: Record<string, string> }> =>
      work.then(
        () => ({ code: 'none', fields: {} }),
        (error: { code: string; fields?: Record<string, string> }) => ({
          code: error.code,
          fields: error.fields ?? {},
        }),
      );

    it('sets monitors to maintenance immediately, and ignores silence', async () => {
      await fixture.beat('a', { interval: 10 });
      const window = await open({ sources: ['a'], reason: 'New disks' });
      expect(window).to.include({ open: true, reason: 'New disks', subtree: null });
      expect(await fixture.monitor('a')).to.deep.include({
        state: 'maintenance',
        maintenance: { id: window.id, until: window.until, reason: 'New disks' },
      });
      fixture.clock.advance(30 * MINUTE);
      expect(await fixture.evaluate()).to.include({ to_down: 0, to_warning: 0, errors: 0 });
      expect(await fixture.monitor('a')).to.include({ state: 'maintenance', alarm: 'none' });
      expect(reported()).to.deep.equal([]);
    });

    it('raises alarms at the end only for monitors that are still down', async () => {
      for (const source of ['silent', 'well', 'failed']) await fixture.beat(source, { interval: 60 });
      await open({ sources: ['silent', 'well', 'failed'] });
      fixture.clock.advance(HOUR - 1000);
      await fixture.beat('well', { interval: 60 });
      await fixture.intake.recordHeartbeat(
        parseHeartbeat({ source: 'failed', status: 'error' }, undefined, true),
        ANYONE,
      );
      expect(await fixture.monitor('failed')).to.include({ state: 'maintenance', last_status: 'error' });
      await fixture.evaluate();
      expect(reported()).to.deep.equal([]);
      fixture.clock.advance(1000);
      const run = await fixture.evaluate();
      expect(run).to.include({ to_down: 2, alarms_emitted: 2, errors: 0 });
      expect(reported().toSorted()).to.deep.equal(['monitor.down failed', 'monitor.down silent']);
      expect(await fixture.monitor('well')).to.include({ state: 'up', maintenance: null });
      expect(await fixture.monitor('silent')).to.include({ state: 'down', alarm: 'open', maintenance: null });
      expect(await fixture.windows.list(ANYONE)).to.deep.equal([]);
    });

    it('ends an open alarm at the start, and sends another when the window is over', async () => {
      await fixture.beat('a', { interval: 1 });
      fixture.clock.advance(MINUTE);
      await fixture.evaluate();
      const { down_since_utc, alarm_id } = await fixture.monitor('a');
      await open({ sources: ['a'] });
      await fixture.settled();
      expect(reported()).to.deep.equal(['monitor.down a', 'monitor.recovered a']);
      expect(fixture.told.at(-1)?.data).to.deep.include({ resolution: 'maintenance', state: 'maintenance', alarm_id });
      fixture.clock.advance(HOUR);
      await fixture.evaluate();
      expect(reported()).to.deep.equal(['monitor.down a', 'monitor.recovered a', 'monitor.down a']);
      expect(await fixture.monitor('a')).to.include({ state: 'down', alarm: 'open', down_since_utc });
    });

    it('resumes with the first heartbeat after its end, before any evaluator run', async () => {
      await fixture.beat('a', { interval: 60 });
      await open({ sources: ['a'] });
      expect(await fixture.beat('a', { interval: 60, status: 'warning' })).to.include({ state: 'maintenance' });
      fixture.clock.advance(HOUR);
      expect(await fixture.beat('a', { interval: 60 })).to.include({ previous_state: 'maintenance', state: 'up' });
      expect(await fixture.monitor('a')).to.include({ state: 'up', maintenance: null });
    });

    it('holds 24 monitors in windows that are created during an evaluator run', async () => {
      const sources = Array.from({ length: 24 }, (_, i) => `m-${i}`);
      const other = fixtureOn(
        store,
        fixture.clock,
        (deps) => {
          const { monitors, windows } = deps;
          // Its run has read the windows; now all of them are made, and others would have held
          // their monitors.
          deps.monitors = over(monitors, {
            groupCount: async (...args) => {
              while ((await windows.count({})) < sources.length) await turns(1);
              await turns(100);
              return monitors.groupCount(...args);
            },
          });
        },
        2,
      );
      for (const source of sources) await fixture.beat(source, { interval: 60 });
      const run = other.evaluator.evaluate('http');
      await turns(20);
      const windows = await Promise.all(sources.map((source) => open({ sources: [source] })));
      await run;
      for (const [i, window] of windows.entries())
        expect(await fixture.monitor(sources[i] as string)).to.deep.include({
          state: 'maintenance',
          maintenance: { id: window.id, until: window.until, reason: null },
        });
      fixture.clock.advance(30 * MINUTE);
      await fixture.evaluate();
      await other.settled();
      expect([...reported(), ...other.told.map(({ event }) => event)]).to.deep.equal([]);
      for (const source of sources) expect(await fixture.monitor(source)).to.include({ state: 'maintenance' });
    });

    it('limits windows per project', async () => {
      const shop: WatchdogCaller = { ...ANYONE, project: 'shop' };
      const bank: WatchdogCaller = { ...ANYONE, project: 'bank' };
      for (const project of ['shop', 'bank']) await fixture.monitors.create({ source: project, project }, ANYONE);
      const planned = { from: later(HOUR), until: later(2 * HOUR) };
      const { id } = await open({ ...planned, sources: ['shop'] }, shop);
      const doc = await fixture.deps.windows.get(id);
      for (let n = 1; n < 1_000; n++)
        await fixture.deps.windows.insert({ ...(doc as WindowDoc), id: fixture.deps.ids.uuid() });
      const fault = await getRejection(open({ ...planned, sources: ['shop'] }, shop));
      expect((fault as ServiceError).fields).to.deep.equal({
        sources: 'the limit of 1000 windows is reached: end some of them first',
      });
      for (const [source, caller] of [
        ['bank', bank],
        ['shop', ANYONE],
      ] as const)
        expect(await open({ ...planned, sources: [source] }, caller)).to.include({ open: false });
    });

    it('releases a monitor that leaves the subtree or the window’s project', async () => {
      for (const source of ['rack', 'shelf']) await fixture.monitors.create({ source, project: 'shop' }, ANYONE);
      for (const source of ['moved', 'left']) {
        await fixture.monitors.create({ source, parent_source: 'rack', project: 'shop' }, ANYONE);
        await fixture.intake.recordHeartbeat(parseHeartbeat({ source, interval: 60 }), ANYONE);
      }
      await fixture.monitors.create({ source: 'below', parent_source: 'moved', project: 'shop' }, ANYONE);
      await open({ subtree: 'rack' }, { ...ANYONE, project: 'shop' });
      expect(await fixture.monitor('below')).to.include({ state: 'maintenance' });
      await fixture.monitors.update('moved', { parent_source: 'shelf' }, ANYONE);
      await fixture.monitors.update('left', { project: 'other' }, ANYONE);
      fixture.clock.advance(5 * MINUTE);
      await fixture.evaluate();
      for (const source of ['moved', 'left', 'below'])
        expect(await fixture.monitor(source), source).to.include({ maintenance: null });
      expect(reported().toSorted()).to.deep.equal(['monitor.down left', 'monitor.down moved']);
      expect(await fixture.monitor('rack')).to.include({ state: 'maintenance' });
    });

    it('does not apply to a recreated monitor, and is deleted with its last monitor', async () => {
      for (const source of ['a', 'b', 'top']) await fixture.beat(source);
      await fixture.monitors.create({ source: 'child', parent_source: 'top' }, ANYONE);
      await open({ sources: ['a', 'b'], subtree: 'top' });
      await open({ sources: ['a'] });
      expect(await fixture.windows.list(ANYONE)).to.have.lengthOf(2);
      for (const source of ['a', 'top']) await fixture.monitors.remove(source, ANYONE);
      const [only, ...others] = await fixture.windows.list(ANYONE);
      expect(others).to.deep.equal([]);
      expect(only).to.deep.include({ sources: ['b'], subtree: null });
      await fixture.settled();
      for (const source of ['a', 'top']) await fixture.beat(source, { interval: 60 });
      fixture.clock.advance(1000);
      await fixture.evaluate();
      for (const source of ['a', 'top']) expect(await fixture.monitor(source), source).to.include({ state: 'up' });
      await fixture.evaluate();
      expect(await fixture.monitor('child')).to.include({ state: 'unknown', maintenance: null });
      expect(await fixture.monitor('b')).to.include({ state: 'maintenance' });
    });

    for (const [given, field] of [
      [{ duration_seconds: 60 }, 'duration_seconds'],
      [{ timezone: 'Europe/Berlin' }, 'timezone'],
      [{ until: '2026-11-21' }, 'until'],
      [{ until: '2026-11-21T10:00' }, 'until'],
      [{ until: 'Sat, 21 Nov 2026 10:00:00 GMT' }, 'until'],
      [{ from: '2026-11-20' }, 'from'],
    ] as [NewMaintenanceWindow, string][])
      it(`rejects ${JSON.stringify(given)} next to an end, by its field`, async () => {
        await fixture.beat('a');
        const { code, fields } = await rejected(open({ sources: ['a'], ...given }));
        expect([code, Object.keys(fields)]).to.deep.equal(['validation_failed', [field]]);
      });

    it('covers a subtree, including monitors added while it is open', async () => {
      await fixture.monitors.create({ source: 'rack' }, ANYONE);
      await fixture.monitors.create({ source: 'host', parent_source: 'rack' }, ANYONE);
      await fixture.beat('host', { interval: 60 });
      await open({ subtree: 'rack' });
      expect(await fixture.monitor('host')).to.include({ state: 'maintenance' });
      await fixture.monitors.create({ source: 'late', parent_source: 'host' }, ANYONE);
      await fixture.evaluate();
      expect(await fixture.monitor('late')).to.include({ state: 'maintenance' });
      fixture.clock.advance(HOUR);
      await fixture.evaluate();
      expect(await fixture.monitor('rack')).to.include({ state: 'unknown', alarm: 'none' });
      expect(await fixture.monitor('late')).to.include({ state: 'unknown', alarm: 'none' });
    });

    it('starts at its time, and is planned before', async () => {
      await fixture.beat('a', { interval: 3600 });
      const window = await open({ sources: ['a'], from: later(10 * MINUTE), until: later(20 * MINUTE) });
      expect(window).to.include({ open: false, next_from: window.from, next_until: window.until });
      expect(await fixture.monitor('a')).to.include({ state: 'up' });
      fixture.clock.advance(10 * MINUTE);
      await fixture.evaluate();
      expect(await fixture.monitor('a')).to.include({ state: 'maintenance' });
      fixture.clock.advance(10 * MINUTE);
      await fixture.evaluate();
      expect(await fixture.monitor('a')).to.include({ state: 'up' });
    });

    it('repeats on its schedule', async () => {
      fixture.clock.set(Date.parse('2026-11-20T01:59:00Z'));
      await fixture.beat('a', { interval: 86_400 });
      const repeated = { schedule: '0 2 * * *', timezone: 'UTC', duration_seconds: 1800 };
      const { until: _until, ...window } = { until: null, sources: ['a'], ...repeated };
      const made = await fixture.windows.create(window, ANYONE);
      expect(made).to.include({ open: false, next_from: '2026-11-20T02:00:00.000Z' });
      for (const day of [20, 21]) {
        fixture.clock.set(Date.parse(`2026-11-${day}T02:00:30Z`));
        await fixture.evaluate();
        const { maintenance } = await fixture.monitor('a');
        expect(maintenance?.until).to.equal(`2026-11-${day}T02:30:00.000Z`);
        fixture.clock.set(Date.parse(`2026-11-${day}T02:30:30Z`));
        await fixture.evaluate();
        expect(await fixture.monitor('a')).to.include({ state: 'up', maintenance: null });
      }
    });

    it('follows the window that ends last, and returns a monitor to a window still open', async () => {
      await fixture.beat('a', { interval: 60 });
      await open({ sources: ['a'], until: later(30 * MINUTE) });
      const long = await open({ sources: ['a'], until: later(2 * HOUR) });
      expect((await fixture.monitor('a')).maintenance?.id).to.equal(long.id);
      await fixture.windows.remove(long.id, ANYONE);
      await fixture.evaluate();
      expect(await fixture.monitor('a')).to.include({ state: 'maintenance' });
      fixture.clock.advance(30 * MINUTE);
      await fixture.evaluate();
      expect(await fixture.monitor('a')).to.include({ state: 'down', alarm: 'open' });
    });

    it('ends early when it is cancelled', async () => {
      await fixture.beat('a', { interval: 3600 });
      const window = await open({ sources: ['a'] });
      await fixture.windows.remove(window.id, ANYONE);
      await fixture.evaluate();
      expect(await fixture.monitor('a')).to.include({ state: 'up', maintenance: null });
      expect((await rejected(fixture.windows.remove(window.id, ANYONE))).code).to.equal('not_found');
    });

    it('repairs inconsistencies between a window and its monitors after a crash', async () => {
      await fixture.beat('a', { interval: 3600 });
      const window = await open({ sources: ['a'] });
      await fixture.deps.windows.remove({ id: window.id });
      await fixture.evaluate();
      expect(await fixture.monitor('a')).to.include({ state: 'up', maintenance: null });
      await fixture.deps.windows.insert({
        id: 'w',
        sources: ['a'],
        subtree: null,
        project: null,
        reason: null,
        from: later(0),
        until: later(HOUR),
        schedule: null,
        timezone: 'UTC',
        duration_seconds: null,
        created_by: 'x',
        created_at: later(0),
      });
      await fixture.evaluate();
      expect((await fixture.monitor('a')).maintenance?.id).to.equal('w');
    });

    it('preserves maintenance set by a heartbeat after the window ends', async () => {
      await fixture.beat('a', { status: 'maintenance' });
      await open({ sources: ['a'] });
      fixture.clock.advance(HOUR);
      await fixture.evaluate();
      expect(await fixture.monitor('a')).to.include({ state: 'maintenance', maintenance: null });
      expect(reported()).to.deep.equal([]);
    });

    it('rejects impossible times, invalid expressions, and missing monitors', async () => {
      await fixture.beat('a');
      const sources = ['a'];
      const zone = { schedule: '0 2 * * *', duration_seconds: 60, until: null };
      const cases: [NewMaintenanceWindow, string, RegExp][] = [
        [{ sources: [] }, 'sources', /must contain a monitor/],
        [{ sources: ['b'] }, 'sources', /^unknown: b$/],
        [{ subtree: 'b' }, 'subtree', /^unknown: b$/],
        [{ sources, until: null }, 'until', /required/],
        [{ sources, until: 'tomorrow' }, 'until', /RFC 3339/],
        [{ sources, from: later(HOUR), until: later(HOUR) }, 'until', /later than from/],
        [{ sources, from: later(-2 * HOUR), until: later(-HOUR) }, 'until', /over already/],
        [{ sources, until: later(400 * 24 * HOUR) }, 'until', /a year/],
        [{ sources, schedule: '0 2 * * *' }, 'schedule', /cannot be combined/],
        [{ sources, ...zone, duration_seconds: null }, 'duration_seconds', /required/],
        [{ sources, ...zone, schedule: '0 25 * * *' }, 'schedule', /the hour at position 3 is not valid/],
        [{ sources, ...zone, timezone: 'Mars/Base' }, 'timezone', /Mars\/Base is not/],
      ];
      for (const [given, field, says] of cases) {
        const { code, fields } = await rejected(open(given));
        expect(code, JSON.stringify(given)).to.equal('validation_failed');
        expect(fields[field], JSON.stringify(given)).to.match(says);
      }
    });

    it('allows a project token to silence only monitors of its project', async () => {
      const mine: WatchdogCaller = { name: 'ci', token: 't', project: 'shop', source: null };
      await fixture.monitors.create({ source: 'theirs', project: 'bank' }, ANYONE);
      await fixture.monitors.create({ source: 'mine', project: 'shop' }, ANYONE);
      await fixture.monitors.create({ source: 'below', project: 'bank', parent_source: 'mine' }, ANYONE);
      expect((await rejected(open({ sources: ['theirs'] }, mine))).code).to.equal('insufficient_scope');
      const window = await open({ subtree: 'mine' }, mine);
      expect(await fixture.monitor('mine')).to.include({ state: 'maintenance' });
      expect(await fixture.monitor('below')).to.include({ state: 'unknown' });
      const general = await open({ sources: ['theirs'] });
      expect((await fixture.windows.list(mine)).map(({ id }) => id)).to.deep.equal([window.id]);
      expect((await rejected(fixture.windows.remove(general.id, mine))).code).to.equal('not_found');
    });
  });
}
