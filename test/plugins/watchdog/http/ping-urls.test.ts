/** Ping and push URLs over the real HTTP adapter (contract 30, pings known from elsewhere). */
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import watchdog from '../../../../plugins/watchdog/plugin.js';
import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { buildReportingSnippets } from '../../../../plugins/watchdog/pages/snippets.js';
import { SHARED_KEY } from '../../access/fixture.js';
import { HttpFixture, type Answer } from '../../access/http-fixture.js';

const BASE = '/api/watchdog/v1';

describe('watchdog ping URLs', function () {
  let fixture: HttpFixture;
  let read: string;
  let source = '';
  let secret = '';
  let n = 0;
  let store: MemoryStore;

  before(async () => {
    store = new MemoryStore();
    fixture = await HttpFixture.open({ plugins: [watchdog], store });
    read = await fixture.token(['watchdog:read']);
  });
  after(() => fixture.stop());
  beforeEach(async () => {
    source = `job/${n++}`;
    const made = await fixture.parts.tokens.issue({
      kind: 'watchdog',
      name: 'job',
      scopes: ['watchdog:ping'],
      source,
      created_by: 'test',
    });
    secret = made.token;
  });

  const ping = async (rest = '', body?: string): Promise<Answer> => {
    const answer = await fixture.server.inject({
      method: body === undefined ? 'GET' : 'POST',
      url: `/ping/${secret}${rest}`,
      ...(body !== undefined && {
        payload: body,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    });
    return {
      status: answer.statusCode,
      headers: {},
      text: answer.payload,
      json: {},
    };
  };
  const monitor = async (): Promise<Record<string, unknown>> => {
    const answer = await fixture.api('GET', `${BASE}/monitors/${encodeURIComponent(source)}`, read);
    return answer.json['monitor'] as Record<string, unknown>;
  };
  const events = async (): Promise<Record<string, unknown>[]> =>
    (await fixture.api('GET', `${BASE}/events?source=${source}`, read)).json['items'] as Record<string, unknown>[];
  const durations = async (): Promise<unknown> => {
    const answer = await fixture.api('GET', `${BASE}/metrics?source=${source}`, read);
    return (answer.json['metrics'] as Record<string, { latest: { v: number } }>)['duration_ms']?.latest.v;
  };

  it('uses the body of a POST as message, limited to 10 KiB', async () => {
    const answer = await ping('', 'backed up 12 files');
    expect([answer.status, answer.text]).to.deep.equal([200, 'OK']);
    expect(await monitor()).to.include({
      state: 'up',
      message: 'backed up 12 files',
    });
    await ping('/3', 'disk full');
    expect(await monitor()).to.include({ state: 'down', message: 'disk full' });
    await ping('/4');
    expect(await monitor()).to.include({ message: 'Exit code 4' });
    await ping('', `${'x'.repeat(10_239)}€ and more ${'y'.repeat(50_000)}`);
    expect((await monitor())['message']).to.equal('x'.repeat(10_239));
    expect((await ping('', '')).status).to.equal(200);
    expect((await monitor())['message']).to.equal(null);
  });

  it('/log only adds an annotation, also before the first heartbeat', async () => {
    expect((await ping('/log', 'step 1 of 3\0')).text).to.equal('OK');
    expect(await monitor()).to.include({
      state: 'unknown',
      last_heartbeat_at: null,
      message: null,
    });
    await ping();
    const before = await monitor();
    fixture.clock.forward(1_000);
    expect((await ping('/log', 'step 2 of 3')).status).to.equal(200);
    expect(await monitor()).to.deep.equal(before);
    const notes = (await events()).filter(({ kind }) => kind === 'annotation');
    expect(notes.map(({ type, message }) => [type, message])).to.deep.equal([
      ['log', 'step 2 of 3'],
      ['log', 'step 1 of 3\ufffd'],
    ]);
  });

  it('stores the time from /start to the next end as metric duration_ms', async () => {
    await ping();
    const before = await monitor();
    await ping('/start');
    expect(await monitor()).to.include({
      state: before['state'],
      last_heartbeat_at: before['last_heartbeat_at'],
    });
    fixture.clock.forward(1_500);
    await ping('/0');
    expect(await durations()).to.equal(1_500);
    expect((await monitor())['metrics_json']).to.deep.equal({
      duration_ms: 1_500,
    });
    fixture.clock.forward(10_000);
    await ping();
    expect(await durations(), 'an end without a start').to.equal(1_500);
    await ping('/start');
    fixture.clock.forward(700);
    await ping('/fail');
    expect(await durations()).to.equal(700);
  });

  it('/start before the first heartbeat creates the monitor in state unknown', async () => {
    expect((await ping('/start')).status).to.equal(200);
    expect(await monitor()).to.include({
      state: 'unknown',
      last_heartbeat_at: null,
    });
    fixture.clock.forward(250);
    await ping();
    expect(await durations()).to.equal(250);
    expect(await monitor()).to.include({ state: 'up' });
  });

  it('?rid= distinguishes overlapping runs', async () => {
    await ping('/start?rid=a');
    fixture.clock.forward(1_000);
    await ping('/start?rid=b');
    fixture.clock.forward(1_000);
    await ping('?rid=a');
    expect(await durations()).to.equal(2_000);
    fixture.clock.forward(500);
    await ping('/1?rid=b');
    expect(await durations()).to.equal(1_500);
    expect((await ping(`/start?rid=${encodeURIComponent('a b')}`)).status).to.equal(400);
  });

  it('retains only the newest of many unfinished starts', async () => {
    for (let i = 0; i < 25; i++) await ping(`/start?rid=${i}`);
    fixture.clock.forward(10);
    await ping('?rid=0');
    expect(await durations()).to.equal(undefined);
    await ping('?rid=24');
    expect(await durations()).to.equal(10);
  });

  it('/api/push accepts heartbeats of Uptime Kuma', async () => {
    const push = (query: string, method: 'GET' | 'POST' = 'GET'): Promise<Answer> =>
      fixture.api(method, `/api/push/${secret}${query}`, null);
    const up = await push('?status=up&msg=OK&ping=12.5');
    expect([up.status, up.json]).to.deep.equal([200, { ok: true }]);
    expect(await monitor()).to.deep.include({
      state: 'up',
      message: 'OK',
      metrics_json: { ping_ms: 12.5 },
    });
    expect((await push('?status=down&msg=gone&ping=')).json).to.deep.equal({
      ok: true,
    });
    expect(await monitor()).to.deep.include({
      state: 'down',
      alarm: 'open',
      last_status: 'error',
      message: 'gone',
    });
    expect((await push('', 'POST')).status).to.equal(200);
    expect(await monitor()).to.include({ state: 'up', message: null });
    expect((await push('?ping=soon')).status).to.equal(200);
    const unknown = await fixture.api('GET', `/api/push/wd_live_${'x'.repeat(43)}?status=up`, null);
    expect([unknown.status, unknown.json.error?.code]).to.deep.equal([404, 'not_found']);
  });

  for (const [status, state] of [
    ['up', 'up'],
    ['UP', 'up'],
    ['', 'up'],
    ['down', 'down'],
    ['false', 'down'],
    ['0', 'down'],
    ['1', 'down'],
    ['error', 'down'],
    ['sideways', 'down'],
    ['UP%20', 'up'],
    ['up&status=UP', 'up'],
    ['up&status=down', 'down'],
    ['down&status=up', 'down'],
    ['false&ping=1&ping=2', 'down'],
  ] as const)
    it(`accepts the status "${status}" at the push URL as ${state} (W14)`, async () => {
      const answer = await fixture.api('GET', `/api/push/${secret}?status=${status}&msg=${'m'.repeat(10_300)}`, null);
      expect([answer.status, answer.json]).to.deep.equal([200, { ok: true }]);
      expect(await monitor()).to.include({
        state,
        message: 'm'.repeat(10_240),
      });
    });

  for (const path of ['?shedule=0%203%20*%20*%20*', '/0?shedule=@daily', '/start?x=1', '/fail?graze=5', '/log?rid2=a'])
    it(`rejects the unknown parameter of /ping/…${path} by its name`, async () => {
      const answer = await fixture.api('GET', `/ping/${secret}${path}`, null);
      const name = /\?(\w+)=/.exec(path)?.[1] ?? '';
      expect([answer.status, answer.json.error?.code]).to.deep.equal([400, 'invalid_request']);
      expect(Object.keys(answer.json.error?.fields ?? {})).to.deep.equal([name]);
    });

  for (const [what, encoding, body] of [
    ['a body over the limit of JSON', null, Buffer.alloc(3 << 20, 'x')],
    ['a gzip body', 'gzip', gzipSync('disk full')],
    ['a large gzip body', 'gzip', gzipSync(Buffer.alloc(3 << 20, 'x'))],
    ['a damaged gzip body', 'gzip', Buffer.from('no gzip')],
    ['a body in an unknown encoding', 'snappy', Buffer.from('?')],
  ] as const)
    it(`treats a ping with ${what} as a failure (W13)`, async () => {
      const answer = await fixture.server.inject({
        method: 'POST',
        url: `/ping/${secret}/fail`,
        payload: body,
        headers: {
          'content-type': 'text/plain',
          ...(encoding !== null && { 'content-encoding': encoding }),
        },
      });
      expect([answer.statusCode, answer.payload]).to.deep.equal([200, 'OK']);
      const { state, message } = await monitor();
      expect(state).to.equal('down');
      const kept = what.includes('large') || what.includes('limit') ? 'x'.repeat(10_240) : null;
      expect(message).to.equal(what === 'a gzip body' ? 'disk full' : kept);
    });

  const HOUR = 3_600_000;
  /**
   * A run of a service that was there all the time: a moved clock would be taken for its outage.
   */
  const evaluate = async (): Promise<void> => {
    const at = new Date(fixture.clock.now()).toISOString();
    await store.collection('watchdog_marks').change({ id: 'alive' }, { set: { at } }, { upsert: true });
    await store.collection('watchdog_outages').remove({});
    expect((await fixture.api('POST', `${BASE}/evaluate`, SHARED_KEY)).status).to.equal(200);
  };
  /** Hours go by, with a run of the evaluator in each. */
  const hours = async (n: number): Promise<void> => {
    for (let i = 0; i < n; i++) {
      fixture.clock.forward(HOUR);
      await evaluate();
    }
  };
  const alarms = async (): Promise<unknown[]> =>
    (await events()).filter(({ kind }) => kind === 'alarm').map(({ type }) => type);

  /** The line as the guide prints it, for an exit code: from behind the token on. */
  async function nightly(code: number): Promise<string> {
    const guide = await readFile(new URL('../../../../../docs/watchdog.md', import.meta.url), 'utf8');
    const [, rest] = /^0 3 \* \* \* .*"\$SVC_URL\/ping\/\$SVC_TOKEN(\S+)"$/m.exec(guide) ?? [];
    if (rest === undefined) throw new Error('docs/watchdog.md has no nightly line');
    return rest.replace('$?', String(code));
  }

  it('warns immediately when the guide’s nightly ping is missing, and is down after the grace period', async () => {
    const [day, due] = [24 * HOUR, 2 * HOUR + 5_000];
    fixture.clock.forward((day + due - (fixture.clock.now() % day)) % day);
    const said = {
      schedule: '0 3 * * *',
      timezone: 'Europe/Berlin',
      grace_seconds: 3_600,
      interval_seconds: null,
    };
    for (let night = 0; night < 3; night++) {
      expect((await ping(await nightly(0))).text).to.equal('OK');
      await hours(24);
      expect(await monitor()).to.include({
        state: 'warning',
        ...said,
      });
      expect(await alarms()).not.to.include('monitor.down');
    }
    await hours(1);
    expect(await monitor()).to.include({ state: 'down' });
    await ping(await nightly(0));
    expect((await alarms()).slice(0, 2)).to.deep.equal(['monitor.recovered', 'monitor.down']);
    await ping(await nightly(2));
    expect(await monitor()).to.include({
      state: 'down',
      alarm: 'open',
      message: 'Exit code 2',
    });
    const [line] = buildReportingSnippets('https://aos.example', source, secret, 'Europe/Berlin');
    expect(line?.text).to.include(
      `/ping/${secret}${(await nightly(0)).replace('/0', '/$?').replace('&grace=3600', '')}"`,
    );
  });

  it('learns an interval from five pings, at least 300 s, and prefers an explicit interval', async () => {
    for (let i = 0; i < 4; i++) {
      await ping();
      await hours(24 * 8);
      expect(await monitor()).to.include({
        state: 'up',
        interval_seconds: null,
      });
    }
    await ping();
    const learned = 24 * 8 * 3_600 * 1.5;
    expect(await monitor()).to.include({
      state: 'up',
      interval_seconds: learned,
    });
    expect(await alarms()).to.deep.equal([]);
    await ping('?interval=45000');
    expect(await monitor()).to.include({ interval_seconds: 45_000 });
    await ping('?interval=5');
    expect(await monitor(), 'it has one').to.include({
      interval_seconds: 45_000,
    });
  });

  it('learns 300 s from manual pings, and a longer interval from the first automatic ping (W38)', async () => {
    for (let i = 0; i < 5; i++) {
      fixture.clock.forward(5_000);
      await ping();
    }
    expect(await monitor()).to.include({ interval_seconds: 300 });
    fixture.clock.forward(24 * HOUR);
    await ping();
    expect(await monitor()).to.include({ interval_seconds: 36 * 3_600 });
    await ping('?schedule=0+3+*+*+*&timezone=Europe/Berlin');
    expect(await monitor()).to.include({
      interval_seconds: null,
      schedule: '0 3 * * *',
      timezone: 'Europe/Berlin',
    });
    await ping('?schedule=30+3+*+*+*');
    expect(await monitor()).to.include({
      schedule: '30 3 * * *',
      timezone: 'UTC',
    });
  });

  for (const timing of ['?schedule=0+3+*+*+*', '?period=86400&grace=3600'])
    it(`uses an explicit interval and then ${timing} of pings after two manual ones (W38)`, async () => {
      await ping();
      fixture.clock.forward(20_000);
      await ping();
      await ping('?interval=45000');
      expect(await monitor()).to.include({ interval_seconds: 45_000 });
      await ping(timing);
      const query = new URLSearchParams(timing);
      expect(await monitor()).to.include({
        interval_seconds: null,
        schedule: query.get('schedule'),
        period_seconds: query.has('period') ? 86_400 : null,
      });
      fixture.clock.forward(5 * 60_000);
      await evaluate();
      expect(await monitor()).to.include({ state: 'up' });
    });

  it('preserves an interval set by a user when a ping states a schedule', async () => {
    const manage = await fixture.token(['watchdog:manage']);
    await ping('?interval=45000');
    const path = `${BASE}/monitors/${encodeURIComponent(source)}`;
    expect((await fixture.api('PATCH', path, manage, { interval_seconds: 900 })).status).to.equal(200);
    await ping('?schedule=0+3+*+*+*');
    expect(await monitor()).to.include({ interval_seconds: 900, schedule: null });
  });

  for (const [query, field] of [
    ['timezone=UTC', 'timezone'],
    ['grace=60', 'grace'],
    ['interval=60&grace=60', 'grace'],
    ['interval=60&period=60', 'period'],
    ['period=60&schedule=@daily', 'schedule'],
    ['period=60&timezone=UTC', 'timezone'],
  ] as const)
    it(`rejects ?${query}, of which a part has no effect, by its field`, async () => {
      const answer = await fixture.api('GET', `/ping/${secret}?${query}`, null);
      expect([answer.status, Object.keys(answer.json.error?.fields ?? {})]).to.deep.equal([400, [field]]);
    });

  it('accepts a period with a grace period, and a maximum run time', async () => {
    await ping('?period=86400&grace=3600&max_run=600');
    expect(await monitor()).to.include({
      period_seconds: 86_400,
      grace_seconds: 3_600,
      max_run_seconds: 600,
    });
    await hours(24);
    expect(await monitor()).to.include({ state: 'up' });
    fixture.clock.forward(1_000);
    await evaluate();
    expect(await monitor()).to.include({ state: 'warning' });
    await hours(1);
    expect(await monitor()).to.include({ state: 'down' });
    await ping();
    await ping('/start');
    fixture.clock.forward(601_000);
    await evaluate();
    expect(await monitor()).to.include({ state: 'down' });
  });

  for (const query of ['?schedule=0+4+*+*+*&grace=60', '?period=86400&grace=60', '?interval=86400&max_run=60'])
    it(`is down when its first run, with ${query}, never ends (W15)`, async () => {
      await ping(`/start${query}`);
      fixture.clock.forward(60_000);
      await evaluate();
      expect(await monitor()).to.include({ state: 'unknown' });
      fixture.clock.forward(1_000);
      await evaluate();
      expect(await monitor()).to.include({ state: 'down', alarm: 'open' });
      await ping();
      expect(await monitor()).to.include({ state: 'up', alarm: 'none' });
      await evaluate();
      expect(await monitor()).to.include({ state: 'up' });
    });

  it('matches overlapping runs by rid, and uses the newest start without rid', async () => {
    await ping('?period=86400&grace=3600&max_run=600');
    await ping('/start?rid=hung');
    fixture.clock.forward(60_000);
    await ping('/start?rid=well');
    fixture.clock.forward(60_000);
    await ping('/0?rid=well');
    await evaluate();
    expect(await monitor()).to.include({ state: 'up' });
    fixture.clock.forward(500_000);
    await evaluate();
    expect(await monitor(), 'the other one has not ended').to.include({
      state: 'down',
    });
    await ping('/0?rid=next');
    await evaluate();
    expect(await monitor()).to.include({ state: 'up' });
    await ping('/start');
    fixture.clock.forward(500_000);
    await ping('/start');
    fixture.clock.forward(500_000);
    await evaluate();
    expect(await monitor(), 'the newest start counts').to.include({
      state: 'up',
    });
    fixture.clock.forward(101_000);
    await evaluate();
    expect(await monitor()).to.include({ state: 'down' });
  });

  it('uses the default interval of 60 s for monitors created or pinged through the API', async () => {
    const manage = await fixture.token(['watchdog:manage', 'watchdog:ping']);
    await fixture.api('POST', `${BASE}/monitors`, manage, { source });
    await ping();
    fixture.clock.forward(240_001);
    await evaluate();
    expect(await monitor()).to.include({ state: 'down' });
    await ping('?interval=7200');
    expect(await monitor()).to.include({
      state: 'up',
      interval_seconds: 7_200,
    });
    source = `mixed/${n}`;
    const beat = await fixture.api('POST', `${BASE}/ping`, manage, { source });
    expect(beat.json).to.include({ effective_interval_seconds: 60 });
  });

  for (const [rest, message] of [
    ['/fail', null],
    ['/1', 'Exit code 1'],
    ['/255', 'Exit code 255'],
    ['/137/', 'Exit code 137'],
  ] as const) {
    it(`${rest} is down immediately, with an alarm, and the next ping ends it`, async () => {
      await ping('/');
      expect((await ping(rest)).text).to.equal('OK');
      expect(await monitor()).to.include({
        state: 'down',
        alarm: 'open',
        last_status: 'error',
        message,
      });
      await ping(rest);
      expect(await alarms()).to.deep.equal(['monitor.down']);
      expect((await ping('/000')).text).to.equal('OK');
      expect(await monitor()).to.include({ state: 'up', alarm: 'none' });
      expect(await alarms()).to.deep.equal(['monitor.recovered', 'monitor.down']);
    });
  }

  it('suppresses the alarm of /fail below a monitor that is down', async () => {
    const manage = await fixture.token(['watchdog:manage']);
    const below = source;
    await fixture.api('POST', `${BASE}/monitors`, manage, {
      source: below,
      parent_source: `${below}/host`,
    });
    source = `${below}/host`;
    const host = await fixture.parts.tokens.issue({
      kind: 'watchdog',
      name: 'host',
      scopes: ['watchdog:ping'],
      source,
      created_by: 'test',
    });
    const child = secret;
    secret = host.token;
    await ping('/fail');
    expect(await monitor()).to.include({ state: 'down', alarm: 'open' });
    secret = child;
    source = below;
    await ping('/fail');
    expect(await monitor()).to.include({
      state: 'down',
      alarm: 'suppressed',
      suppressed_by: `${below}/host`,
    });
  });

  it('treats status error in the API as a warning', async () => {
    const token = await fixture.token(['watchdog:ping']);
    const answer = await fixture.api('POST', `${BASE}/ping`, token, {
      source,
      status: 'error',
    });
    expect(answer.json).to.include({ state: 'warning' });
  });

  it('rejects an invalid schedule or interval before it can cause a false alarm', async () => {
    const wrong = ['schedule=0+3+*+*', 'schedule=@daily&timezone=Mars/Base', 'grace=0', 'interval=0', 'interval=soon'];
    for (const query of [...wrong, 'schedule=@daily&interval=60'])
      for (const rest of ['', '/0', '/start', '/log'])
        expect((await ping(`${rest}?${query}`)).status, query).to.equal(400);
    const push = await fixture.api('GET', `/api/push/${secret}?schedule=0+25+*+*+*`, null);
    expect([push.status, push.json.error?.fields]).to.deep.equal([
      400,
      { schedule: 'the hour at position 3 is not valid' },
    ]);
    expect(await monitor()).to.equal(undefined);
  });

  it('?schedule=&timezone=&grace= set a schedule when the monitor has none', async () => {
    await ping('?schedule=0+3+*+*+*&timezone=Europe/Berlin&grace=600');
    const said = {
      schedule: '0 3 * * *',
      timezone: 'Europe/Berlin',
      grace_seconds: 600,
      interval_seconds: null,
    };
    expect(await monitor()).to.include({ ...said, state: 'up' });
    await ping('?interval=60');
    expect(await monitor()).to.include(said);
    await ping('?schedule=@hourly');
    expect(await monitor(), 'another schedule').to.include({ schedule: '@hourly', timezone: 'UTC' });
  });

  it('accepts ?interval= for /start, /log and the push URL too', async () => {
    await ping('/start?interval=3600');
    expect(await monitor()).to.include({
      state: 'unknown',
      interval_seconds: 3_600,
    });
    source = `push/${n}`;
    secret = (
      await fixture.parts.tokens.issue({
        kind: 'watchdog',
        name: 'job',
        scopes: ['watchdog:ping'],
        source,
        created_by: 'test',
      })
    ).token;
    await fixture.api('GET', `/api/push/${secret}/?interval=90&msg=OK`, null);
    expect(await monitor()).to.include({ state: 'up', interval_seconds: 90 });
  });

  it('returns 404 for other tokens and unknown actions', async () => {
    const master = await fixture.token(['watchdog:ping']);
    expect((await fixture.api('GET', `/ping/${master}`, null)).status).to.equal(404);
    expect((await fixture.api('GET', `/api/push/${master}`, null)).status).to.equal(404);
    for (const rest of ['/logs', '/256', '/stop']) expect((await ping(rest)).status, rest).to.equal(404);
  });
});
