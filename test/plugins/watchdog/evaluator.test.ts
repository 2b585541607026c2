/** The evaluator and the alarms (contract 30, evaluator, alarms, hierarchy, own outage), on every engine. */
import { expect } from 'chai';
import type { Deps } from '../../../plugins/watchdog/deps.js';
import { freshMonitor } from '../../../plugins/watchdog/monitor.js';
import type { DocumentStore } from '../../../ports/store.js';
import type { ManualClock } from '../../support/clock.js';
import { ANYONE, HOUR, MINUTE, over, STORES, worldOn, type World } from './world.js';

for (const engine of STORES) {
  describe(`watchdog evaluator (${engine.name})`, function () {
    this.timeout(30_000);
    let world: World;
    let store: DocumentStore;
    let close = async (): Promise<void> => undefined;

    beforeEach(async function () {
      const opened = await engine.open(() => this.skip());
      ({ store } = opened);
      world = worldOn(store);
      close = async () => {
        await world.settled();
        await opened.close();
      };
    });
    afterEach(() => close());

    const names = (): string[] => world.told.map(({ event, data }) => `${event} ${data.source}`);

    it('is strict at both thresholds: warning after 2·I, down after 4·I', async () => {
      await world.beat('a', { interval: 10 });
      world.clock.advance(20_000);
      expect(await world.evaluate()).to.include({ evaluated: 0, to_warning: 0 });
      world.clock.advance(1);
      expect(await world.evaluate()).to.include({ evaluated: 1, to_warning: 1, to_down: 0 });
      expect(await world.monitor('a')).to.include({ state: 'warning', alarm: 'none' });
      world.clock.advance(19_999);
      expect(await world.evaluate()).to.include({ to_down: 0 });
      world.clock.advance(1);
      const run = await world.evaluate();
      expect(run).to.include({ to_down: 1, alarms_emitted: 1, result: 'ok', trigger: 'http' });
      expect(run.changes).to.deep.equal([{ source: 'a', from: 'warning', to: 'down', suppressed_by: null }]);
      const down = await world.monitor('a');
      expect(down).to.include({ state: 'down', alarm: 'open', down_since_utc: '2026-11-20T08:16:10.123Z' });
      expect(world.told).to.have.lengthOf(1);
      expect(world.told[0]?.data).to.deep.equal({
        source: 'a',
        state: 'down',
        previous_state: 'warning',
        alarm_id: down.alarm_id,
        deferred: false,
        resolution: null,
        down_since_utc: down.down_since_utc,
      });
    });

    it('goes from up to down in one run, with one event', async () => {
      await world.beat('a', { interval: 1 });
      world.clock.advance(MINUTE);
      const run = await world.evaluate();
      expect(run).to.include({ to_warning: 0, to_down: 1 });
      expect(names()).to.deep.equal(['monitor.down a']);
      for (let i = 0; i < 3; i++) {
        world.clock.advance(MINUTE);
        expect(await world.evaluate()).to.include({ evaluated: 0 });
      }
      expect(names()).to.have.lengthOf(1);
    });

    it('pairs every down with one recovered of the same alarm', async () => {
      for (let i = 0; i < 3; i++) {
        await world.beat('a', { interval: 1 });
        world.clock.advance(MINUTE);
        await world.evaluate();
      }
      await world.beat('a', { status: 'maintenance' });
      await world.settled();
      expect(names()).to.deep.equal([
        'monitor.down a',
        'monitor.recovered a',
        'monitor.down a',
        'monitor.recovered a',
        'monitor.down a',
        'monitor.recovered a',
      ]);
      for (let i = 0; i < 6; i += 2) {
        expect(world.told[i]?.data.alarm_id).to.equal(world.told[i + 1]?.data.alarm_id);
      }
      expect(world.told[1]?.data.resolution).to.equal(null);
      expect(world.told[5]?.data).to.include({
        resolution: 'maintenance',
        state: 'maintenance',
        previous_state: 'down',
      });
    });

    it('leaves stopped, maintenance and never-seen monitors alone', async () => {
      await world.beat('s', { interval: 1, status: 'stopped' });
      await world.beat('m', { interval: 1, status: 'maintenance' });
      await world.monitors.create({ source: 'n', interval_seconds: 1 }, ANYONE);
      world.clock.advance(24 * HOUR);
      expect(await world.evaluate()).to.include({ evaluated: 0, to_down: 0 });
      expect((await world.monitor('n')).state).to.equal('unknown');
      await world.beat('s', { interval: 1 });
      world.clock.advance(2001);
      expect(await world.evaluate()).to.include({ to_warning: 1 });
    });

    it('suppresses below a down ancestor over levels, whatever the order of rows', async () => {
      for (const source of ['z-root', 'm-mid', 'a-leaf']) await world.beat(source, { interval: 1 });
      await world.monitors.edit('a-leaf', { parent_source: 'm-mid' }, ANYONE);
      await world.monitors.edit('m-mid', { parent_source: 'z-root' }, ANYONE);
      world.clock.advance(MINUTE);
      const run = await world.evaluate();
      expect(run).to.include({ to_down: 3, alarms_emitted: 1, alarms_suppressed: 2 });
      expect(names()).to.deep.equal(['monitor.down z-root']);
      expect(await world.monitor('a-leaf')).to.include({ state: 'down', alarm: 'suppressed', suppressed_by: 'm-mid' });
      expect(run.changes.find(({ source }) => source === 'm-mid')?.suppressed_by).to.equal('z-root');
    });

    it('does not suppress below a stopped, warning or up parent', async () => {
      await world.beat('p', { interval: 1, status: 'stopped' });
      await world.beat('c', { interval: 1 });
      await world.monitors.edit('c', { parent_source: 'p' }, ANYONE);
      world.clock.advance(MINUTE);
      await world.evaluate();
      expect(names()).to.deep.equal(['monitor.down c']);
    });

    it('tells a recovery even while the parent is down, and none for a suppressed alarm', async () => {
      await world.beat('p', { interval: 100 });
      await world.beat('early', { interval: 1 });
      await world.beat('late', { interval: 150 });
      await world.monitors.edit('early', { parent_source: 'p' }, ANYONE);
      await world.monitors.edit('late', { parent_source: 'p' }, ANYONE);
      world.clock.advance(MINUTE);
      await world.evaluate();
      world.clock.advance(10 * MINUTE);
      await world.evaluate();
      expect(names()).to.deep.equal(['monitor.down early', 'monitor.down p']);
      await world.beat('early', { interval: 1 });
      await world.beat('late', { interval: 1 });
      await world.settled();
      expect(names().slice(2)).to.deep.equal(['monitor.recovered early']);
      expect((await world.monitor('late')).alarm).to.equal('none');
    });

    const family = async (): Promise<void> => {
      await world.beat('p', { interval: 10 });
      await world.beat('c', { interval: 10 });
      await world.monitors.edit('c', { parent_source: 'p' }, ANYONE);
      world.clock.advance(MINUTE);
      await world.evaluate();
      expect(names()).to.deep.equal(['monitor.down p']);
    };

    it('alarms a child that is still down 60 s after its parent returned, once, deferred', async () => {
      await family();
      world.clock.advance(MINUTE);
      await world.beat('p', { interval: 1000 });
      world.clock.advance(59_999);
      await world.evaluate();
      expect(names()).to.deep.equal(['monitor.down p', 'monitor.recovered p']);
      expect(await world.monitor('c')).to.include({ state: 'down', alarm: 'suppressed', suppressed_by: null });
      world.clock.advance(1);
      expect(await world.evaluate()).to.include({ alarms_emitted: 1 });
      expect(names()[2]).to.equal('monitor.down c');
      expect(world.told[2]?.data).to.include({ deferred: true, state: 'down' });
      world.clock.advance(HOUR);
      await world.evaluate();
      expect(names().filter((name) => name === 'monitor.down c')).to.have.lengthOf(1);
      await world.beat('c');
      await world.settled();
      expect(world.told.at(-1)?.data.alarm_id).to.equal(world.told[2]?.data.alarm_id);
    });

    it('defers from the recovery, also when no run came by meanwhile', async () => {
      await family();
      await world.beat('p', { interval: 1000 });
      world.clock.advance(MINUTE);
      await world.evaluate();
      expect(names().at(-1)).to.equal('monitor.down c');
    });

    it('waits as long as the child’s interval when that is longer', async () => {
      await world.beat('p', { interval: 1 });
      await world.beat('c', { interval: 300 });
      await world.monitors.edit('c', { parent_source: 'p' }, ANYONE);
      world.clock.advance(21 * MINUTE);
      await world.evaluate();
      await world.beat('p', { interval: 10_000 });
      world.clock.advance(299_999);
      await world.evaluate();
      expect(names().at(-1)).to.equal('monitor.recovered p');
      world.clock.advance(1);
      await world.evaluate();
      expect(names().at(-1)).to.equal('monitor.down c');
    });

    it('goes on holding back while a farther ancestor is down, and starts anew when one falls again', async () => {
      await world.beat('g', { interval: 10 });
      await world.beat('p', { interval: 10 });
      await world.beat('c', { interval: 10 });
      await world.monitors.edit('c', { parent_source: 'p' }, ANYONE);
      await world.monitors.edit('p', { parent_source: 'g' }, ANYONE);
      world.clock.advance(MINUTE);
      await world.evaluate();
      await world.beat('p', { interval: 10_000 });
      world.clock.advance(10 * MINUTE);
      await world.evaluate();
      expect(await world.monitor('c')).to.include({ alarm: 'suppressed', suppressed_by: 'g' });
      await world.beat('g', { interval: 10 });
      await world.evaluate();
      world.clock.advance(50_000);
      await world.evaluate();
      expect((await world.monitor('g')).state).to.equal('down');
      world.clock.advance(MINUTE);
      await world.evaluate();
      expect(await world.monitor('c')).to.include({ alarm: 'suppressed', suppressed_by: 'g' });
      await world.beat('g', { interval: 10_000 });
      world.clock.advance(MINUTE);
      await world.evaluate();
      expect(names().at(-1)).to.equal('monitor.down c');
    });

    it('defers after the parent was deleted, and after re-parenting', async () => {
      await family();
      await world.monitors.remove('p', ANYONE);
      await world.settled();
      expect(world.told.at(-1)?.data).to.include({ source: 'p', resolution: 'deleted' });
      expect(world.revoked).to.deep.equal(['p']);
      world.clock.advance(MINUTE);
      await world.evaluate();
      expect(names().at(-1)).to.equal('monitor.down c');
    });

    it('defers after re-parenting of the monitor above', async () => {
      await world.beat('top', { interval: 10 });
      await world.beat('mid', { interval: 10_000 });
      await world.beat('leaf', { interval: 10 });
      await world.monitors.edit('mid', { parent_source: 'top' }, ANYONE);
      await world.monitors.edit('leaf', { parent_source: 'mid' }, ANYONE);
      world.clock.advance(MINUTE);
      await world.evaluate();
      expect(names()).to.deep.equal(['monitor.down top']);
      await world.monitors.edit('mid', { parent_source: null }, ANYONE);
      world.clock.advance(59_999);
      await world.evaluate();
      expect(names()).to.have.lengthOf(1);
      world.clock.advance(1);
      await world.evaluate();
      expect(names().at(-1)).to.equal('monitor.down leaf');
      world.clock.advance(1);
      expect(await world.evaluate(), 'nothing stays due').to.include({ evaluated: 0 });
    });

    it('sends no deferred alarm when that is switched off', async () => {
      world = worldOn(store, world.clock, (deps) => (deps.config.deferred_alarms = false));
      await family();
      await world.beat('p', { interval: 10_000 });
      world.clock.advance(2 * MINUTE);
      await world.evaluate();
      await world.evaluate();
      expect(names()).to.deep.equal(['monitor.down p', 'monitor.recovered p']);
    });

    it('tolerates stored cycles and deep chains; on a cycle everyone counts as parentless', async () => {
      for (const source of ['a', 'b', 'c', 'd']) await world.beat(source, { interval: 1 });
      const set = async (source: string, parent: string): Promise<void> => {
        const doc = await world.monitors.need(source, ANYONE);
        await world.deps.monitors.change({ id: doc.id }, { set: { parent_source: parent } });
      };
      await set('a', 'b');
      await set('b', 'c');
      await set('c', 'a');
      await set('d', 'a');
      world.clock.advance(MINUTE);
      expect(await world.evaluate()).to.include({ to_down: 4, alarms_emitted: 3, alarms_suppressed: 1, errors: 0 });
      expect((await world.monitor('d')).suppressed_by).to.equal('a');
    });

    it('one failing monitor never stops a run', async () => {
      await world.beat('good', { interval: 1 });
      await world.beat('bad', { interval: 1 });
      const bad = await world.monitors.need('bad', ANYONE);
      await world.deps.monitors.change({ id: bad.id }, { set: { outbox: null } });
      world.clock.advance(MINUTE);
      const run = await world.evaluate();
      expect(run.errors).to.equal(1);
      expect((await world.monitor('good')).state).to.equal('down');
      await world.deps.monitors.change({ id: bad.id }, { set: { outbox: [] } });
    });

    it('a heartbeat that arrives during a run wins', async () => {
      await world.beat('a', { interval: 1 });
      world.clock.advance(MINUTE);
      const { monitors } = world.deps;
      const bulk = monitors.bulk.bind(monitors);
      const other = worldOn(store, world.clock);
      let once = true;
      world.deps.monitors = over(monitors, {
        bulk: async (ops) => {
          if (once) {
            once = false;
            await other.beat('a', { interval: 1 });
          }
          return bulk(ops);
        },
      });
      expect(await world.evaluate()).to.include({ to_down: 0, alarms_emitted: 0 });
      expect((await world.monitor('a')).state).to.equal('up');
    });

    it('a parent whose heartbeat wins against the run leaves its child to a deferred alarm', async () => {
      await world.beat('p', { interval: 1 });
      await world.beat('c', { interval: 1 });
      await world.monitors.edit('c', { parent_source: 'p' }, ANYONE);
      world.clock.advance(MINUTE);
      const { monitors } = world.deps;
      const other = worldOn(store, world.clock);
      let once = true;
      world.deps.monitors = over(monitors, {
        bulk: async (ops) => {
          if (once) {
            once = false;
            await other.beat('p', { interval: 10_000 });
          }
          return monitors.bulk(ops);
        },
      });
      expect(await world.evaluate()).to.include({ to_down: 1, alarms_suppressed: 1, alarms_emitted: 0 });
      expect(await world.monitor('c')).to.include({ state: 'down', alarm: 'suppressed', suppressed_by: null });
      world.clock.advance(MINUTE);
      expect(await world.evaluate()).to.include({ alarms_emitted: 1 });
      expect(names()).to.deep.equal(['monitor.down c']);
    });

    it('judges thousands that are due at once as one: suppression crosses the pages', async () => {
      const { ids, clock, monitors } = world.deps;
      const at = clock.iso();
      const docs = Array.from({ length: 2_300 }, (_, i) => ({
        ...freshMonitor({ source: `m${i}`, parent_source: i === 2_299 ? null : 'm2299' }, ids, clock.now()),
        state: 'up' as const,
        last_heartbeat_at: at,
        // The parent is due last.
        next_check_at: new Date(clock.now() + i).toISOString(),
      }));
      for (let i = 0; i < docs.length; i += 500) {
        await monitors.bulk(docs.slice(i, i + 500).map((doc) => ({ insert: doc })));
      }
      world.clock.advance(HOUR);
      const run = await world.evaluate();
      expect(run).to.include({ evaluated: 2_300, to_down: 2_300, alarms_emitted: 1, alarms_suppressed: 2_299 });
      expect(run.changes).to.have.lengthOf(200);
      expect(names()).to.deep.equal(['monitor.down m2299']);
    }).timeout(20_000);

    it('credits its own outage once, and only the part since the last heartbeat', async () => {
      await world.outages.stamp();
      await world.beat('a', { interval: 60 });
      world.clock.advance(10_000);
      await world.outages.stamp();
      world.clock.advance(HOUR);
      expect(await world.evaluate(), 'the gap is still open').to.include({ to_down: 0, to_warning: 0 });
      await world.outages.stamp();
      expect(await world.evaluate()).to.include({ to_down: 0, to_warning: 0 });
      const before = world.told.length;
      for (let i = 0; i < 2; i++) {
        world.clock.advance(55_000);
        await world.outages.stamp();
      }
      expect(await world.evaluate()).to.include({ to_warning: 0 });
      world.clock.advance(1);
      expect(await world.evaluate()).to.include({ to_warning: 1 });
      for (let i = 0; i < 3; i++) {
        world.clock.advance(40_000);
        await world.outages.stamp();
      }
      expect(await world.evaluate()).to.include({ to_down: 1 });
      expect(world.told).to.have.lengthOf(before + 1);
      expect((await world.monitor('a')).down_since_utc).to.equal('2026-11-20T09:19:30.123Z');
    });

    it('a gap of 60 s or less is no outage', async () => {
      await world.outages.stamp();
      await world.beat('a', { interval: 10 });
      world.clock.advance(MINUTE);
      expect(await world.evaluate()).to.include({ to_down: 1 });
    });

    it('two evaluators on one store: one wins, and its alarms are told once', async () => {
      const second = worldOn(store, world.clock, undefined, 2);
      for (let i = 0; i < 20; i++) await world.beat(`m${i}`, { interval: 1 });
      world.clock.advance(MINUTE);
      const done = await Promise.all([world.evaluator.evaluate('http'), second.evaluator.evaluate('cli')]);
      expect(done.filter((run) => run !== null)).to.have.lengthOf(1);
      await world.settled();
      await second.settled();
      expect(world.told.length + second.told.length).to.equal(20);
    });

    it('takes the lease of a killed owner: at once on its host, elsewhere when it has run out', async () => {
      const hang = (deps: Deps): void => {
        deps.monitors = over(deps.monitors, { find: () => new Promise(() => undefined) });
      };
      const killed = worldOn(store, world.clock, hang, 7);
      void killed.evaluator.evaluate('http');
      while ((await world.deps.leases.get('evaluator'))?.holder === undefined) await new Promise(setImmediate);
      while ((await world.deps.runs.count()) === 0) await new Promise(setImmediate);
      expect(await world.evaluator.evaluate('http')).to.equal(null);
      world.clock.advance(45_000);
      expect(await world.evaluator.evaluate('http')).to.not.equal(null);
      const page = await world.runs.page(10, null);
      expect(page.items.map(({ result }) => result)).to.deep.equal(['ok', 'aborted']);

      const again = worldOn(store, world.clock, hang, 8);
      void again.evaluator.evaluate('http');
      while ((await world.deps.runs.count({ result: null })) === 0) await new Promise(setImmediate);
      expect(await world.evaluator.evaluate('http')).to.equal(null);
      world.dead.add(8);
      expect(await world.evaluator.evaluate('http')).to.not.equal(null);
    });

    it('keeps an event in the outbox until a durable listener has stored it, with its id', async () => {
      let works = false;
      const ids: string[] = [];
      world = worldOn(store, world.clock, (deps) => {
        deps.emit = async (_event, _data, { id }) => {
          ids.push(id);
          return works;
        };
      });
      await world.beat('a', { interval: 1 });
      world.clock.advance(MINUTE);
      await world.evaluate();
      expect(ids).to.have.lengthOf(1);
      works = true;
      expect(await world.outbox.leftovers()).to.equal(0);
      world.clock.advance(11_000);
      expect(await world.outbox.leftovers()).to.equal(1);
      expect(ids).to.deep.equal([ids[0], ids[0]]);
      world.clock.advance(11_000);
      expect(await world.outbox.leftovers()).to.equal(0);
    });

    it('cleans up hourly what is past its time', async () => {
      await world.beat('a', { interval: 60, metrics: { cpu: 1 } });
      for (let i = 0; i < 130; i++) {
        world.clock.advance(MINUTE);
        await world.beat('a', { interval: 60, metrics: { cpu: i } });
      }
      expect((await world.evaluate()).cleanup).to.include({ ran: true, complete: true, samples: 0 });
      expect((await world.evaluate()).cleanup).to.include({ ran: false });
      world.clock.advance(15 * 24 * HOUR);
      const { cleanup } = await world.evaluate();
      expect(cleanup).to.include({ ran: true, complete: true, samples: 3, rollups: 1, runs: 2 });
      world.clock.advance(90 * 24 * HOUR);
      expect((await world.evaluate()).cleanup.events).to.be.greaterThan(0);
    });

    it('cleans up in batches until its time is up, and goes on with the next run', async () => {
      let left = 3;
      world = worldOn(store, world.clock, (deps) => {
        const { chunks, clock } = deps;
        deps.chunks = over(chunks, {
          remove: async (_filter, limit) => {
            expect(limit).to.equal(500);
            (clock as ManualClock).advance(3_000);
            return left-- > 0 ? 500 : 7;
          },
        });
      });
      expect((await world.evaluate()).cleanup).to.include({ ran: true, complete: false, samples: 1_000 });
      expect((await world.evaluate()).cleanup).to.include({ ran: true, complete: false, samples: 507 });
      expect((await world.evaluate()).cleanup).to.include({ ran: true, complete: true, samples: 7 });
      expect((await world.evaluate()).cleanup).to.include({ ran: false });
    });

    it('a clock that was set back hides no silence: it counts from then on', async () => {
      await world.beat('a', { interval: 60 });
      await world.beat('p', { interval: 1 });
      await world.beat('c', { interval: 1 });
      await world.monitors.edit('c', { parent_source: 'p' }, ANYONE);
      world.clock.advance(5_000);
      await world.evaluate();
      await world.beat('p', { interval: 3600 });
      await world.evaluate();
      expect((await world.monitors.need('c', ANYONE)).released_at).to.not.equal(null);
      world.clock.set(world.clock.now() - 24 * HOUR);
      expect(await world.evaluate()).to.include({ to_warning: 0, to_down: 0, alarms_emitted: 0 });
      expect((await world.monitor('a')).last_heartbeat_at).to.equal(world.clock.iso());
      world.clock.advance(60_001);
      expect(await world.evaluate()).to.include({ to_warning: 0, alarms_emitted: 1 });
      world.clock.advance(60_000);
      expect(await world.evaluate()).to.include({ to_warning: 1, evaluated: 1 });
      world.clock.advance(120_000);
      expect(await world.evaluate()).to.include({ to_down: 1 });
      expect(world.told.map(({ event, data }) => [event, data.source, data.deferred])).to.deep.equal([
        ['monitor.down', 'p', false],
        ['monitor.recovered', 'p', false],
        ['monitor.down', 'c', true],
        ['monitor.down', 'a', false],
      ]);
    });

    it('what was left to tell before the clock was set back is told', async () => {
      let works = false;
      world = worldOn(store, world.clock, (deps) => {
        const { emit } = deps;
        deps.emit = async (...args) => works && emit(...args);
      });
      await world.beat('a', { interval: 1 });
      world.clock.advance(MINUTE);
      await world.evaluate();
      works = true;
      world.clock.set(world.clock.now() - 2 * HOUR);
      expect(await world.outbox.leftovers()).to.equal(1);
      expect(world.told.map(({ event }) => event)).to.deep.equal(['monitor.down']);
    });

    it('a process that comes back tells at once what the last one left', async () => {
      world = worldOn(store, world.clock, (deps) => (deps.emit = async () => false));
      await world.beat('a', { interval: 1 });
      world.clock.advance(MINUTE);
      await world.evaluate();
      const back = worldOn(store, world.clock);
      back.outbox.resume();
      await back.settled();
      expect(back.told.map(({ event }) => event)).to.deep.equal(['monitor.down']);
      expect((await back.monitors.need('a', ANYONE)).outbox_at).to.equal(null);
    });

    it('a clock that goes back neither alarms nor loses samples', async () => {
      await world.beat('a', { interval: 60, metrics: { cpu: 1 } });
      world.clock.set(world.clock.now() - 2 * HOUR);
      await world.evaluate();
      const answer = await world.beat('a', { interval: 60, metrics: { cpu: 3 } });
      expect(answer).to.include({ state: 'up', changed: false });
      world.clock.advance(120_001);
      expect(await world.evaluate()).to.include({ to_warning: 1 });
      world.clock.advance(3 * HOUR);
      const { metrics } = await world.histories.history(await world.monitors.need('a', ANYONE), { hours: 12 });
      expect(metrics['cpu']?.points.reduce((sum, { n }) => sum + n, 0)).to.equal(2);
      expect(metrics['cpu']?.baseline).to.include({ n: 2, mean: 2 });
    });
  });
}
