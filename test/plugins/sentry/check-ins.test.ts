/**
 * Check-ins of scheduled jobs, from the envelope to the monitor (contract 21, Sentry SDK intake).
 */
import { expect } from 'chai';
import { MemoryStore } from '../../../adapters/memory/store.js';
import bugs from '../../../plugins/bugs/plugin.js';
import errorstream from '../../../plugins/errorstream/plugin.js';
import { parseCheckIn } from '../../../plugins/sentry/check-in.js';
import sentry from '../../../plugins/sentry/plugin.js';
import watchdog from '../../../plugins/watchdog/plugin.js';
import { SHARED_KEY } from '../access/fixture.js';
import { HttpFixture, type Answer } from '../access/http-fixture.js';

const BASE = '/api/watchdog/v1';
const MINUTE = 60_000;

describe('sentry: check-ins', function () {
  let fixture: HttpFixture;
  let store: MemoryStore;
  let key: string;
  let number: number;
  let manage: string;
  let read: string;

  beforeEach(async () => {
    store = new MemoryStore();
    fixture = await HttpFixture.open({ store, plugins: [bugs, errorstream, watchdog, sentry] });
    manage = await fixture.token(['projects:manage', 'watchdog:manage', 'watchdog:ping', 'bugtracker:report']);
    read = await fixture.token(['watchdog:read']);
    const made = await fixture.api('POST', '/api/projects/v1/projects', manage, { slug: 'shop' });
    number = (made.json['project'] as { number: number }).number;
    const { json } = await fixture.api('POST', '/api/projects/v1/projects/shop/intake-keys', manage, {});
    key = String(json['key']);
  });
  afterEach(() => fixture.stop());

  const envelope = async (items: readonly [type: string, payload: object][], by = key): Promise<Answer> => {
    const lines = items.flatMap(([type, payload]) => [JSON.stringify({ type }), JSON.stringify(payload)]);
    const { statusCode, payload, headers } = await fixture.server.inject({
      method: 'POST',
      url: `/api/${number}/envelope/`,
      headers: { 'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${by}` },
      payload: ['{}', ...lines].join('\n'),
    });
    return {
      status: statusCode,
      headers: headers as Answer['headers'],
      text: payload,
      json: JSON.parse(payload) as Answer['json'],
    };
  };
  const checkIn = (status: string, more: object = {}, by = key): Promise<Answer> =>
    envelope([['check_in', { check_in_id: 'a'.repeat(32), monitor_slug: 'nightly', status, ...more }]], by);
  const monitor = async (source = 'shop/nightly'): Promise<Record<string, unknown> | undefined> =>
    (await fixture.api('GET', `${BASE}/monitors/${encodeURIComponent(source)}`, read)).json['monitor'] as
      Record<string, unknown> | undefined;
  const events = async (kind: string): Promise<Record<string, unknown>[]> =>
    (
      (await fixture.api('GET', `${BASE}/events?source=shop/nightly`, read)).json['items'] as Record<string, unknown>[]
    ).filter((event) => event['kind'] === kind);

  it('treats in_progress as start, ok as a heartbeat with duration, and error as immediately down', async () => {
    const schedule = { type: 'interval', value: 10, unit: 'minute' };
    const first = await checkIn('in_progress', { monitor_config: { schedule, checkin_margin: 5 } });
    expect([first.status, first.json]).to.deep.equal([200, {}]);
    expect(first.headers).to.not.have.property('x-sentry-rate-limits');
    expect(await monitor()).to.include({ state: 'unknown', project: 'shop', period_seconds: 600, grace_seconds: 300 });
    fixture.clock.forward(1_500);
    await checkIn('ok');
    expect(await monitor()).to.deep.include({ state: 'up', metrics_json: { duration_ms: 1_500 } });
    await checkIn('in_progress');
    fixture.clock.forward(MINUTE);
    await checkIn('error', { duration: 2.5 });
    expect(await monitor()).to.deep.include({ state: 'down', alarm: 'open', metrics_json: { duration_ms: 2_500 } });
    await checkIn('ok');
    expect(await monitor()).to.include({ state: 'up', alarm: 'none' });
    expect((await events('alarm')).map(({ type }) => type)).to.deep.equal(['monitor.recovered', 'monitor.down']);
    await checkIn('ok', { monitor_config: { schedule: { ...schedule, unit: 'hour' } } });
    expect(await monitor(), 'the program says it anew').to.include({ interval_seconds: 36_000 });
  });

  it('uses a crontab schedule for the monitor, with its time zone and margin', async () => {
    const schedule = { type: 'crontab', value: '0 3 * * *' };
    await checkIn('ok', { monitor_config: { schedule, timezone: 'Europe/Berlin', checkin_margin: 10 } });
    const berlin = { schedule: '0 3 * * *', timezone: 'Europe/Berlin', grace_seconds: 600 };
    expect(await monitor()).to.include({ ...berlin, state: 'up', interval_seconds: null });
    await checkIn('ok', { monitor_config: { schedule: { ...schedule, value: '@hourly' } } });
    const hourly = { schedule: '@hourly', timezone: 'UTC', grace_seconds: 3_600 };
    expect(await monitor(), 'the program says it anew').to.include(hourly);
    await checkIn('ok', { monitor_config: { schedule: { type: 'interval', value: 1, unit: 'hour' } } });
    expect(await monitor()).to.include({ schedule: null, timezone: null, interval_seconds: 3_600 });
    expect(await events('annotation')).to.have.length(0);
  });

  for (const [config, seconds] of [
    [{ max_runtime: 60 }, 3_600],
    [{}, 1_800],
  ] as const)
    it(`allows a run ${seconds} s with ${JSON.stringify(config)}, whatever its checkin_margin (W17)`, async () => {
      const schedule = { type: 'crontab', value: '0 3 * * *' };
      const evaluate = async (): Promise<void> => {
        const at = new Date(fixture.clock.now()).toISOString();
        await store.collection('watchdog_marks').change({ id: 'alive' }, { set: { at } }, { upsert: true });
        await store.collection('watchdog_outages').remove({});
        expect((await fixture.api('POST', `${BASE}/evaluate`, SHARED_KEY)).status).to.equal(200);
      };
      const monitor_config = { schedule, checkin_margin: 1, ...config };
      for (const state of ['unknown', 'up']) {
        await checkIn('in_progress', { monitor_config });
        expect(await monitor()).to.include({ grace_seconds: 60, max_run_seconds: seconds });
        fixture.clock.forward(75_000);
        await evaluate();
        expect(await monitor(), '75 s after its start').to.include({ state, alarm: 'none' });
        fixture.clock.forward(seconds * 1_000 - 76_000);
        await evaluate();
        expect(await monitor(), 'a second before the end').to.include({ state, alarm: 'none' });
        fixture.clock.forward(2_000);
        await evaluate();
        expect(await monitor(), 'after the end').to.include({ state: 'down', alarm: 'open' });
        await checkIn('ok');
        expect(await monitor()).to.include({ state: 'up', alarm: 'none' });
      }
    });

  it('logs an invalid crontab schedule, and learns the interval from check-ins', async () => {
    const monitor_config = { schedule: { type: 'crontab', value: '0 3 * * 9' }, timezone: 'Europe/Berlin' };
    await checkIn('ok', { monitor_config });
    expect(await monitor()).to.include({ state: 'up', interval_seconds: null, schedule: null });
    const [note, ...more] = await events('annotation');
    expect(more).to.have.length(0);
    expect(note).to.include({ type: 'schedule' });
    expect(note?.['message']).to.include('The schedule 0 3 * * 9 is not valid');
    for (let i = 0; i < 4; i++) {
      fixture.clock.forward(24 * 60 * MINUTE);
      await checkIn('ok', { monitor_config });
    }
    expect(await monitor()).to.include({ interval_seconds: 36 * 3_600 });
    expect(await events('annotation')).to.have.length(1);
  });

  it('allows 25 monitors per project across all its intake keys', async () => {
    for (let i = 0; i < 25; i++)
      expect((await checkIn('ok', { monitor_slug: `job-${i}` })).status, String(i)).to.equal(200);
    const { json } = await fixture.api('POST', '/api/projects/v1/projects/shop/intake-keys', manage, {});
    for (const other of [key, String(json['key'])]) {
      const rejected = await checkIn('ok', { monitor_slug: 'job-25' }, other);
      expect([rejected.status, rejected.json.error?.code]).to.deep.equal([422, 'validation_failed']);
    }
    expect(await monitor('shop/job-25')).to.equal(undefined);
    expect((await checkIn('error', { monitor_slug: 'job-7' })).status).to.equal(200);
    expect(await monitor('shop/job-7')).to.include({ state: 'down' });
    expect((await checkIn('ok', { monitor_slug: 'job-25' }, manage)).status, 'a token may').to.equal(200);
  });

  it('never reassigns a monitor of a token or a user through an intake key', async () => {
    await fixture.api('POST', `${BASE}/monitors`, manage, { source: 'shop/nightly', project: 'shop' });
    await fixture.api('POST', `${BASE}/ping`, manage, { source: 'shop/beats' });
    await checkIn('ok', { monitor_slug: 'by-token' }, manage);
    for (const slug of ['nightly', 'beats', 'by-token']) {
      const before = await monitor(`shop/${slug}`);
      for (const status of ['in_progress', 'ok', 'error']) {
        const rejected = await checkIn(status, { monitor_slug: slug });
        expect([rejected.status, rejected.json.error?.code], slug).to.deep.equal([403, 'insufficient_scope']);
      }
      expect(await monitor(`shop/${slug}`), slug).to.deep.equal(before);
    }
  });

  it('accepts the other items of the envelope regardless of the check-in result', async () => {
    await fixture.api('POST', `${BASE}/monitors`, manage, { source: 'shop/nightly', project: 'shop' });
    const event = { event_id: 'b'.repeat(32), exception: { values: [{ type: 'CartError', value: 'no price' }] } };
    const answer = await envelope([
      ['check_in', { monitor_slug: 'nightly', status: 'error' }],
      ['event', event],
    ]);
    expect(answer.status).to.equal(403);
    const items = await fixture.api('GET', '/api/bugtracker/v1/bugs', await fixture.token(['bugtracker:read']));
    expect(items.json['items']).to.have.length(1);
  });

  it('rejects hostile check-ins without creating a monitor or returning a 5xx', async () => {
    for (const payload of [
      {},
      { monitor_slug: 'x' },
      { monitor_slug: 7 },
      { monitor_slug: '..', status: 'ok' },
      { monitor_slug: 'x'.repeat(500), status: 'ok' },
      { monitor_slug: 'y', status: 'sideways' },
      { monitor_slug: ['a'], status: 'ok', check_in_id: {} },
    ]) {
      const { status } = await envelope([['check_in', payload]]);
      expect(status, JSON.stringify(payload).slice(0, 80)).to.be.oneOf([200, 422]);
    }
    const all = await fixture.api('GET', `${BASE}/monitors`, read);
    expect((all.json['items'] as { source: string }[]).map(({ source }) => source)).to.deep.equal([]);
  });

  it('parses schedules of every unit, and rejects invalid ones', () => {
    const read = (schedule: unknown): unknown => {
      const { interval, cron } =
        parseCheckIn({ monitor_slug: 'a', status: 'ok', monitor_config: { schedule } }, 'shop') ?? {};
      return [interval, cron];
    };
    expect(read({ type: 'interval', value: 2, unit: 'day' })).to.deep.equal([172_800, null]);
    expect(read({ type: 'interval', value: 90, unit: 'year' })).to.deep.equal([31_536_000, null]);
    expect(read({ type: 'crontab', value: '@daily' })).to.deep.equal([null, '@daily']);
    for (const odd of [null, 'x', {}, { type: 'interval', value: -1, unit: 'day' }, { type: 'interval', value: 1 }])
      expect(read(odd)).to.deep.equal([null, null]);
    for (const value of ['* * * *', 'x\n* * * *', '<b>', 'svc_live_x', 7, '* '.repeat(500)])
      expect(read({ type: 'crontab', value }), String(value).slice(0, 20)).to.deep.equal([null, null]);
  });
});
