/**
 * The evaluator and the alarms (contract 30, evaluator, alarms, hierarchy, own outage), on every
 * engine.
 */
import { expect } from 'chai';
import type { WatchdogDeps } from '../../../../plugins/watchdog/deps.js';
import { createMonitor } from '../../../../plugins/watchdog/model/monitor-view.js';
import { StoreFull, type DocumentStore } from '../../../../ports/store/index.js';
import type { ManualClock } from '../../../kit/clock.js';
import { ANYONE, HOUR, MINUTE, over, STORES, fixtureOn, type Fixture } from '../fixture.js';
import { useStore } from '../../../support/stores.js';

for (const engine of STORES) {
  describe(`watchdog evaluator (${engine.name})`, function () {
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

    const names = (): string[] => fixture.told.map(({ event, data }) => `${event} ${data.source}`);

    /** Pages have a thousand: two where each monitor takes a store's time, and three in memory. */
    const most = engine.name === 'memory' ? 2_060 : 1_060;

    it('applies both thresholds exactly: warning after 2·I, down after 4·I', async () => {
      await fixture.beat('a', { interval: 10 });
      fixture.clock.advance(20_000);
      expect(await fixture.evaluate()).to.include({ evaluated: 0, to_warning: 0 });
      fixture.clock.advance(1);
      expect(await fixture.evaluate()).to.include({ evaluated: 1, to_warning: 1, to_down: 0 });
      expect(await fixture.monitor('a')).to.include({ state: 'warning', alarm: 'none' });
      fixture.clock.advance(19_999);
      expect(await fixture.evaluate()).to.include({ to_down: 0 });
      fixture.clock.advance(1);
      const run = await fixture.evaluate();
      expect(run).to.include({ to_down: 1, alarms_emitted: 1, result: 'ok', trigger: 'http' });
      expect(run.changes).to.deep.equal([{ source: 'a', from: 'warning', to: 'down', suppressed_by: null }]);
      const down = await fixture.monitor('a');
      expect(down).to.include({ state: 'down', alarm: 'open', down_since_utc: '2026-11-20T08:16:10.123Z' });
      expect(fixture.told).to.have.lengthOf(1);
      expect(fixture.told[0]?.data).to.deep.equal({
        source: 'a',
        state: 'down',
        previous_state: 'warning',
        alarm_id: down.alarm_id,
        deferred: false,
        resolution: null,
        down_since_utc: down.down_since_utc,
        name: 'a',
        tags: [],
        reason: 'No heartbeat for 40 s; expected every 10 s',
        message: null,
        exit_code: null,
        last_heartbeat_at: down.last_heartbeat_at,
      });
    });

    it('changes from up to down in a single run, with one event', async () => {
      await fixture.beat('a', { interval: 1 });
      fixture.clock.advance(MINUTE);
      const run = await fixture.evaluate();
      expect(run).to.include({ to_warning: 0, to_down: 1 });
      expect(names()).to.deep.equal(['monitor.down a']);
      for (let i = 0; i < 3; i++) {
        fixture.clock.advance(MINUTE);
        expect(await fixture.evaluate()).to.include({ evaluated: 0 });
      }
      expect(names()).to.have.lengthOf(1);
    });

    it('emits one recovered event per down event, with the same alarm id', async () => {
      for (let i = 0; i < 3; i++) {
        await fixture.beat('a', { interval: 1 });
        fixture.clock.advance(MINUTE);
        await fixture.evaluate();
      }
      await fixture.beat('a', { status: 'maintenance' });
      await fixture.settled();
      expect(names()).to.deep.equal([
        'monitor.down a',
        'monitor.recovered a',
        'monitor.down a',
        'monitor.recovered a',
        'monitor.down a',
        'monitor.recovered a',
      ]);
      for (let i = 0; i < 6; i += 2) {
        expect(fixture.told[i]?.data.alarm_id).to.equal(fixture.told[i + 1]?.data.alarm_id);
      }
      expect(fixture.told[1]?.data.resolution).to.equal(null);
      expect(fixture.told[5]?.data).to.include({
        resolution: 'maintenance',
        state: 'maintenance',
        previous_state: 'down',
      });
    });

    it('ignores monitors that are stopped, in maintenance or never seen', async () => {
      await fixture.beat('s', { interval: 1, status: 'stopped' });
      await fixture.beat('m', { interval: 1, status: 'maintenance' });
      await fixture.monitors.create({ source: 'n', interval_seconds: 1 }, ANYONE);
      fixture.clock.advance(24 * HOUR);
      expect(await fixture.evaluate()).to.include({ evaluated: 0, to_down: 0 });
      expect((await fixture.monitor('n')).state).to.equal('unknown');
      await fixture.beat('s', { interval: 1 });
      fixture.clock.advance(2001);
      expect(await fixture.evaluate()).to.include({ to_warning: 1 });
    });

    it('suppresses alarms below a down ancestor over several levels, in any row order', async () => {
      for (const source of ['z-root', 'm-mid', 'a-leaf']) await fixture.beat(source, { interval: 1 });
      await fixture.monitors.update('a-leaf', { parent_source: 'm-mid' }, ANYONE);
      await fixture.monitors.update('m-mid', { parent_source: 'z-root' }, ANYONE);
      fixture.clock.advance(MINUTE);
      const run = await fixture.evaluate();
      expect(run).to.include({ to_down: 3, alarms_emitted: 1, alarms_suppressed: 2 });
      expect(names()).to.deep.equal(['monitor.down z-root']);
      expect(await fixture.monitor('a-leaf')).to.include({
        state: 'down',
        alarm: 'suppressed',
        suppressed_by: 'm-mid',
      });
      expect(run.changes.find(({ source }) => source === 'm-mid')?.suppressed_by).to.equal('z-root');
    });

    it('evaluates more monitors than fit in memory once each, also children before their parents', async () => {
      const { monitors, ids } = fixture.deps;
      const silent = fixture.clock.now() - HOUR;
      const root = most - 1;
      // Of each page most are below the last one, which is read in the last page.
      const alone = (i: number): boolean => i === root || i % 20 === 0;
      const docs = Array.from({ length: most }, (_, i) => ({
        ...createMonitor({ source: `m${i}`, ...(!alone(i) && { parent_source: `m${root}` }) }, ids, silent),
        state: 'up' as const,
        last_heartbeat_at: new Date(silent).toISOString(),
        next_check_at: new Date(silent + i).toISOString(),
      }));
      await monitors.bulk(docs.map((doc) => ({ insert: doc })));
      await fixture.outages.recordLiveness();
      const run = await fixture.evaluate();
      expect(run).to.include({ result: 'ok', errors: 0, evaluated: most, to_down: most });
      const reported = docs.flatMap(({ source }, i) => (alone(i) ? [source] : []));
      expect(run).to.include({ alarms_emitted: reported.length, alarms_suppressed: most - reported.length });
      expect(run.changes).to.have.lengthOf(200);
      expect(await monitors.count({ state: 'down', outbox_at: null })).to.equal(most);
      expect(fixture.told.map(({ data }) => data.source)).to.have.members(reported);
      expect(await fixture.evaluate()).to.include({ evaluated: 0, to_down: 0 });
    });

    it('does not suppress alarms below a stopped, warning or up parent', async () => {
      await fixture.beat('p', { interval: 1, status: 'stopped' });
      await fixture.beat('c', { interval: 1 });
      await fixture.monitors.update('c', { parent_source: 'p' }, ANYONE);
      fixture.clock.advance(MINUTE);
      await fixture.evaluate();
      expect(names()).to.deep.equal(['monitor.down c']);
    });

    it('emits a recovery even while the parent is down, but none for a suppressed alarm', async () => {
      await fixture.beat('p', { interval: 100 });
      await fixture.beat('early', { interval: 1 });
      await fixture.beat('late', { interval: 150 });
      await fixture.monitors.update('early', { parent_source: 'p' }, ANYONE);
      await fixture.monitors.update('late', { parent_source: 'p' }, ANYONE);
      fixture.clock.advance(MINUTE);
      await fixture.evaluate();
      fixture.clock.advance(10 * MINUTE);
      await fixture.evaluate();
      expect(names()).to.deep.equal(['monitor.down early', 'monitor.down p']);
      await fixture.beat('early', { interval: 1 });
      await fixture.beat('late', { interval: 1 });
      await fixture.settled();
      expect(names().slice(2)).to.deep.equal(['monitor.recovered early']);
      expect((await fixture.monitor('late')).alarm).to.equal('none');
    });

    const family = async (): Promise<void> => {
      await fixture.beat('p', { interval: 10 });
      await fixture.beat('c', { interval: 10 });
      await fixture.monitors.update('c', { parent_source: 'p' }, ANYONE);
      fixture.clock.advance(MINUTE);
      await fixture.evaluate();
      expect(names()).to.deep.equal(['monitor.down p']);
    };

    it('emits a deferred alarm once for a child still down 60 s after its parent recovered', async () => {
      await family();
      fixture.clock.advance(MINUTE);
      await fixture.beat('p', { interval: 1000 });
      fixture.clock.advance(59_999);
      await fixture.evaluate();
      expect(names()).to.deep.equal(['monitor.down p', 'monitor.recovered p']);
      expect(await fixture.monitor('c')).to.include({ state: 'down', alarm: 'suppressed', suppressed_by: null });
      fixture.clock.advance(1);
      expect(await fixture.evaluate()).to.include({ alarms_emitted: 1 });
      expect(names()[2]).to.equal('monitor.down c');
      expect(fixture.told[2]?.data).to.include({ deferred: true, state: 'down' });
      fixture.clock.advance(HOUR);
      await fixture.evaluate();
      expect(names().filter((name) => name === 'monitor.down c')).to.have.lengthOf(1);
      await fixture.beat('c');
      await fixture.settled();
      expect(fixture.told.at(-1)?.data.alarm_id).to.equal(fixture.told[2]?.data.alarm_id);
    });

    it('defers from the recovery even if no run happened in between', async () => {
      await family();
      await fixture.beat('p', { interval: 1000 });
      fixture.clock.advance(MINUTE);
      await fixture.evaluate();
      expect(names().at(-1)).to.equal('monitor.down c');
    });

    it('defers by the child’s interval when that is longer', async () => {
      await fixture.beat('p', { interval: 1 });
      await fixture.beat('c', { interval: 300 });
      await fixture.monitors.update('c', { parent_source: 'p' }, ANYONE);
      fixture.clock.advance(21 * MINUTE);
      await fixture.evaluate();
      await fixture.beat('p', { interval: 10_000 });
      fixture.clock.advance(299_999);
      await fixture.evaluate();
      expect(names().at(-1)).to.equal('monitor.recovered p');
      fixture.clock.advance(1);
      await fixture.evaluate();
      expect(names().at(-1)).to.equal('monitor.down c');
    });

    it('continues suppressing while another ancestor is down, and restarts the delay after a new failure', async () => {
      await fixture.beat('g', { interval: 10 });
      await fixture.beat('p', { interval: 10 });
      await fixture.beat('c', { interval: 10 });
      await fixture.monitors.update('c', { parent_source: 'p' }, ANYONE);
      await fixture.monitors.update('p', { parent_source: 'g' }, ANYONE);
      fixture.clock.advance(MINUTE);
      await fixture.evaluate();
      await fixture.beat('p', { interval: 10_000 });
      fixture.clock.advance(10 * MINUTE);
      await fixture.evaluate();
      expect(await fixture.monitor('c')).to.include({ alarm: 'suppressed', suppressed_by: 'g' });
      await fixture.beat('g', { interval: 10 });
      await fixture.evaluate();
      fixture.clock.advance(50_000);
      await fixture.evaluate();
      expect((await fixture.monitor('g')).state).to.equal('down');
      fixture.clock.advance(MINUTE);
      await fixture.evaluate();
      expect(await fixture.monitor('c')).to.include({ alarm: 'suppressed', suppressed_by: 'g' });
      await fixture.beat('g', { interval: 10_000 });
      fixture.clock.advance(MINUTE);
      await fixture.evaluate();
      expect(names().at(-1)).to.equal('monitor.down c');
    });

    it('defers after the parent is deleted and after re-parenting', async () => {
      await family();
      await fixture.monitors.remove('p', ANYONE);
      await fixture.settled();
      expect(fixture.told.at(-1)?.data).to.include({ source: 'p', resolution: 'deleted' });
      expect(fixture.revoked).to.deep.equal(['p']);
      fixture.clock.advance(MINUTE);
      await fixture.evaluate();
      expect(names().at(-1)).to.equal('monitor.down c');
    });

    it('defers after a healthy monitor between the child and its down ancestor is deleted', async () => {
      await fixture.beat('top', { interval: 10 });
      await fixture.beat('mid', { interval: 10_000 });
      await fixture.beat('leaf', { interval: 10 });
      await fixture.monitors.update('mid', { parent_source: 'top' }, ANYONE);
      await fixture.monitors.update('leaf', { parent_source: 'mid' }, ANYONE);
      fixture.clock.advance(MINUTE);
      await fixture.evaluate();
      expect(await fixture.monitor('leaf')).to.include({ alarm: 'suppressed', suppressed_by: 'top' });
      await fixture.monitors.remove('mid', ANYONE);
      expect(await fixture.monitor('leaf')).to.include({ alarm: 'suppressed', suppressed_by: null });
      fixture.clock.advance(59_999);
      await fixture.evaluate();
      expect(names()).to.deep.equal(['monitor.down top']);
      fixture.clock.advance(1);
      await fixture.evaluate();
      expect(names()).to.deep.equal(['monitor.down top', 'monitor.down leaf']);
    });

    it('defers after re-parenting of the parent', async () => {
      await fixture.beat('top', { interval: 10 });
      await fixture.beat('mid', { interval: 10_000 });
      await fixture.beat('leaf', { interval: 10 });
      await fixture.monitors.update('mid', { parent_source: 'top' }, ANYONE);
      await fixture.monitors.update('leaf', { parent_source: 'mid' }, ANYONE);
      fixture.clock.advance(MINUTE);
      await fixture.evaluate();
      expect(names()).to.deep.equal(['monitor.down top']);
      await fixture.monitors.update('mid', { parent_source: null }, ANYONE);
      fixture.clock.advance(59_999);
      await fixture.evaluate();
      expect(names()).to.have.lengthOf(1);
      fixture.clock.advance(1);
      await fixture.evaluate();
      expect(names().at(-1)).to.equal('monitor.down leaf');
      fixture.clock.advance(1);
      expect(await fixture.evaluate(), 'nothing stays due').to.include({ evaluated: 0 });
    });

    it('sends no deferred alarm when deferral is disabled', async () => {
      fixture = fixtureOn(store, fixture.clock, (deps) => (deps.config.deferred_alarms = false));
      await family();
      await fixture.beat('p', { interval: 10_000 });
      fixture.clock.advance(2 * MINUTE);
      await fixture.evaluate();
      await fixture.evaluate();
      expect(names()).to.deep.equal(['monitor.down p', 'monitor.recovered p']);
    });

    it('tolerates stored cycles and deep chains, and ignores parents on a cycle', async () => {
      for (const source of ['a', 'b', 'c', 'd']) await fixture.beat(source, { interval: 1 });
      const set = async (source: string, parent: string): Promise<void> => {
        const doc = await fixture.monitors.getMonitor(source, ANYONE);
        await fixture.deps.monitors.change({ id: doc.id }, { set: { parent_source: parent } });
      };
      await set('a', 'b');
      await set('b', 'c');
      await set('c', 'a');
      await set('d', 'a');
      fixture.clock.advance(MINUTE);
      expect(await fixture.evaluate()).to.include({ to_down: 4, alarms_emitted: 3, alarms_suppressed: 1, errors: 0 });
      expect((await fixture.monitor('d')).suppressed_by).to.equal('a');
    });

    it('continues a run when a single monitor fails', async () => {
      await fixture.beat('good', { interval: 1 });
      await fixture.beat('bad', { interval: 1 });
      await fixture.settled();
      const bad = await fixture.monitors.getMonitor('bad', ANYONE);
      await fixture.deps.monitors.change({ id: bad.id }, { set: { outbox: null } });
      fixture.clock.advance(MINUTE);
      const run = await fixture.evaluate();
      expect(run.errors).to.equal(1);
      expect((await fixture.monitor('good')).state).to.equal('down');
      await fixture.deps.monitors.change({ id: bad.id }, { set: { outbox: [] } });
    });

    it('a heartbeat that arrives during a run takes precedence', async () => {
      await fixture.beat('a', { interval: 1 });
      fixture.clock.advance(MINUTE);
      const { monitors } = fixture.deps;
      const bulk = monitors.bulk.bind(monitors);
      const other = fixtureOn(store, fixture.clock);
      let once = true;
      fixture.deps.monitors = over(monitors, {
        bulk: async (ops) => {
          if (once) {
            once = false;
            await other.beat('a', { interval: 1 });
          }
          return bulk(ops);
        },
      });
      expect(await fixture.evaluate()).to.include({ to_down: 0, alarms_emitted: 0 });
      expect((await fixture.monitor('a')).state).to.equal('up');
    });

    it('defers a child’s alarm when the parent’s heartbeat arrives during the run', async () => {
      await fixture.beat('p', { interval: 1 });
      await fixture.beat('c', { interval: 1 });
      await fixture.monitors.update('c', { parent_source: 'p' }, ANYONE);
      fixture.clock.advance(MINUTE);
      const { monitors } = fixture.deps;
      const other = fixtureOn(store, fixture.clock);
      let once = true;
      fixture.deps.monitors = over(monitors, {
        bulk: async (ops) => {
          if (once) {
            once = false;
            await other.beat('p', { interval: 10_000 });
          }
          return monitors.bulk(ops);
        },
      });
      expect(await fixture.evaluate()).to.include({ to_down: 1, alarms_suppressed: 1, alarms_emitted: 0 });
      expect(await fixture.monitor('c')).to.include({ state: 'down', alarm: 'suppressed', suppressed_by: null });
      fixture.clock.advance(MINUTE);
      expect(await fixture.evaluate()).to.include({ alarms_emitted: 1 });
      expect(names()).to.deep.equal(['monitor.down c']);
    });

    it('excludes the service’s own outage once, and only since the last heartbeat', async () => {
      await fixture.outages.recordLiveness();
      await fixture.beat('a', { interval: 60 });
      fixture.clock.advance(10_000);
      await fixture.outages.recordLiveness();
      fixture.clock.advance(HOUR);
      expect(await fixture.evaluate(), 'the gap is still open').to.include({ to_down: 0, to_warning: 0 });
      await fixture.outages.recordLiveness();
      expect(await fixture.evaluate()).to.include({ to_down: 0, to_warning: 0 });
      const before = fixture.told.length;
      for (let i = 0; i < 2; i++) {
        fixture.clock.advance(55_000);
        await fixture.outages.recordLiveness();
      }
      expect(await fixture.evaluate()).to.include({ to_warning: 0 });
      fixture.clock.advance(1);
      expect(await fixture.evaluate()).to.include({ to_warning: 1 });
      for (let i = 0; i < 3; i++) {
        fixture.clock.advance(40_000);
        await fixture.outages.recordLiveness();
      }
      expect(await fixture.evaluate()).to.include({ to_down: 1 });
      expect(fixture.told).to.have.lengthOf(before + 1);
      expect((await fixture.monitor('a')).down_since_utc).to.equal('2026-11-20T09:19:30.123Z');
    });

    it('does not treat a gap of 60 s or less as an outage', async () => {
      await fixture.outages.recordLiveness();
      await fixture.beat('a', { interval: 10 });
      fixture.clock.advance(MINUTE);
      expect(await fixture.evaluate()).to.include({ to_down: 1 });
    });

    it('ignores missing heartbeats that the service itself rejected, for any duration', async () => {
      let rejected = false;
      const full = fixtureOn(store, fixture.clock, (deps) => (deps.isRejectingHeartbeats = () => rejected), 3);
      const pass = async (ms: number): Promise<void> => {
        for (let at = 0; at < ms; at += 10_000) {
          full.clock.advance(10_000);
          await full.outages.recordLiveness();
        }
      };
      await full.outages.recordLiveness();
      await full.beat('a', { interval: 10 });
      rejected = true;
      await pass(50_000);
      expect(await full.evaluate(), 'while it refuses').to.include({ to_down: 0, to_warning: 0 });
      rejected = false;
      expect(await full.evaluate(), 'before its next sign of life').to.include({ to_down: 0, to_warning: 0 });
      await pass(20_000);
      expect(await full.evaluate(), 'once it takes them again').to.include({ to_down: 0, to_warning: 0 });
      await pass(40_000);
      expect(await full.evaluate(), 'when none comes').to.include({ to_down: 1 });
    });

    it('starts on a full disk, and ignores silence during that time', async () => {
      await fixture.outages.recordLiveness();
      await fixture.beat('a', { interval: 10 });
      const full = fixtureOn(store, fixture.clock, undefined, 3);
      const { marks } = full.deps;
      full.deps.marks = over(marks, { change: () => Promise.reject(new StoreFull()) });
      await full.outages.start();
      fixture.clock.advance(50_000);
      full.deps.marks = marks;
      expect(await full.evaluate(), 'before its first sign of life').to.include({ to_down: 0, to_warning: 0 });
      await full.outages.recordLiveness();
      expect(await full.evaluate(), 'once there is room').to.include({ to_down: 0, to_warning: 0 });
      await full.outages.stop();
    });

    it('only one of two evaluators on a store runs, and its alarms are emitted once', async () => {
      const second = fixtureOn(store, fixture.clock, undefined, 2);
      for (let i = 0; i < 20; i++) await fixture.beat(`m${i}`, { interval: 1 });
      fixture.clock.advance(MINUTE);
      const done = await Promise.all([fixture.evaluator.evaluate('http'), second.evaluator.evaluate('cli')]);
      expect(done.filter((run) => run !== null)).to.have.lengthOf(1);
      await fixture.settled();
      await second.settled();
      expect(fixture.told.length + second.told.length).to.equal(20);
    });

    it('takes over the lease of a killed owner: immediately on its host, elsewhere after expiry', async () => {
      const hang = (deps: WatchdogDeps): void => {
        deps.monitors = over(deps.monitors, { find: () => new Promise(() => undefined) });
      };
      const killed = fixtureOn(store, fixture.clock, hang, 7);
      void killed.evaluator.evaluate('http');
      while ((await fixture.deps.leases.get('evaluator'))?.holder === undefined) await new Promise(setImmediate);
      while ((await fixture.deps.runs.count()) === 0) await new Promise(setImmediate);
      expect(await fixture.evaluator.evaluate('http')).to.equal(null);
      fixture.clock.advance(45_000);
      expect(await fixture.evaluator.evaluate('http')).to.not.equal(null);
      const page = await fixture.runs.listPage(10, null, ANYONE);
      expect(page.items.map(({ result }) => result)).to.deep.equal(['ok', 'aborted']);

      const again = fixtureOn(store, fixture.clock, hang, 8);
      void again.evaluator.evaluate('http');
      while ((await fixture.deps.runs.count({ result: null })) === 0) await new Promise(setImmediate);
      expect(await fixture.evaluator.evaluate('http')).to.equal(null);
      fixture.dead.add(8);
      expect(await fixture.evaluator.evaluate('http')).to.not.equal(null);
    });

    it('retains an event in the outbox with its id until a durable listener stores it', async () => {
      let works = false;
      const ids: string[] = [];
      fixture = fixtureOn(store, fixture.clock, (deps) => {
        deps.emit = async (_event, _data, { id }) => {
          ids.push(id);
          return works;
        };
      });
      await fixture.beat('a', { interval: 1 });
      fixture.clock.advance(MINUTE);
      await fixture.evaluate();
      expect(ids).to.have.lengthOf(1);
      works = true;
      expect(await fixture.outbox.reconcile()).to.equal(0);
      fixture.clock.advance(11_000);
      expect(await fixture.outbox.reconcile()).to.equal(1);
      expect(ids).to.deep.equal([ids[0], ids[0]]);
      fixture.clock.advance(11_000);
      expect(await fixture.outbox.reconcile()).to.equal(0);
    });

    it('deletes expired data hourly', async () => {
      await fixture.beat('a', { interval: 60, metrics: { cpu: 1 } });
      for (let i = 0; i < 130; i++) {
        fixture.clock.advance(MINUTE);
        await fixture.beat('a', { interval: 60, metrics: { cpu: i } });
      }
      expect((await fixture.evaluate()).cleanup).to.include({ ran: true, complete: true, samples: 0 });
      expect((await fixture.evaluate()).cleanup).to.include({ ran: false });
      fixture.clock.advance(15 * 24 * HOUR);
      const { cleanup } = await fixture.evaluate();
      expect(cleanup).to.include({ ran: true, complete: true, samples: 3, rollups: 1, runs: 2 });
      fixture.clock.advance(90 * 24 * HOUR);
      expect((await fixture.evaluate()).cleanup.events).to.be.greaterThan(0);
    });

    it('cleans up in batches until its time limit, and continues in the next run', async () => {
      let left = 3;
      fixture = fixtureOn(store, fixture.clock, (deps) => {
        const { chunks, clock } = deps;
        deps.chunks = over(chunks, {
          remove: async (_filter, limit) => {
            expect(limit).to.equal(500);
            (clock as ManualClock).advance(3_000);
            return left-- > 0 ? 500 : 7;
          },
        });
      });
      expect((await fixture.evaluate()).cleanup).to.include({ ran: true, complete: false, samples: 1_000 });
      expect((await fixture.evaluate()).cleanup).to.include({ ran: true, complete: false, samples: 507 });
      expect((await fixture.evaluate()).cleanup).to.include({ ran: true, complete: true, samples: 7 });
      expect((await fixture.evaluate()).cleanup).to.include({ ran: false });
    });

    it('detects silence from the moment the clock was set back', async () => {
      await fixture.beat('a', { interval: 60 });
      await fixture.beat('p', { interval: 1 });
      await fixture.beat('c', { interval: 1 });
      await fixture.monitors.update('c', { parent_source: 'p' }, ANYONE);
      fixture.clock.advance(5_000);
      await fixture.evaluate();
      await fixture.beat('p', { interval: 3600 });
      await fixture.evaluate();
      expect((await fixture.monitors.getMonitor('c', ANYONE)).released_at).to.not.equal(null);
      fixture.clock.set(fixture.clock.now() - 24 * HOUR);
      expect(await fixture.evaluate()).to.include({ to_warning: 0, to_down: 0, alarms_emitted: 0 });
      expect((await fixture.monitor('a')).last_heartbeat_at).to.equal(fixture.clock.iso());
      fixture.clock.advance(60_001);
      expect(await fixture.evaluate()).to.include({ to_warning: 0, alarms_emitted: 1 });
      fixture.clock.advance(60_000);
      expect(await fixture.evaluate()).to.include({ to_warning: 1, evaluated: 1 });
      fixture.clock.advance(120_000);
      expect(await fixture.evaluate()).to.include({ to_down: 1 });
      expect(fixture.told.map(({ event, data }) => [event, data.source, data.deferred])).to.deep.equal([
        ['monitor.down', 'p', false],
        ['monitor.recovered', 'p', false],
        ['monitor.down', 'c', true],
        ['monitor.down', 'a', false],
      ]);
    });

    for (const [name, ms] of Object.entries({ 'an hour': HOUR, 'a year': 365 * 24 * HOUR })) {
      it(`reports in health a clock that ran ${name} ahead until the next run, and detects silence`, async () => {
        await fixture.outages.recordLiveness();
        await fixture.beat('a', { interval: 60 });
        fixture.clock.set(fixture.clock.now() + ms);
        // A machine that slept: nobody was silent.
        await fixture.outages.recordLiveness();
        expect(await fixture.evaluate()).to.include({ to_warning: 0, to_down: 0, alarms_emitted: 0 });
        expect(await fixture.runs.getHealth()).to.include({ ok: true });
        fixture.clock.set(fixture.clock.now() - ms);
        expect(await fixture.runs.getHealth()).to.include({ ok: false, age_seconds: 0 });
        await fixture.outages.recordLiveness();
        expect(await fixture.evaluate()).to.include({ to_warning: 0, to_down: 0, alarms_emitted: 0 });
        expect(await fixture.runs.getHealth()).to.deep.equal({
          ok: true,
          last_run_at: fixture.clock.iso(),
          age_seconds: 0,
        });
        for (let n = 0; n < 7; n++) {
          fixture.clock.advance(40_000);
          await fixture.outages.recordLiveness();
        }
        expect(await fixture.evaluate()).to.include({ to_down: 1 });
      });
    }

    it('stores the server’s time for a heartbeat, before and after a clock step', async () => {
      for (const ms of [HOUR, -HOUR, -365 * 24 * HOUR]) {
        fixture.clock.set(fixture.clock.now() + ms);
        await fixture.beat('a', { interval: 60 });
        await fixture.evaluate();
        expect((await fixture.monitor('a')).last_heartbeat_at).to.equal(fixture.clock.iso());
      }
    });

    it('emits pending alarms from before the clock moved backwards', async () => {
      let works = false;
      fixture = fixtureOn(store, fixture.clock, (deps) => {
        const { emit } = deps;
        deps.emit = async (...args) => works && emit(...args);
      });
      await fixture.beat('a', { interval: 1 });
      fixture.clock.advance(MINUTE);
      await fixture.evaluate();
      works = true;
      fixture.clock.set(fixture.clock.now() - 2 * HOUR);
      expect(await fixture.outbox.reconcile()).to.equal(1);
      expect(fixture.told.map(({ event }) => event)).to.deep.equal(['monitor.down']);
    });

    it('emits pending alarms immediately after a restart', async () => {
      fixture = fixtureOn(store, fixture.clock, (deps) => (deps.emit = async () => false));
      await fixture.beat('a', { interval: 1 });
      fixture.clock.advance(MINUTE);
      await fixture.evaluate();
      const back = fixtureOn(store, fixture.clock);
      back.outbox.resume();
      await back.settled();
      expect(back.told.map(({ event }) => event)).to.deep.equal(['monitor.down']);
      expect((await back.monitors.getMonitor('a', ANYONE)).outbox_at).to.equal(null);
    });

    it('neither alarms nor loses samples when the clock moves backwards', async () => {
      await fixture.beat('a', { interval: 60, metrics: { cpu: 1 } });
      fixture.clock.set(fixture.clock.now() - 2 * HOUR);
      await fixture.evaluate();
      const answer = await fixture.beat('a', { interval: 60, metrics: { cpu: 3 } });
      expect(answer).to.include({ state: 'up', changed: false });
      fixture.clock.advance(120_001);
      expect(await fixture.evaluate()).to.include({ to_warning: 1 });
      fixture.clock.advance(3 * HOUR);
      const { metrics } = await fixture.histories.getHistory(await fixture.monitors.getMonitor('a', ANYONE), {
        hours: 12,
      });
      expect(metrics['cpu']?.points.reduce((sum, { n }) => sum + n, 0)).to.equal(2);
      expect(metrics['cpu']?.baseline).to.include({ n: 2, mean: 2 });
    });
  });
}
