/**
 * Sessions from the envelope of an SDK to the figures of their version (contract 21, release
 * health).
 */
import { expect } from 'chai';
import bugs from '../../../plugins/bugs/plugin.js';
import errorstream from '../../../plugins/errorstream/plugin.js';
import releasehealth from '../../../plugins/releasehealth/plugin.js';
import sentry from '../../../plugins/sentry/plugin.js';
import type { VersionHealth } from '../../../ports/domain/release-health.js';
import { HttpFixture, type Answer } from '../access/http-fixture.js';

const HOUR = 3_600_000;

describe('releasehealth: envelopes', function () {
  let fixture: HttpFixture;
  let key: string;
  let number: number;
  let read: string;

  const openWith = async (plugins = [bugs, errorstream, sentry, releasehealth]): Promise<void> => {
    fixture = await HttpFixture.open({ plugins });
    const manage = await fixture.token(['projects:manage']);
    read = await fixture.token(['bugtracker:read']);
    const made = await fixture.api('POST', '/api/projects/v1/projects', manage, { slug: 'shop' });
    number = (made.json['project'] as { number: number }).number;
    const { json } = await fixture.api('POST', '/api/projects/v1/projects/shop/intake-keys', manage, {});
    key = String(json['key']);
  };
  beforeEach(() => openWith());
  afterEach(() => fixture.stop());

  const send = async (...items: [type: string, payload: unknown][]): Promise<Answer> => {
    const lines = items.flatMap(([type, payload]) => [JSON.stringify({ type }), JSON.stringify(payload)]);
    const { statusCode, payload, headers } = await fixture.server.inject({
      method: 'POST',
      url: `/api/${number}/envelope/`,
      headers: { 'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${key}` },
      payload: ['{}', ...lines].join('\n'),
    });
    return {
      status: statusCode,
      headers: headers as Answer['headers'],
      text: payload,
      json: JSON.parse(payload) as Answer['json'],
    };
  };
  const attrs = { release: 'shop@1.4.0+77', environment: 'production' };
  const now = (): string => new Date(fixture.clock.now()).toISOString();
  const session = (sid: string, more: object): [string, unknown] => [
    'session',
    { sid, status: 'ok', errors: 0, started: now(), timestamp: now(), attrs, ...more },
  ];
  const health = (query = 'project=shop', token = read): Promise<Answer> =>
    fixture.api('GET', `/api/errors/v1/health?${query}`, token);
  const versions = async (query?: string): Promise<VersionHealth[]> =>
    (await health(query)).json['versions'] as VersionHealth[];

  it('counts the last 24 hours of an item, for any totals of a public key', async () => {
    const ago = (hours: number): string => new Date(fixture.clock.now() - hours * HOUR).toISOString();
    const aggregates = Array.from({ length: 100 }, (_, hours) => ({ started: ago(hours), exited: 1 }));
    expect((await send(['sessions', { attrs, aggregates }])).status).to.equal(200);
    expect(await versions('project=shop&hours=120')).to.have.lengthOf(1);
    expect((await versions('project=shop&hours=120'))[0]).to.include({ started: 24 });
    expect((await versions('project=shop&hours=2'))[0]?.started).to.be.within(1, 3);
  });

  it('counts aggregates of the SDK by version, environment and hour', async () => {
    const aggregates = [
      { started: now(), exited: 90, errored: 5, crashed: 4, abnormal: 1 },
      { started: new Date(fixture.clock.now() - HOUR).toISOString(), exited: 10 },
    ];
    expect((await send(['sessions', { attrs, aggregates }])).status).to.equal(200);
    await send([
      'sessions',
      { attrs: { ...attrs, environment: 'staging' }, aggregates: [{ started: now(), exited: 50 }] },
    ]);
    await send(['sessions', { attrs: { release: '1.4' }, aggregates: [{ started: now(), unhandled: 1 }] }]);
    await send(['sessions', { attrs: { release: 'shop@1.3.0' }, aggregates: [{ started: now(), exited: 39 }] }]);
    const [first, second, ...others] = await versions('project=shop&hours=2');
    expect(others).to.deep.equal([]);
    expect(first).to.deep.include({ version: '1.4.0', started: 161, errored: 5, crashed: 5, abnormal: 1 });
    expect(first).to.include({ crash_free_sessions: 0.968944, adoption: 0.805, people: 0, crash_free_people: null });
    expect(first?.hours.map(({ started, crashed }) => [started, crashed])).to.deep.equal([
      [10, 0],
      [151, 5],
    ]);
    expect(second).to.include({ version: '1.3.0', started: 39, crash_free_sessions: 1, adoption: 0.195 });
    expect(await versions('project=shop&version=1.4.0.0&environment=staging')).to.have.length(1);
    expect((await versions('project=shop&environment=staging'))[0]).to.include({ started: 50, adoption: 1 });
    expect(await versions('project=shop&version=9')).to.deep.equal([]);
  });

  it('counts a session once, for any number of SDK updates', async () => {
    await send(session('a', { init: true, did: 'ada' }));
    await send(session('a', { errors: 1, did: 'ada' }));
    await send(session('a', { errors: 2, did: 'ada' }), session('a', { errors: 3, did: 'ada' }));
    expect((await versions())[0]).to.include({ started: 1, errored: 1, crashed: 0, people: 1, crashed_people: 0 });
    await send(session('a', { errors: 4, status: 'crashed', did: 'ada' }));
    await send(session('a', { errors: 4, status: 'crashed', did: 'ada' }));
    await send(session('a', { errors: 4, status: 'exited', did: 'ada' }));
    expect((await versions())[0]).to.include({ started: 1, errored: 0, crashed: 1, people: 1, crashed_people: 1 });
    // At its end alone, as Python sends it, and twice, as a proxy repeats it.
    for (let i = 0; i < 2; i++) await send(session('b-2', { init: true, status: 'exited', did: 'ben' }));
    await send(session('c', { init: true, status: 'abnormal' }));
    await send(session('d', { init: true, status: 'unhandled', errors: 1 }));
    const [one] = await versions();
    expect(one).to.include({ started: 4, errored: 0, crashed: 2, abnormal: 1, people: 2, crashed_people: 1 });
    expect(one).to.include({ crash_free_people: 0.5, crash_free_sessions: 0.5 });
  });

  it('counts a hundred sessions of an envelope, without a rate limit', async () => {
    const many = Array.from({ length: 100 }, (_, i) =>
      session(`s${i}`, { init: true, did: `u${i % 40}`, errors: i < 10 ? 1 : 0 }),
    );
    const { status, headers } = await send(...many);
    expect([status, headers['x-sentry-rate-limits']]).to.deep.equal([200, undefined]);
    expect((await versions())[0]).to.include({ started: 100, errored: 10, people: 40 });
  });

  it('skips sessions without the plugin, and instructs the SDK to send none', async () => {
    await fixture.stop();
    await openWith([bugs, errorstream, sentry]);
    const { status, headers } = await send(session('a', { init: true }));
    expect([status, headers['x-sentry-rate-limits']]).to.deep.equal([200, '3600:session:key']);
    expect((await health()).status).to.equal(404);
  });

  it('limits the effect of hostile sessions, and never fails', async () => {
    const aggregates = [
      { started: 'never', exited: -5, crashed: 1.5, errored: '7', abnormal: null },
      { started: {}, exited: Number.MAX_SAFE_INTEGER },
      'text',
      [],
      null,
      { started: '1970-01-01T00:00:00Z', crashed: 9 },
      { started: '9999-12-31T00:00:00Z', crashed: 2 },
    ];
    for (const payload of [
      { attrs, aggregates },
      { attrs: { release: 'x'.repeat(10_000) }, aggregates: [{ exited: 1 }] },
      { attrs: { release: '' }, aggregates: [{ exited: 1 }] },
      { attrs: [], aggregates: [{ exited: 1 }] },
      { aggregates: { constructor: 1 } },
      {},
    ]) {
      expect((await send(['sessions', payload])).status).to.equal(200);
    }
    for (const payload of [
      { sid: '', init: true, attrs },
      { sid: 'x'.repeat(300), init: true, attrs },
      { sid: 's1', init: 'true', attrs },
      { sid: 's2', init: true, status: '__proto__', attrs },
      { sid: 's3', init: true, status: ['crashed'], attrs: null },
      { sid: 's4', init: true, did: { $ne: 1 }, attrs: { release: 'shop@1.4.0', environment: '$where.a\u0000' } },
    ]) {
      expect((await send(['session', payload])).status).to.equal(200);
    }
    expect((await send(['sessions', []])).status).to.equal(400);
    const all = await versions();
    expect(all.map(({ version, started, crashed }) => [version, started, crashed])).to.deep.equal([
      ['1.4.0', 1_000_003, 2],
    ]);
  });

  it('counts versions beyond the hourly limit together', async () => {
    for (let i = 0; i < 130; i += 10) {
      const items = Array.from({ length: 10 }, (_, j): [string, unknown] => [
        'sessions',
        { attrs: { release: `r${i + j}` }, aggregates: [{ exited: 1 }] },
      ]);
      await send(...items);
    }
    const all = await versions();
    expect(all).to.have.length(101);
    expect(all[0]).to.include({ version: null, started: 30 });
  });

  it('requires a project and read access to it', async () => {
    expect((await health('')).json.error?.fields).to.have.keys('project');
    expect((await health('project=shop&hours=721')).json.error?.fields).to.have.keys('hours');
    expect((await health('project=nobody')).status).to.equal(404);
    expect((await health('project=shop', await fixture.token(['bugtracker:report']))).status).to.equal(403);
    expect((await health('project=shop', key)).status).to.be.oneOf([401, 403]);
    const manage = await fixture.token(['projects:manage']);
    await fixture.api('POST', '/api/projects/v1/projects', manage, { slug: 'other' });
    expect((await health('project=shop', await fixture.token(['bugtracker:read'], 'other'))).status).to.equal(403);
    expect((await health('project=shop', await fixture.token(['bugtracker:read'], 'shop'))).status).to.equal(200);
  });
});
