import { expect } from 'chai';
import type { JobInfo } from '../../../ports/jobs.js';
import type { PluginState } from '../../../ports/domain/system.js';
import { buildHealthReport, type HealthFindings, type HealthReport } from '../../../plugins/health/health-report.js';

const about = { version: '1.2.3', time: '2026-11-20T08:15:30.123Z', uptime_seconds: 1, min_free_bytes: 100 };
const good: HealthFindings = {
  database: { latency_ms: 1 },
  schema: { current: null, pending: [] },
  unlisted_proxies: [],
  clock: { believed: true, leapt: false, ahead_seconds: 0, believed_in_seconds: 0 },
  peers: 1,
  integrity: null,
  free_bytes: 100,
  jobs: [],
  plugins: [],
  own: {},
};
const plugin = (id: string, state: PluginState['state']): PluginState => ({
  id,
  title: id,
  version: '1.0.0',
  critical: false,
  decides_health: false,
  state,
  reason: null,
});
const of = (more: Partial<HealthFindings>): HealthReport => buildHealthReport({ ...good, ...more }, about);

describe('health report', () => {
  it('reports a healthy service', () => expect(of({}).healthy).to.equal(true));

  it('includes every plugin’s state and health', () => {
    const found = of({
      plugins: [plugin('chat', 'ready'), plugin('quiet', 'ready'), plugin('broken', 'failed'), plugin('gone', 'off')],
      own: { chat: { ok: false, queued: 7 }, quiet: { ok: true } },
    });
    expect(found.checks.plugins).to.deep.equal({
      chat: { state: 'ready', reason: null, ok: false, queued: 7 },
      quiet: { state: 'ready', reason: null, ok: true },
      broken: { state: 'failed', reason: null, ok: false },
      gone: { state: 'off', reason: null, ok: true },
    });
    expect(found.healthy).to.equal(true);
  });

  it('is unhealthy when a critical plugin is not ok or has failed', () => {
    const chat = { ...plugin('chat', 'ready'), decides_health: true };
    expect(of({ plugins: [chat], own: { chat: { ok: true } } }).healthy).to.equal(true);
    expect(of({ plugins: [chat], own: { chat: { ok: false } } }).healthy).to.equal(false);
    expect(of({ plugins: [{ ...chat, state: 'failed' }] }).healthy).to.equal(false);
    expect(of({ plugins: [{ ...chat, state: 'off' }] }).healthy).to.equal(true);
  });

  it('is unhealthy without database, evaluator or schema, or with pending migrations', () => {
    expect(of({ database: { error: 'x' } }).healthy).to.equal(false);
    expect(of({ schema: { error: 'x' } }).healthy).to.equal(false);
    expect(of({ schema: { current: 'a', pending: ['b'] } }).healthy).to.equal(false);
    expect(of({ plugins: [plugin('watchdog', 'ready')], own: { watchdog: { ok: false } } }).healthy).to.equal(false);
    expect(of({ plugins: [plugin('watchdog', 'failed')] }).healthy).to.equal(false);
  });

  it('stays healthy while part of the store is damaged, and reports the damage', () => {
    const integrity = { ok: false, checked_at: about.time, damage: ['row 7 of bugs_items'] };
    const found = of({ integrity });
    expect(found.healthy).to.equal(true);
    expect(found.checks.database).to.deep.equal({ ok: true, latency_ms: 1, processes: 1, integrity, state: 'damaged' });
    expect(of({ integrity: { ...integrity, ok: null } }).checks.database).to.not.have.property('state');
  });

  it('stays healthy with problems in jobs, webhooks, release store or disk, and reports them', () => {
    const found = of({
      free_bytes: 99,
      jobs: { error: 'x' },
      plugins: [plugin('webhooks', 'ready'), plugin('releases', 'failed')],
      own: { webhooks: { ok: false, queued: 5, disabled: ['w1'] } },
    });
    expect(found.healthy).to.equal(true);
    expect(found.checks.disk).to.deep.equal({ ok: false, free_bytes: 99 });
    expect(found.checks.jobs).to.deep.equal({ ok: false, running: 0, failing: [], ahead: [], error: 'x' });
    expect(found.checks.webhooks).to.deep.equal({ ok: false, queued: 5, oldest_age_seconds: null, disabled: ['w1'] });
    expect(found.checks.release_store).to.deep.equal({
      ok: false,
      state: 'failed',
      protection: null,
      last_selftest_at: null,
    });
  });

  it('uses the evaluator’s own health, and stays healthy while it starts', () => {
    const own = { watchdog: { ok: true, last_run_at: '2026-11-20T08:15:00.000Z', age_seconds: 30 } };
    expect(of({ plugins: [plugin('watchdog', 'ready')], own }).checks.evaluator).to.deep.equal(own.watchdog);
    expect(of({ plugins: [plugin('watchdog', 'starting')] }).healthy).to.equal(true);
  });

  it('reports how far the clock runs ahead, and how long cleanup is delayed', () => {
    const { checks, healthy } = of({
      clock: { believed: false, leapt: true, ahead_seconds: 31_536_000, believed_in_seconds: 80_000 },
    });
    expect(checks.clock).to.deep.equal({ ok: false, ahead_seconds: 31_536_000, cleaning_waits_seconds: 80_000 });
    expect(healthy).to.equal(true);
    const stopped = { believed: false, leapt: false, ahead_seconds: 10_800, believed_in_seconds: 86_400 };
    expect(of({ clock: stopped }).checks.clock, 'after a stop').to.deep.equal({
      ok: true,
      ahead_seconds: 10_800,
      cleaning_waits_seconds: 86_400,
    });
    expect(of({ clock: null }).checks.clock).to.deep.equal({
      ok: false,
      ahead_seconds: null,
      cleaning_waits_seconds: null,
    });
  });

  it('stays healthy and lists untrusted addresses that send X-Forwarded-For', () => {
    expect(of({}).checks.proxies).to.deep.equal({ ok: true, unlisted: [], mend: null });
    const found = of({ unlisted_proxies: ['10.0.0.5'] });
    expect(found.checks.proxies).to.deep.include({ ok: false, unlisted: ['10.0.0.5'] });
    expect(found.checks.proxies.mend).to.contain('server.trusted_proxies');
    expect(found.healthy).to.equal(true);
  });

  it('reports an error when the free space cannot be read', () => {
    expect(of({ free_bytes: null }).checks.disk).to.deep.equal({ ok: false, free_bytes: null });
  });

  it('lists jobs whose last run is in the future after the clock moved backwards', () => {
    const job = (name: string, last_run_at: string | null, last_finished_at: string | null): JobInfo => ({
      name,
      every_ms: 60_000,
      cron: null,
      running: false,
      last_run_at,
      last_finished_at,
      next_run_at: null,
      fail_count: 0,
      fail_reason: null,
    });
    const jobs = [
      job('a.new', null, null),
      job('a.near', '2026-11-20T08:16:30.123Z', '2026-11-20T08:16:30.123Z'),
      job('a.far', '2026-11-20T08:15:00.000Z', '2026-11-20T08:16:30.124Z'),
      job('a.year', '2027-11-20T08:15:00.000Z', null),
    ];
    expect(of({ jobs }).checks.jobs).to.deep.equal({ ok: false, running: 0, failing: [], ahead: ['a.far', 'a.year'] });
    expect(of({ jobs: jobs.slice(0, 2) }).checks.jobs.ok).to.equal(true);
  });
});
