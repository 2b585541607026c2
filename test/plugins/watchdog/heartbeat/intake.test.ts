/** Heartbeats: what is taken, kept, cut and answered (contract 30, heartbeat), on every engine. */
import { expect } from 'chai';
import { ServiceError } from '../../../../kernel/errors.js';
import { parseHeartbeat, getRequestedState } from '../../../../plugins/watchdog/heartbeat/heartbeat.js';
import { MONITOR_SOURCE_PATTERN } from '../../../../ports/domain/watchdog.js';
import type { DocumentStore } from '../../../../ports/store/index.js';
import { ANYONE, MINUTE, STORES, fixtureOn, type Fixture } from '../fixture.js';
import { useStore } from '../../../support/stores.js';

async function codeOf(run: Promise<unknown>): Promise<string> {
  try {
    await run;
    return 'none';
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}

describe('watchdog heartbeat (pure)', () => {
  it('validates sources', () => {
    for (const good of ['a', 'web-1', 'host/a.b:80@x_y', '...', 'a..b', 'x'.repeat(128)]) {
      expect(MONITOR_SOURCE_PATTERN.test(good), good).to.equal(true);
    }
    for (const bad of ['', '.', '..', 'a/../b', './a', 'a/.', 'ä', 'a b', 'a\n', 'x'.repeat(129)]) {
      expect(MONITOR_SOURCE_PATTERN.test(bad), JSON.stringify(bad)).to.equal(false);
    }
  });

  it('maps statuses, aliases and failed checks to states', () => {
    const state = (status: string | undefined, ok = true, errorIsDown = false): string =>
      getRequestedState(parseHeartbeat({ source: 'a', ...(status && { status }), checks: { c: { ok } } }), errorIsDown);
    expect(state(undefined)).to.equal('up');
    for (const up of ['ok', 'up']) expect(state(up)).to.equal('up');
    for (const warn of ['warning', 'warn', 'error']) expect(state(warn), warn).to.equal('warning');
    for (const down of ['fail', 'failed', 'critical', 'down']) expect(state(down), down).to.equal('down');
    expect(state('ok', false)).to.equal('warning');
    expect(state('stopped', false)).to.equal('stopped');
    expect(state('error', true, true)).to.equal('down');
  });

  it('reads the machine’s id, but never a part of it', () => {
    for (const [instance_id, expected] of [
      ['f00d', 'f00d'],
      ['', null],
      [null, null],
      ['x'.repeat(201), null],
    ] as const)
      expect(parseHeartbeat({ source: 'a', instance_id }).instance_id).to.equal(expected);
  });

  it('treats a check without a boolean ok as not failed, and reports it', () => {
    const beat = parseHeartbeat({
      source: 'a',
      checks: { db: { ok: 'no' }, disk: 7, net: { ok: true, message: 'fine' } },
    });
    expect(beat.failed).to.equal(false);
    expect(beat.warnings).to.have.lengthOf(2);
    expect(beat.warnings[0]).to.include('db');
    expect(beat.warnings[1]).to.include('disk');
    expect(JSON.parse(beat.checks)).to.deep.include({ net: { ok: true, message: 'fine' } });
  });

  it('samples finite numbers, and drops metrics beyond the limits but never the heartbeat', () => {
    const metrics: Record<string, unknown> = { text: '5', flag: true, none: null, constructor: 1, ['x'.repeat(65)]: 1 };
    for (let i = 0; i < 70; i++) metrics[`m${i}`] = i;
    const beat = parseHeartbeat({ source: 'a', metrics });
    expect(beat.samples).to.have.lengthOf(64);
    expect(beat.samples[0]).to.deep.equal(['constructor', 1]);
    expect(beat.dropped).to.have.lengthOf(8);
    expect(JSON.parse(beat.metrics_json)).to.include({ text: '5', flag: true, m69: 69 });
  });

  it('removes live tokens of this service from stored data, and nothing else', () => {
    const token = `wd_live_${'a1'.repeat(21)}b`;
    const hidden = `svc_live_\u200b${'a1'.repeat(21)}b`;
    const beat = parseHeartbeat({
      source: 'a',
      message: `curl /ping/${token} failed`,
      checks: { [token]: { ok: false, message: hidden } },
      metrics: { [token]: 3, cpu: 1, note: { deep: [token] } },
      os: token,
      app_version: hidden,
    });
    expect(beat.message).to.equal('curl /ping/[scrubbed] failed');
    expect(JSON.stringify(beat)).not.to.include('a1a1a1');
    expect(beat).to.include({ failed: true, os: '[scrubbed]', app_version: '[scrubbed]' });
    expect(JSON.parse(beat.metrics_json)).to.deep.equal({
      '[scrubbed]': 3,
      cpu: 1,
      note: { deep: ['[scrubbed]'] },
    });
    expect(beat.samples).to.deep.include(['cpu', 1]);
    const cut = parseHeartbeat({ source: 'a', message: `${'x'.repeat(980)}${token}` });
    expect(cut.message).to.equal(`${'x'.repeat(980)}[scrubbed]`);
  });

  it('truncates a long message to 1,000 characters', () => {
    expect(parseHeartbeat({ source: 'a', message: 'x'.repeat(5000) }).message).to.have.lengthOf(1000);
  });
});

for (const engine of STORES) {
  describe(`watchdog intake (${engine.name})`, function () {
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

    it('creates the monitor with the first heartbeat and returns the thresholds', async () => {
      const first = await fixture.beat('a', { interval: 0.5, metrics: { cpu: 1 } });
      expect(first).to.deep.include({
        created: true,
        state: 'up',
        previous_state: null,
        changed: true,
        effective_interval_seconds: 0.5,
        warn_after: '2026-11-20T08:15:31.123Z',
        down_after: '2026-11-20T08:15:32.123Z',
        server_time: '2026-11-20T08:15:30.123Z',
        accepted_metrics: 1,
        dropped_metrics: [],
        warnings: [],
      });
      const second = await fixture.beat('a');
      expect(second).to.include({
        created: false,
        previous_state: 'up',
        changed: false,
        effective_interval_seconds: 60,
      });
    });

    it('uses the heartbeat’s interval, otherwise the configured one, otherwise 60', async () => {
      await fixture.monitors.create({ source: 'a', interval_seconds: 5 }, ANYONE);
      expect((await fixture.beat('a')).effective_interval_seconds).to.equal(5);
      expect((await fixture.beat('a', { interval: 7 })).effective_interval_seconds).to.equal(7);
      expect((await fixture.beat('a')).effective_interval_seconds).to.equal(5);
    });

    it('simultaneous first heartbeats from two processes create a single monitor, and all succeed', async () => {
      const other = fixtureOn(store, fixture.clock);
      const answers = await Promise.all(
        Array.from({ length: 64 }, (_, i) => (i % 2 ? fixture : other).beat('new', { metrics: { n: i } })),
      );
      expect(answers.filter(({ created }) => created)).to.have.lengthOf(1);
      expect(answers.filter(({ previous_state }) => previous_state === null)).to.have.lengthOf(1);
      const page = await fixture.status.listPage({}, ANYONE);
      expect(page.docs).to.have.lengthOf(1);
      const { metrics } = await fixture.histories.getHistory(page.docs[0]!, { hours: 1 });
      expect(
        metrics['n']?.points.reduce((sum, { n }) => sum + n, 0),
        'no sample was lost',
      ).to.equal(64);
      await other.settled();
    });

    it('a bound token reports only for its source, checked before any lookup', async () => {
      const bound = { ...ANYONE, source: 'mine' };
      const beat = (source: string) => fixture.intake.recordHeartbeat(parseHeartbeat({ source }), bound);
      expect(await codeOf(beat('other'))).to.equal('source_mismatch');
      expect(await fixture.monitors.find('other')).to.equal(null);
      expect((await beat('mine')).created).to.equal(true);
    });

    it('a project token creates monitors in its project and changes no others', async () => {
      const shop = { ...ANYONE, project: 'shop' };
      await fixture.intake.recordHeartbeat(parseHeartbeat({ source: 'a' }), shop);
      expect((await fixture.monitor('a')).project).to.equal('shop');
      await fixture.beat('b');
      expect(await codeOf(fixture.intake.recordHeartbeat(parseHeartbeat({ source: 'b' }), shop))).to.equal(
        'insufficient_scope',
      );
    });

    it('sets the monitor to down on an error where configured, with suppression and event', async () => {
      fixture = fixtureOn(store, fixture.clock, (deps) => (deps.config.error_status_is_down = true));
      await fixture.beat('p');
      await fixture.beat('c');
      await fixture.monitors.update('c', { parent_source: 'p' }, ANYONE);
      expect(await fixture.beat('p', { status: 'error' })).to.include({ state: 'down', changed: true });
      expect(await fixture.beat('p', { status: 'failed' })).to.include({ state: 'down', changed: false });
      await fixture.beat('c', { status: 'error' });
      await fixture.settled();
      expect(fixture.told.map(({ event, data }) => `${event} ${data.source}`)).to.deep.equal(['monitor.down p']);
      expect(await fixture.monitor('c')).to.include({ state: 'down', alarm: 'suppressed', suppressed_by: 'p' });
      expect((await fixture.monitor('p')).down_since_utc).to.equal(fixture.clock.iso());
      await fixture.beat('p');
      await fixture.settled();
      expect(fixture.told.at(-1)?.event).to.equal('monitor.recovered');
    });

    it('stores 200 metric names per monitor and reports dropped names', async () => {
      for (let batch = 0; batch < 4; batch++) {
        const metrics = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`m${batch * 60 + i}`, i]));
        const answer = await fixture.beat('a', { metrics });
        expect(answer.accepted_metrics).to.equal(batch < 3 ? 60 : 20);
        expect(answer.dropped_metrics).to.have.lengthOf(batch < 3 ? 0 : 40);
      }
    });

    it('PATCH writes only the given fields, leaving os, metrics and state unchanged', async () => {
      await fixture.beat('a', { os: 'Linux 6', metrics: { cpu: 3, note: 'x' }, interval: 10 });
      fixture.clock.advance(25_000);
      await fixture.evaluate();
      await fixture.monitors.update('a', { name: 'Web' }, ANYONE);
      expect(await fixture.monitor('a')).to.deep.include({
        name: 'Web',
        os: 'Linux 6',
        state: 'warning',
        metrics_json: { cpu: 3, note: 'x' },
      });
    });

    it('PATCH of the interval changes the thresholds of a monitor whose heartbeats set none', async () => {
      await fixture.beat('a');
      await fixture.monitors.update('a', { interval_seconds: 1 }, ANYONE);
      fixture.clock.advance(2001);
      expect(await fixture.evaluate()).to.include({ to_warning: 1 });
    });

    it('rejects cycles, including a self-reference, and allows a parent that does not exist', async () => {
      await fixture.monitors.create({ source: 'a', parent_source: 'ghost' }, ANYONE);
      await fixture.monitors.create({ source: 'b', parent_source: 'a' }, ANYONE);
      await fixture.monitors.create({ source: 'c', parent_source: 'b' }, ANYONE);
      expect(await codeOf(fixture.monitors.update('a', { parent_source: 'c' }, ANYONE))).to.equal('conflict');
      expect(await codeOf(fixture.monitors.update('a', { parent_source: 'a' }, ANYONE))).to.equal('conflict');
      expect(await codeOf(fixture.monitors.create({ source: 'ghost', parent_source: 'c' }, ANYONE))).to.equal(
        'conflict',
      );
      expect(await codeOf(fixture.monitors.create({ source: 'a' }, ANYONE))).to.equal('conflict');
      expect((await fixture.monitors.create({ source: 'd', parent_source: 'later' }, ANYONE)).parent_source).to.equal(
        'later',
      );
    });

    it('deleting closes the open alarm, and the source can return immediately without old data', async () => {
      let stuck = true;
      fixture = fixtureOn(store, fixture.clock, (deps) => {
        const { emit } = deps;
        deps.emit = async (...args) => (stuck ? false : emit(...args));
      });
      await fixture.beat('a', { interval: 1, metrics: { cpu: 7 } });
      fixture.clock.advance(MINUTE);
      await fixture.evaluate();
      await fixture.monitors.remove('a', ANYONE);
      expect(await fixture.monitors.find('a')).to.equal(null);
      expect(await fixture.beat('a')).to.include({ created: true, previous_state: null });
      const again = await fixture.monitors.getMonitor('a', ANYONE);
      expect((await fixture.histories.getHistory(again, { hours: 1 })).metrics).to.deep.equal({});
      stuck = false;
      fixture.clock.advance(11_000);
      await fixture.outbox.reconcile();
      expect(fixture.told.map(({ event, data }) => [event, data.resolution])).to.deep.equal([
        ['monitor.down', null],
        ['monitor.alarm_closed', 'deleted'],
      ]);
      expect(fixture.told[0]?.data.alarm_id).to.equal(fixture.told[1]?.data.alarm_id);
      expect((await fixture.monitors.find('a'))?.state).to.equal('up');
    });
  });
}
