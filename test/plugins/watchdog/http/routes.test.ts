/**
 * Every route of the watchdog over the real HTTP adapter: exact statuses, codes and fields
 * (contract 30, endpoints).
 */
import { expect } from 'chai';
import dashboard from '../../../../plugins/dashboard/plugin.js';
import watchdog from '../../../../plugins/watchdog/plugin.js';
import { PASSWORD, SHARED_KEY } from '../../access/fixture.js';
import { HttpFixture, type Answer } from '../../access/http-fixture.js';

const BASE = '/api/watchdog/v1';

describe('watchdog routes', function () {
  let fixture: HttpFixture;
  let manage: string;
  let read: string;
  let ping: string;
  let bound: string;

  before(async () => {
    fixture = await HttpFixture.open({ plugins: [dashboard, watchdog] });
    manage = await fixture.token(['watchdog:manage', 'watchdog:ping']);
    read = await fixture.token(['watchdog:read']);
    ping = await fixture.token(['watchdog:ping']);
    bound = (
      await fixture.parts.tokens.issue({
        kind: 'watchdog',
        name: 'bound',
        scopes: ['watchdog:ping'],
        source: 'bound/1',
        created_by: 'test',
      })
    ).token;
  });
  after(() => fixture.stop());

  const beat = (body: object, token = ping, path = 'ping'): Promise<Answer> =>
    fixture.api('POST', `${BASE}/${path}`, token, body);
  const get = (path: string, token: string | null = read): Promise<Answer> =>
    fixture.api('GET', `${BASE}${path}`, token);
  const rejected = (answer: Answer): string => `${answer.status} ${answer.json.error?.code}`;

  it('lists monitors by tag, and creates groups', async () => {
    const tagged = { source: 'tagged/1', tags: ['prod', 'eu'], group: true };
    const made = await fixture.api('POST', `${BASE}/monitors`, manage, tagged);
    expect(made.json).to.deep.nested.include({ 'monitor.tags': ['prod', 'eu'], 'monitor.group': true });
    const sources = async (query: string): Promise<string[]> =>
      ((await get(`/monitors?${query}`)).json['items'] as { source: string }[]).map(({ source }) => source);
    expect(await sources('tag=eu&tag=none')).to.deep.equal(['tagged/1']);
    expect(await sources('tag=e')).to.deep.equal([]);
    const change = { tags: ['us'], group: false };
    const changed = await fixture.api('PATCH', `${BASE}/monitors/tagged%2F1`, manage, change);
    expect(changed.json).to.deep.nested.include({ 'monitor.tags': ['us'], 'monitor.group': false });
    for (const tags of [['a', 'a'], [''], ['x'.repeat(65)], Array.from({ length: 21 }, String), 'prod']) {
      const answer = await fixture.api('PATCH', `${BASE}/monitors/tagged%2F1`, manage, { tags });
      expect(answer.status, JSON.stringify(tags)).to.equal(422);
    }
    expect((await fixture.api('DELETE', `${BASE}/monitors/tagged%2F1`, manage)).status).to.equal(200);
  });

  it('rejects unsupported fields of the contract, and lists unknown fields in `warnings`', async () => {
    const make = (method: 'POST' | 'PATCH', path: string, fields: object): Promise<Answer> =>
      fixture.api(method, `${BASE}${path}`, manage, fields);
    expect((await make('POST', '/monitors', { source: 'known/1' })).status).to.equal(201);
    for (const [field, value] of Object.entries({
      probe: { kind: 'http', url: 'https://example.org' },
    })) {
      for (const answer of [
        await make('POST', '/monitors', { source: 'unbuilt/1', [field]: value }),
        await make('PATCH', '/monitors/known%2F1', { name: 'Changed', [field]: value }),
      ]) {
        expect(rejected(answer), field).to.equal('422 validation_failed');
        expect(answer.json.error?.fields).to.deep.equal({
          [field]: 'is not supported: the plugin probes is disabled',
        });
      }
    }
    expect((await get('/monitors/unbuilt%2F1')).status).to.equal(404);
    expect((await get('/monitors/known%2F1')).json).to.have.nested.property('monitor.name', 'known/1');
    const mistyped = await make('PATCH', '/monitors/known%2F1', { nmae: 'Changed' });
    expect(mistyped.json['warnings']).to.deep.equal(['nmae is no field of this call']);
    const odd = await beat({ source: 'odd/1', cheks: {}, checks: { db: {} }, metrics: { any: 1 } });
    expect(odd.status).to.equal(201);
    expect(odd.json['warnings']).to.deep.equal([
      'checks.db: ok is not a boolean; treated as not failed',
      'cheks is no field of this call',
    ]);
  });

  it('rejects texts with a live token from users and agents, and changes nothing', async () => {
    const secret = `left ${read} here`;
    const make = (fields: object): Promise<Answer> =>
      fixture.api('POST', `${BASE}/monitors`, manage, { source: 'secret/1', ...fields });
    for (const field of ['name', 'description', 'os']) {
      const answer = await make({ [field]: secret });
      expect(rejected(answer), field).to.equal('422 validation_failed');
      expect(answer.json.error?.fields).to.have.all.keys(field);
    }
    expect((await get('/monitors/secret%2F1')).status).to.equal(404);
    expect((await make({ name: `svc_live_${'x'.repeat(43)} is none` })).status).to.equal(201);
    const edit = await fixture.api('PATCH', `${BASE}/monitors/secret%2F1`, manage, {
      os: 'linux',
      description: secret,
    });
    expect(rejected(edit)).to.equal('422 validation_failed');
    expect((await get('/monitors/secret%2F1')).json).to.have.nested.property('monitor.os', null);
    for (const [field, value] of [
      ['message', secret],
      ['data', { deep: [{ note: secret }] }],
    ] as const) {
      const note = { source: 'secret/1', type: 'deploy', message: 'done', [field]: value };
      const answer = await fixture.api('POST', `${BASE}/event`, ping, note);
      expect(rejected(answer), field).to.equal('422 validation_failed');
      expect(answer.json.error?.fields).to.have.all.keys(field);
    }
    expect((await beat({ source: 'secret/1', message: secret })).status, 'a heartbeat is never lost').to.equal(200);
    await fixture.api('DELETE', `${BASE}/monitors/secret%2F1`, manage);
  });

  it('accepts heartbeats, and returns 201 when they create a monitor', async () => {
    const first = await beat({ source: 'a/b@c', interval: 0.25, metrics: { cpu: 1.5, note: 'x' } });
    expect(first.status).to.equal(201);
    expect(first.json).to.have.all.keys(
      'status',
      'source',
      'state',
      'previous_state',
      'changed',
      'effective_interval_seconds',
      'warn_after',
      'down_after',
      'server_time',
      'accepted_metrics',
      'dropped_metrics',
      'warnings',
    );
    expect(first.json).to.include({ status: 'success', state: 'up', previous_state: null, accepted_metrics: 1 });
    const again = await beat({ source: 'a/b@c', unknown_field: 1 }, ping, 'heartbeat');
    expect(again.status).to.equal(200);
    expect(again.json).to.include({ effective_interval_seconds: 60, changed: false });
  });

  for (const [name, body, field] of [
    ['no source', {}, 'source'],
    ['a bad source', { source: 'a/../b' }, 'source'],
    ['an unknown status', { source: 'a', status: 'fine' }, 'status'],
    ['a text for an interval', { source: 'a', interval: '60' }, 'interval'],
    ['an interval of 0', { source: 'a', interval: 0 }, 'interval'],
    ['an interval under 0.05 s', { source: 'a', interval: 0.049 }, 'interval'],
    ['an interval over a year', { source: 'a', interval: 31_536_001 }, 'interval'],
    ['a list of metrics', { source: 'a', metrics: [1] }, 'metrics'],
  ] as const) {
    it(`rejects ${name}: returns 422 for ${field}`, async () => {
      const answer = await beat(body);
      expect(rejected(answer)).to.equal('422 validation_failed');
      expect(answer.json.error?.fields).to.have.property(field);
    });
  }

  it('sets `updated_at` on changes of settings or state, but not for an unchanged heartbeat', async () => {
    const times = async (): Promise<unknown[]> => {
      const { updated_at, last_state_change_utc } = (await get('/monitors/aged')).json['monitor'] as Record<
        string,
        string
      >;
      return [updated_at, last_state_change_utc];
    };
    await beat({ source: 'aged' });
    const first = fixture.clock.iso();
    fixture.clock.forward(1_000);
    await beat({ source: 'aged', status: 'warning' });
    const second = fixture.clock.iso();
    expect(await times()).to.deep.equal([second, second]);
    expect(second).to.not.equal(first);
    fixture.clock.forward(1_000);
    await beat({ source: 'aged', status: 'warning' });
    expect(await times()).to.deep.equal([second, second]);
    await fixture.api('PATCH', `${BASE}/monitors/aged`, manage, { description: 'Old' });
    expect(await times()).to.deep.equal([fixture.clock.iso(), second]);
    const listed = (await get('/monitors')).json['items'] as { source: string; updated_at: string }[];
    expect(listed.find(({ source }) => source === 'aged')?.updated_at).to.equal(fixture.clock.iso());
    expect((await fixture.api('DELETE', `${BASE}/monitors/aged`, manage)).status).to.equal(200);
  });

  it('lists the accepted statuses', async () => {
    const answer = await beat({ source: 'a', status: 'fine' });
    for (const word of ['ok', 'warning', 'error', 'stopped', 'maintenance']) {
      expect(answer.json.error?.fields?.['status']).to.include(word);
    }
  });

  it('rejects bodies over 64 KiB, wrong credentials and sources of others', async () => {
    const large = await beat({ source: 'a', message: 'x'.repeat(66_000) });
    expect(rejected(large)).to.equal('413 payload_too_large');
    expect(rejected(await beat({ source: 'a' }, read))).to.equal('403 insufficient_scope');
    expect(rejected(await fixture.api('POST', `${BASE}/ping`, null, { source: 'a' }))).to.equal('401 unauthorized');
    expect(rejected(await beat({ source: 'other' }, bound))).to.equal('403 source_mismatch');
    expect((await beat({ source: 'bound/1' }, bound)).status).to.equal(201);
  });

  it('allows evaluation by GET and POST with the shared key only', async () => {
    for (const method of ['GET', 'POST'] as const) {
      const answer = await fixture.api(method, `${BASE}/evaluate`, SHARED_KEY);
      expect(answer.status).to.equal(200);
      expect(answer.json['run']).to.include({ trigger: 'http', result: 'ok', errors: 0 });
    }
    expect(rejected(await fixture.api('POST', `${BASE}/evaluate`, manage))).to.equal('403 insufficient_scope');
    expect(rejected(await fixture.api('POST', `${BASE}/evaluate`, 'nonsense'))).to.equal('401 unauthorized');
    const runs = await get('/runs?limit=1&include_total=true', SHARED_KEY);
    expect(runs.json['items']).to.have.lengthOf(1);
    expect(runs.json).to.include({ has_more: true });
    expect(rejected(await get('/runs', ping))).to.equal('403 insufficient_scope');
  });

  it('returns 409 while another run holds the lease', async () => {
    const leases = fixture.harness.store.collection<{ id: string }>('watchdog_leases');
    const set = { holder: 'somebody', owner: null, expires_at: new Date(fixture.clock.now() + 30_000).toISOString() };
    await leases.change({ id: 'evaluator' }, { set });
    expect(rejected(await fixture.api('POST', `${BASE}/evaluate`, SHARED_KEY))).to.equal('409 conflict');
    await leases.change({ id: 'evaluator' }, { set: { holder: null } });
  });

  it('creates annotations and lists the event timeline', async () => {
    await beat({ source: 'noted' });
    const body = { source: 'noted', type: 'deploy', level: 'warning', message: '1.2.3', data: { build: 7 } };
    const made = await fixture.api('POST', `${BASE}/event`, ping, body);
    expect(made.status).to.equal(201);
    expect(made.json['event']).to.deep.include({ kind: 'annotation', ...body });
    const list = await get('/events?source=noted&include_total=true');
    expect((list.json['items'] as { kind: string }[]).map(({ kind }) => kind).sort()).to.deep.equal([
      'annotation',
      'transition',
    ]);
    expect(list.json).to.include({ total: 2, has_more: false, next_cursor: null });
    const some = await get('/events?type=deploy&level=warning&since=2020-01-01T00:00:00%2B01:00');
    expect(some.json['items']).to.have.lengthOf(1);
    expect((some.json['items'] as object[])[0]).to.have.all.keys(
      'id',
      'source',
      'kind',
      'type',
      'level',
      'from',
      'to',
      'message',
      'data',
      'alarm_id',
      'suppressed_by',
      'at',
    );
    expect(rejected(await fixture.api('POST', `${BASE}/event`, ping, { ...body, source: 'ghost' }))).to.equal(
      '404 not_found',
    );
    const wrong = await fixture.api('POST', `${BASE}/event`, ping, {
      source: 'noted',
      type: 'x'.repeat(65),
      level: 'fatal',
      data: 'x'.repeat(9000),
    });
    expect(rejected(wrong)).to.equal('422 validation_failed');
    expect(wrong.json.error?.fields).to.have.all.keys('type', 'level', 'data');
    expect(rejected(await get('/events?colour=red'))).to.equal('400 invalid_request');
    expect(rejected(await get('/events?level=fatal'))).to.equal('400 invalid_request');
    expect(rejected(await get('/events?cursor=nonsense'))).to.equal('400 invalid_cursor');
    expect(rejected(await get('/events?limit=201'))).to.equal('400 invalid_request');
  });

  it('limits a bound token to its source, and denies reads to a ping token without a source', async () => {
    expect((await get('/events', bound)).status).to.equal(200);
    expect(rejected(await get('/events?source=noted', bound))).to.equal('403 source_mismatch');
    const status = await get('/status', bound);
    expect((status.json['monitors'] as { source: string }[]).map(({ source }) => source)).to.deep.equal(['bound/1']);
    expect((await get('/metrics?source=bound/1', bound)).status).to.equal(200);
    expect(rejected(await get('/metrics?source=noted', bound))).to.equal('403 source_mismatch');
    for (const path of ['/events', '/status', '/metrics?source=noted']) {
      expect(rejected(await get(path, ping)), path).to.equal('403 insufficient_scope');
      expect((await get(path, SHARED_KEY)).status, path).to.equal(200);
    }
    expect(rejected(await get('/monitors', bound))).to.equal('403 insufficient_scope');
  });

  it('returns the full status with counts, filters and tree', async () => {
    await fixture.api('POST', `${BASE}/monitors`, manage, { source: 'top' });
    await fixture.api('POST', `${BASE}/monitors`, manage, { source: 'child', parent_source: 'top' });
    // On a busy machine the snapshot is shared for two seconds.
    fixture.clock.forward(2_001);
    const all = await get('/status?tree=1');
    expect(all.json).to.have.all.keys('status', 'generated_at', 'stale', 'counts', 'monitors', 'tree');
    expect(all.json['stale']).to.equal(false);
    expect(all.json['counts']).to.have.all.keys('up', 'warning', 'down', 'unknown', 'stopped', 'maintenance');
    expect(all.json['tree']).to.deep.include({
      source: 'top',
      state: 'unknown',
      children: [{ source: 'child', state: 'unknown', children: [] }],
    });
    const below = await get('/status?parent=top');
    expect((below.json['monitors'] as { source: string }[]).map(({ source }) => source)).to.deep.equal(['child']);
    expect(rejected(await get('/status?state=fine'))).to.equal('400 invalid_request');
    expect(rejected(await get('/status?colour=red'))).to.equal('400 invalid_request');
    await beat({ source: 'noted', interval: 0.05 });
    expect((await get('/metrics?source=noted&colour=red')).status, 'no list').to.equal(200);
  });

  it('creates, shows, updates and deletes monitors, by source and id', async () => {
    const made = await fixture.api('POST', `${BASE}/monitors`, manage, {
      source: 'x/y',
      name: 'X',
      interval_seconds: 5.5,
    });
    expect(made.status).to.equal(201);
    const monitor = made.json['monitor'] as { id: string };
    expect(monitor).to.deep.include({ state: 'unknown', alarm: 'none', interval_seconds: 5.5, public: false });
    expect(rejected(await fixture.api('POST', `${BASE}/monitors`, manage, { source: 'x/y' }))).to.equal('409 conflict');
    expect(rejected(await fixture.api('POST', `${BASE}/monitors`, read, { source: 'z' }))).to.equal(
      '403 insufficient_scope',
    );
    expect(rejected(await fixture.api('POST', `${BASE}/monitors`, manage, { source: 'z', project: 'none' }))).to.equal(
      '422 unknown_project',
    );
    expect(
      rejected(await fixture.api('POST', `${BASE}/monitors`, manage, { source: 'z', parent_source: 'z' })),
    ).to.equal('409 conflict');
    for (const name of ['x%2Fy', monitor.id]) {
      const shown = await get(`/monitors/${name}`);
      expect((shown.json['monitor'] as { source: string }).source).to.equal('x/y');
    }
    const path = `${BASE}/monitors/x%2Fy`;
    const edited = await fixture.api('PATCH', path, manage, { description: 'd' });
    expect(edited.json['monitor']).to.include({ name: 'X', description: 'd', interval_seconds: 5.5 });
    const same = await fixture.api('PATCH', path, manage, { source: 'x/y', description: 'e' });
    expect([same.status, same.json['warnings']]).to.deep.equal([200, undefined]);
    const renamed = await fixture.api('PATCH', path, manage, { source: 'x/z', description: 'f' });
    expect([rejected(renamed), renamed.json.error?.fields]).to.deep.equal([
      '422 validation_failed',
      { source: 'cannot be changed: create another monitor' },
    ]);
    expect((await get('/monitors/x%2Fy')).json['monitor']).to.include({ source: 'x/y', description: 'e' });
    expect(rejected(await fixture.api('PATCH', path, manage, { parent_source: 'x/y' }))).to.equal('409 conflict');
    expect(rejected(await fixture.api('PATCH', path, manage, { interval_seconds: -1 }))).to.equal(
      '422 validation_failed',
    );
    expect(rejected(await fixture.api('PATCH', `${BASE}/monitors/ghost`, manage, {}))).to.equal('404 not_found');
    const { token } = await fixture.parts.tokens.issue({
      kind: 'watchdog',
      name: 'x',
      scopes: ['watchdog:ping'],
      source: 'x/y',
      created_by: 'test',
    });
    const gone = await fixture.api('DELETE', path, manage);
    expect(gone.json).to.deep.equal({ status: 'success', deleted: true });
    expect(rejected(await fixture.api('DELETE', path, manage))).to.equal('404 not_found');
    expect(rejected(await get('/monitors/x%2Fy'))).to.equal('404 not_found');
    expect(rejected(await beat({ source: 'x/y' }, token))).to.equal('401 unauthorized');
    const list = await get('/monitors?limit=2&include_total=true&q=o');
    expect(list.json['items']).to.have.lengthOf(2);
    const next = await get(`/monitors?limit=2&q=o&cursor=${encodeURIComponent(String(list.json['next_cursor']))}`);
    expect(next.status).to.equal(200);
    expect(rejected(await get('/monitors?colour=red'))).to.equal('400 invalid_request');
  });

  it('returns metrics, and rejects invalid queries', async () => {
    const answer = await get(`/metrics?source=a/b@c&metric=cpu&metric=none&points=10`);
    expect(answer.json).to.include({ source: 'a/b@c' });
    expect(answer.json['metrics']).to.have.all.keys('cpu');
    expect(rejected(await get('/metrics?source=ghost'))).to.equal('404 not_found');
    expect(rejected(await get('/metrics'))).to.equal('400 invalid_request');
    for (const wrong of ['points=0', 'points=1001', 'hours=337', 'resolution=fine', 'from=yesterday']) {
      expect(rejected(await get(`/metrics?source=a/b@c&${wrong}`)), wrong).to.equal('400 invalid_request');
    }
  });

  it('accepts pings by URL', async () => {
    const url = (rest = ''): string => `/ping/${bound}${rest}`;
    for (const [method, rest, state] of [
      ['GET', '', 'up'],
      ['POST', '/fail', 'down'],
      ['GET', '/start', 'down'],
      ['GET', '/0', 'up'],
      ['POST', '/137', 'down'],
    ] as const) {
      const answer = await fixture.api(method, url(rest), null);
      expect(answer.status, rest).to.equal(200);
      expect(answer.text, rest).to.equal('OK');
      const shown = await get('/monitors/bound%2F1');
      expect((shown.json['monitor'] as { state: string }).state, rest).to.equal(state);
    }
    for (const rest of ['/256', '/stop', '/-1'])
      expect((await fixture.api('GET', url(rest), null)).status, rest).to.equal(404);
    for (const token of [`wd_live_${'x'.repeat(43)}`, manage, 'x']) {
      expect((await fixture.api('GET', `/ping/${token}`, null)).status).to.equal(404);
    }
  });

  it('shows badges and status pages of public monitors only', async () => {
    await beat({ source: '<shop>'.replace(/[<>]/g, '-') });
    const { id } = (await get('/monitors/-shop-')).json['monitor'] as { id: string };
    for (const path of [`/badge/${id}.svg`, `/badge/${id}.json`, `/status/${id}`])
      expect((await fixture.api('GET', path, null)).status).to.equal(404);
    await fixture.api('PATCH', `${BASE}/monitors/${id}`, manage, { public: true, name: '<b>&' });
    const badge = await fixture.api('GET', `/badge/${id}.svg`, null);
    expect(badge.status).to.equal(200);
    expect(badge.headers['content-type']).to.include('image/svg+xml');
    expect(badge.text).to.include('&lt;b&gt;&amp;').and.include('>up<').and.not.include('<b>');
    const shields = await fixture.api('GET', `/badge/${id}.json`, null);
    expect(shields.headers['content-type']).to.equal('application/json; charset=utf-8');
    expect(shields.json).to.deep.equal({ schemaVersion: 1, label: '<b>&', message: 'up', color: '1a7f37' });
    const page = await fixture.api('GET', `/status/${id}`, null);
    expect(page.status).to.equal(200);
    expect(page.text).to.include('&lt;b&gt;').and.not.include('-shop-');
    for (const path of ['/badge/x.svg', '/badge/x.json', `/badge/${id}.png`, '/status/-shop-']) {
      expect((await fixture.api('GET', path, null)).status, path).to.equal(404);
    }
  });

  it('creates, shows once, lists and revokes tokens of a source on its page, for administrators', async () => {
    await beat({ source: 'tokens/1' });
    const here = '/monitors/tokens%2F1';
    const browser = await fixture.signedIn();
    const refusedForm = await browser.post(`${here}/tokens`, { name: '', expires_in_seconds: '7' }, here);
    expect(refusedForm.status).to.equal(422);
    const made = await browser.shown(
      await browser.post(`${here}/tokens`, { name: 'cron <b>', expires_in_seconds: '2592000' }, here),
    );
    expect(made.status).to.equal(200);
    const secret = /wd_live_[0-9A-Za-z]{43}/.exec(made.text)?.[0] ?? '';
    expect(made.text).to.include(`/ping/${secret}/$?`).and.include('cron &lt;b&gt;').and.not.include('cron <b>');
    expect((await fixture.api('GET', `/ping/${secret}`, null)).status).to.equal(200);
    expect(rejected(await beat({ source: 'tokens/2' }, secret))).to.equal('403 source_mismatch');
    const page = await browser.get(`${here}?tab=setup`);
    expect(page.text).to.include('cron &lt;b&gt;').and.include(secret.slice(0, 12)).and.not.include(secret);
    const [token] = await fixture.parts.tokens.list({ kind: 'watchdog', source: 'tokens/1' });
    expect(token).to.deep.include({ scopes: ['watchdog:ping'], source: 'tokens/1', created_by: 'admin' });
    await beat({ source: 'tokens/3' });
    const elsewhere = await browser.post(`/monitors/tokens%2F3/tokens/${token?.id}/revoke`, {}, '/monitors/tokens%2F3');
    expect(elsewhere.status).to.equal(404);
    const gone = await browser.post(`${here}/tokens/${token?.id}/revoke`, {}, here);
    expect(gone.headers['location']).to.equal(`${here}?tab=setup`);
    expect((await fixture.api('GET', `/ping/${secret}`, null)).status).to.equal(404);
    expect((await browser.get(`${here}?tab=setup`)).text).to.include('Revoked');
    expect((await fixture.parts.audit.listRecent(5)).items.map(({ action }) => action)).to.include.members([
      'token.created',
      'token.revoked',
    ]);
  });

  it('shows members a monitor without its tokens, and denies them creating any', async () => {
    await (await fixture.signedIn()).post('/users', { username: 'mia', role: 'member', password: PASSWORD });
    const browser = await fixture.signedIn('mia');
    const here = '/monitors/tokens%2F1';
    const page = await browser.get(`${here}?tab=setup`);
    expect(page.status).to.equal(200);
    expect(page.text).to.include('aos token create').and.not.include('action="/monitors/tokens%2F1/tokens"');
    expect((await browser.post(`${here}/tokens`, { name: 'x' }, here)).status).to.equal(403);
  });

  it('renders list, detail, form and tree, and preserves invalid input in the form', async () => {
    const browser = await fixture.signedIn();
    for (const path of [
      '/monitors',
      '/monitors?state=up&q=a',
      '/monitors/new',
      '/hierarchy',
      '/monitors/a%2Fb%40c',
      '/',
    ]) {
      const page = await browser.get(path);
      expect(page.status, path).to.equal(200);
      expect(page.text.match(/<h1/g), path).to.have.lengthOf(1);
    }
    expect((await browser.get('/monitors/a%2Fb%40c?hours=336')).text).to.include('class="series"');
    const bad = await browser.post('/monitors/new', { source: 'a b', name: 'typed' });
    expect(bad.status).to.equal(422);
    expect(bad.text).to.include('typed').and.include('must be 1 to 128 characters');
    expect((await browser.post('/monitors/new', { source: 'ui/1', name: '', interval_seconds: '30' })).status).to.equal(
      303,
    );
    const edited = await browser.post('/monitors/ui%2F1/edit', { name: 'By hand', parent_source: 'top' });
    expect(edited.headers['location']).to.equal('/monitors/ui%2F1');
    const circle = await browser.post('/hierarchy', { source: 'top', parent_source: 'ui/1' });
    expect(circle.status).to.equal(409);
    expect(circle.text).to.include('cycle');
    expect((await browser.post('/hierarchy', { source: 'ui/1', parent_source: '' })).status).to.equal(303);
    const gone = await browser.post('/monitors/ui%2F1/delete', {}, '/monitors/ui%2F1');
    expect(gone.headers['location']).to.equal('/monitors');
    expect((await browser.get('/monitors/ui%2F1')).status).to.equal(404);
    expect((await fixture.parts.audit.listRecent(10)).items.map(({ action }) => action)).to.include.members([
      'monitor.created',
      'monitor.changed',
      'monitor.moved',
      'monitor.deleted',
    ]);
  });
});
