/** Ping and push URLs over the real HTTP adapter (contract 30, pings known from elsewhere). */
import { expect } from 'chai';
import watchdog from '../../../../plugins/watchdog/plugin.js';
import { HttpFixture, type Answer } from '../../access/http-fixture.js';

const BASE = '/api/watchdog/v1';

describe('watchdog ping URLs', function () {
  this.timeout(20_000);
  let fixture: HttpFixture;
  let read: string;
  let source = '';
  let secret = '';
  let n = 0;

  before(async () => {
    fixture = await HttpFixture.open({ plugins: [watchdog] });
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
      ...(body !== undefined && { payload: body, headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
    });
    return { status: answer.statusCode, headers: {}, text: answer.payload, json: {} };
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

  it('the body of a POST becomes the message, at most its first 10 KiB', async () => {
    const answer = await ping('', 'backed up 12 files');
    expect([answer.status, answer.text]).to.deep.equal([200, 'OK']);
    expect(await monitor()).to.include({ state: 'up', message: 'backed up 12 files' });
    await ping('/3', 'disk full');
    expect(await monitor()).to.include({ state: 'warning', message: 'disk full' });
    await ping('/4');
    expect(await monitor()).to.include({ message: 'Exit code 4' });
    await ping('', `${'x'.repeat(10_239)}€ and more ${'y'.repeat(50_000)}`);
    expect((await monitor())['message']).to.equal('x'.repeat(10_239));
    expect((await ping('', '')).status).to.equal(200);
    expect((await monitor())['message']).to.equal(null);
  });

  it('/log annotates only, before the first heartbeat too', async () => {
    expect((await ping('/log', 'step 1 of 3\0')).text).to.equal('OK');
    expect(await monitor()).to.include({ state: 'unknown', last_heartbeat_at: null, message: null });
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

  it('the time from /start to the next end is the metric duration_ms', async () => {
    await ping();
    const before = await monitor();
    await ping('/start');
    expect(await monitor()).to.include({ state: before['state'], last_heartbeat_at: before['last_heartbeat_at'] });
    fixture.clock.forward(1_500);
    await ping('/0');
    expect(await durations()).to.equal(1_500);
    expect((await monitor())['metrics_json']).to.deep.equal({ duration_ms: 1_500 });
    fixture.clock.forward(10_000);
    await ping();
    expect(await durations(), 'an end without a start').to.equal(1_500);
    await ping('/start');
    fixture.clock.forward(700);
    await ping('/fail');
    expect(await durations()).to.equal(700);
  });

  it('/start before the first heartbeat creates the monitor, unknown', async () => {
    expect((await ping('/start')).status).to.equal(200);
    expect(await monitor()).to.include({ state: 'unknown', last_heartbeat_at: null });
    fixture.clock.forward(250);
    await ping();
    expect(await durations()).to.equal(250);
    expect(await monitor()).to.include({ state: 'up' });
  });

  it('?rid= pairs runs that overlap', async () => {
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

  it('of many starts without an end the newest are kept', async () => {
    for (let i = 0; i < 25; i++) await ping(`/start?rid=${i}`);
    fixture.clock.forward(10);
    await ping('?rid=0');
    expect(await durations()).to.equal(undefined);
    await ping('?rid=24');
    expect(await durations()).to.equal(10);
  });

  it('/api/push is a heartbeat of Uptime Kuma', async () => {
    const push = (query: string, method: 'GET' | 'POST' = 'GET'): Promise<Answer> =>
      fixture.api(method, `/api/push/${secret}${query}`, null);
    const up = await push('?status=up&msg=OK&ping=12.5');
    expect([up.status, up.json]).to.deep.equal([200, { ok: true }]);
    expect(await monitor()).to.deep.include({ state: 'up', message: 'OK', metrics_json: { ping_ms: 12.5 } });
    expect((await push('?status=down&msg=gone&ping=')).json).to.deep.equal({ ok: true });
    expect(await monitor()).to.deep.include({ state: 'warning', last_status: 'error', message: 'gone' });
    expect((await push('', 'POST')).status).to.equal(200);
    expect(await monitor()).to.include({ state: 'up', message: null });
    expect((await push('?ping=soon&other=1')).status).to.equal(200);
    const bad = await push('?status=sideways');
    expect([bad.status, bad.json.error?.code]).to.deep.equal([400, 'invalid_request']);
    const unknown = await fixture.api('GET', `/api/push/wd_live_${'x'.repeat(43)}?status=up`, null);
    expect([unknown.status, unknown.json.error?.code]).to.deep.equal([404, 'not_found']);
  });

  it('other tokens and unknown words are 404', async () => {
    const master = await fixture.token(['watchdog:ping']);
    expect((await fixture.api('GET', `/ping/${master}`, null)).status).to.equal(404);
    expect((await fixture.api('GET', `/api/push/${master}`, null)).status).to.equal(404);
    for (const rest of ['/logs', '/256', '/stop']) expect((await ping(rest)).status, rest).to.equal(404);
  });
});
