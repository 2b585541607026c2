/**
 * The two paths behind the real HTTP adapter, with the bug tracker behind them (contract 21, Sentry
 * SDK intake).
 */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import type { RouteSpec } from '../../../ports/http/index.js';
import { TestServer, type Asked, type Loose } from '../../adapters/hapi/support.js';
import { buildSentryEnvelope, buildSentryEvent } from '../../support/sentry-envelope.js';
import { AUTH, ENVELOPE, event, KEY, newId, Fixture, STORE } from './fixture.js';

describe('sentry intake', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await Fixture.create();
  });
  afterEach(() => fixture.stop());

  it('returns only the event id for an envelope, and stores the item', async () => {
    const one = event({ event_id: 'FC6D8C0C-43FC-4630-AD85-0EE518F1B9D0', level: 'fatal' });
    const answer = await fixture.post(ENVELOPE, buildSentryEnvelope(one));
    expect(answer.status).to.equal(200);
    expect(answer.headers['content-type']).to.equal('application/json; charset=utf-8');
    expect(answer.body).to.deep.equal({ id: 'fc6d8c0c43fc4630ad850ee518f1b9d0' });
    const [item, ...others] = await fixture.items();
    expect(others).to.deep.equal([]);
    expect(item).to.include({
      type: 'error',
      project: 'shop',
      title: 'CartError: no price',
      severity: 'critical',
      source: 'sdk',
      client_ref: 'fc6d8c0c43fc4630ad850ee518f1b9d0',
      hit_count: 1,
    });
  });

  it('counts users of events by their best identifier without storing names', async () => {
    const users: unknown[] = [
      { id: 'u-4711', email: 'ada@example.org' },
      { id: 'u-4711', email: 'ada@new.example.org' },
      { email: 'bob@example.org', username: 'bob', ip_address: '198.51.100.7', segment: 'trial' },
      { username: 'eve-the-user' },
      { ip_address: '{{auto}}' },
      { ip_address: '{{auto}}' },
      { segment: 'nobody' },
      'no object',
      undefined,
    ];
    for (const user of users) await fixture.post(ENVELOPE, buildSentryEnvelope(event({ user })));
    const [item] = await fixture.items();
    expect(item).to.include({ hit_count: users.length, people: 4 });
    const path = `/api/bugtracker/v1/bugs/${item?.['ref'] as unknown as string}`;
    const whole = await fixture.server.ask('GET', path, { bearer: 'master:bugtracker:read' });
    expect(JSON.stringify(whole.body)).to.contain('"segment":"trial"');
    expect(JSON.stringify(whole.body)).not.to.match(/4711|example\.org|eve-the-user|198\.51|bob/);
  });

  it('records the key as the actor of `created`', async () => {
    await fixture.post(ENVELOPE, buildSentryEnvelope(event()));
    const [item] = await fixture.items();
    const history = await fixture.server.ask(
      'GET',
      `/api/bugtracker/v1/bugs/${item?.['ref'] as unknown as string}/activity`,
      {
        bearer: 'master:bugtracker:read',
      },
    );
    const [entry] = history.body['items'] as unknown as Loose[];
    expect(entry).to.include({ action: 'created', actor: 'intake' });
  });

  it('accepts a store event too, with and without a trailing slash', async () => {
    for (const path of [STORE, '/api/7/store', '/api/7/envelope']) {
      const one = event();
      const body = path.includes('store') ? JSON.stringify(one) : buildSentryEnvelope(one);
      const answer = await fixture.post(path, body);
      expect(answer.status, path).to.equal(200);
      expect(answer.body).to.deep.equal({ id: one['event_id'] });
    }
    expect((await fixture.items())[0]).to.include({ hit_count: 3 });
  });

  const ways: [name: string, path: string, headers: Record<string, string>][] = [
    ['X-Sentry-Auth', ENVELOPE, AUTH],
    ['the query', `${ENVELOPE}?sentry_key=${KEY}&sentry_version=7&sentry_client=x`, {}],
    ['Authorization: Sentry', ENVELOPE, { authorization: AUTH['x-sentry-auth'] }],
  ];
  for (const [name, path, headers] of ways) {
    it(`reads the key from ${name}`, async () => {
      expect((await fixture.post(path, buildSentryEnvelope(event()), headers)).status).to.equal(200);
    });
  }

  it('reads the key from the envelope header', async () => {
    // The fake authenticator's tokens hold a colon, which in a DSN parts key and secret.
    const checked = (spec: RouteSpec): RouteSpec => ({
      ...spec,
      credential: (given) => (spec.credential?.(given) === 'abc' ? 'master:bugtracker:report' : null),
    });
    const routes = (fixture.service.http.mounted?.routes ?? []).map(({ spec }) => checked(spec));
    const plain = await TestServer.create({ routes });
    const envelope = buildSentryEnvelope(event(), 'https://abc@aos.example.org/7');
    expect((await plain.ask('POST', ENVELOPE, { payload: envelope })).status).to.equal(200);
    expect((await plain.ask('POST', ENVELOPE, { payload: buildSentryEnvelope(event()) })).status).to.equal(401);
    expect((await plain.ask('POST', STORE, { payload: JSON.stringify(event()) })).status).to.equal(401);
  });

  const rejected: [name: string, path: string, headers: Record<string, string>, status: number, error: string][] = [
    ['no key', ENVELOPE, {}, 401, 'unauthorized'],
    ['a wrong key', ENVELOPE, { 'x-sentry-auth': 'Sentry sentry_key=wrong' }, 401, 'unauthorized'],
    ['a wrong key in the query', `${STORE}?sentry_key=wrong`, {}, 401, 'unauthorized'],
    ['the number of another project', '/api/8/envelope/', AUTH, 403, 'insufficient_scope'],
    ['a number that no project has', '/api/12345/store/', AUTH, 403, 'insufficient_scope'],
    ['an unknown project number', '/api/shop/envelope/', AUTH, 404, 'not_found'],
    [
      'a token without the scope',
      ENVELOPE,
      { 'x-sentry-auth': 'Sentry sentry_key=master:bugtracker:read' },
      403,
      'insufficient_scope',
    ],
  ];
  for (const [name, path, headers, status, error] of rejected) {
    it(`rejects ${name} with ${status}`, async () => {
      const body = path.includes('store') ? JSON.stringify(event()) : buildSentryEnvelope(event());
      const answer = await fixture.post(path, body, headers);
      expect([answer.status, answer.code]).to.deep.equal([status, error]);
      expect(await fixture.items()).to.deep.equal([]);
    });
  }

  it('accepts any project number from a token for all projects, and rejects non-existent ones', async () => {
    const headers = { 'x-sentry-auth': 'Sentry sentry_key=master:bugtracker:report' };
    expect((await fixture.post('/api/8/envelope/', buildSentryEnvelope(event()), headers)).status).to.equal(200);
    expect((await fixture.items())[0]).to.include({ project: 'other' });
    expect((await fixture.post('/api/77/envelope/', buildSentryEnvelope(event()), headers)).status).to.equal(404);
  });

  it('rejects an archived project like the error intake', async () => {
    const headers = { 'x-sentry-auth': 'Sentry sentry_key=intake:old' };
    const answer = await fixture.post('/api/9/envelope/', buildSentryEnvelope(event()), headers);
    expect([answer.status, answer.code]).to.deep.equal([422, 'unknown_project']);
  });

  it('accepts any or no content type, and compressed bodies', async () => {
    const types = [
      'application/x-sentry-envelope',
      'text/plain;charset=UTF-8',
      'application/json',
      'application/octet-stream',
      'x',
    ];
    for (const type of types) {
      const answer = await fixture.post(ENVELOPE, buildSentryEnvelope(event()), { ...AUTH, 'content-type': type });
      expect(answer.status, type).to.equal(200);
    }
    const encodings = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
    for (const [encoding, compress] of Object.entries(encodings)) {
      const body = compress(Buffer.from(buildSentryEnvelope(event())));
      expect((await fixture.post(ENVELOPE, body, { ...AUTH, 'content-encoding': encoding })).status, encoding).to.equal(
        200,
      );
    }
    const bare = deflateRawSync(Buffer.from(JSON.stringify(event())));
    expect((await fixture.post(STORE, bare, { ...AUTH, 'content-encoding': 'deflate' })).status).to.equal(200);
    expect((await fixture.items())[0]).to.include({ hit_count: types.length + 4 });
  });

  it('accepts a chunked body without content type', async () => {
    await fixture.server.start();
    const bytes = Buffer.from(buildSentryEnvelope(event()));
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (let at = 0; at < bytes.length; at += 7) controller.enqueue(bytes.subarray(at, at + 7));
        controller.close();
      },
    });
    const response = await fetch(fixture.server.url + ENVELOPE, {
      method: 'POST',
      body,
      headers: AUTH,
      duplex: 'half',
    });
    expect([response.status, Object.keys((await response.json()) as object)]).to.deep.equal([200, ['id']]);
    expect((await fixture.items())[0]).to.include({ hit_count: 1 });
    await fixture.server.stop();
  });

  it('stores no secrets of an event', async () => {
    const request = {
      headers: { Authorization: 'Bearer very-secret-1', Cookie: 'sid=very-secret-2' },
      data: { password: 'very-secret-3' },
    };
    const frames = [{ filename: 'cart.py', lineno: 1, vars: { api_key: 'very-secret-4' } }];
    const exception = [{ type: 'CartError', value: 'token=very-secret-5', stacktrace: { frames } }];
    const extra = [['dsn', 'https://user:very-secret-6@example.org/7']];
    await fixture.post(STORE, JSON.stringify(event({ request, exception, extra: { extra } })));
    const [item] = await fixture.items();
    const detail = await fixture.server.ask('GET', `/api/bugtracker/v1/bugs/${item?.['id'] as unknown as string}`, {
      bearer: 'master:bugtracker:read',
    });
    expect(detail.text).to.include('CartError').and.to.not.include('very-secret');
    expect(detail.body['occurrences']?.[0 as unknown as string]?.['context']).to.have.keys(
      'request',
      'locals',
      'extra',
    );
  });

  it('counts the same event once across paths and id formats', async () => {
    const id = '0123456789abcdef0123456789abcdef';
    const dashed = '01234567-89AB-CDEF-0123-456789abcdef';
    for (const event_id of [id, dashed, id]) {
      const answer = await fixture.post(ENVELOPE, buildSentryEnvelope(event({ event_id })));
      expect(answer.body).to.deep.equal({ id });
    }
    expect((await fixture.post(STORE, JSON.stringify(event({ event_id: id })))).status).to.equal(200);
    expect((await fixture.items())[0]).to.include({ hit_count: 1 });
  });

  it('uses the id of the envelope header, and generates a missing id', async () => {
    const { event_id, ...rest } = event();
    const body = `${JSON.stringify({ event_id })}\n{"type":"event"}\n${JSON.stringify(rest)}\n`;
    expect((await fixture.post(ENVELOPE, body)).body).to.deep.equal({ id: event_id });
    const made = await fixture.post(ENVELOPE, `{}\n{"type":"event"}\n${JSON.stringify(rest)}\n`);
    const { id } = made.body;
    expect(id).to.match(/^[0-9a-f]{32}$/);
    const [item] = await fixture.items();
    expect(item).to.include({ hit_count: 2, client_ref: event_id });
  });

  it('skips all other items, and instructs the SDK not to send them', async () => {
    const session = `${JSON.stringify({ sent_at: '2026-11-20T08:15:30Z' })}\n{"type":"session"}\n{"sid":"x","init":true}\n`;
    const alone = await fixture.post(ENVELOPE, session);
    expect([alone.status, alone.body]).to.deep.equal([200, {}]);
    expect(alone.headers['x-sentry-rate-limits']).to.equal('3600:session:key');
    const one = event();
    const binary = '\u0001\u0002\n\n{"type":"event"}\n';
    const mixed = [
      JSON.stringify({ event_id: one['event_id'] }),
      '{"type":"transaction"}\n{"type":"transaction","spans":[]}',
      `{"type":"attachment","length":${Buffer.byteLength(binary)},"filename":"core"}\n${binary}`,
      `{"type":"event"}\n${JSON.stringify(one)}`,
      '{"type":"client_report"}\n{"discarded_events":[]}',
      '{"type":"nobody_knows"}\nno json',
      '{"type":"constructor"}\n',
    ].join('\n');
    const answer = await fixture.post(ENVELOPE, mixed);
    expect([answer.status, answer.body]).to.deep.equal([200, { id: one['event_id'] }]);
    expect(answer.headers['x-sentry-rate-limits']).to.equal('3600:transaction;attachment:key');
    expect(await fixture.items()).to.have.length(1);
    const plain = await fixture.post(ENVELOPE, buildSentryEnvelope(event()));
    expect(plain.headers).to.not.have.property('x-sentry-rate-limits');
  });

  it('skips a transaction at the store endpoint', async () => {
    const answer = await fixture.post(STORE, JSON.stringify({ event_id: newId(), type: 'transaction', spans: [] }));
    expect(answer.status).to.equal(200);
    expect(await fixture.items()).to.deep.equal([]);
  });

  it('stores each event of an envelope, even next to an event with invalid JSON', async () => {
    const parts = [event(), event(), event()].map((one) => `{"type":"event"}\n${JSON.stringify(one)}`);
    expect((await fixture.post(ENVELOPE, ['{}', ...parts].join('\n'))).status).to.equal(200);
    const broken = ['{}', parts[0], '{"type":"event"}\n{"event_id":', `{"type":"event"}\n${JSON.stringify(event())}`];
    const answer = await fixture.post(ENVELOPE, broken.join('\n'));
    expect([answer.status, answer.code]).to.deep.equal([400, 'invalid_json']);
    expect((await fixture.items())[0]).to.include({ hit_count: 4 });
  });

  const malformed: [name: string, path: string, body: string][] = [
    ['an empty envelope', ENVELOPE, ''],
    ['an invalid envelope', ENVELOPE, 'hello'],
    ['an event that is a list', ENVELOPE, '{}\n{"type":"event"}\n[]'],
    ['an event that is cut off', ENVELOPE, '{}\n{"type":"event","length":99}\n{}'],
    ['an empty store', STORE, ''],
    ['a store that is no JSON', STORE, 'eJw='],
    ['a store that is a number', STORE, '7'],
    ['too many values', STORE, `{"extra":[${'0,'.repeat(200_000)}0]}`],
  ];
  for (const [name, path, body] of malformed) {
    it(`rejects ${name} with 400`, async () => {
      const answer = await fixture.post(path, body);
      expect([answer.status, answer.code]).to.deep.equal([400, 'invalid_json']);
    });
  }

  it('applies the intake’s limits to compressed and decompressed size', async () => {
    const large = { ...AUTH, 'content-encoding': 'gzip' };
    expect((await fixture.post(ENVELOPE, Buffer.alloc(1024 * 1024 + 1, 'x'))).status).to.equal(413);
    expect((await fixture.post(ENVELOPE, gzipSync(Buffer.alloc(9 * 1024 * 1024, ' ')), large)).status).to.equal(413);
    const big = event({ extra: { text: 'x'.repeat(3_000_000) } });
    expect((await fixture.post(ENVELOPE, gzipSync(Buffer.from(buildSentryEnvelope(big))), large)).status).to.equal(200);
    expect((await fixture.items())[0]).to.include({ hit_count: 1 });
  });

  it('groups by the fingerprint, including the default group where it is referenced', async () => {
    const send = (fields: object): Promise<Asked> => fixture.post(STORE, JSON.stringify(event(fields)));
    await send({});
    await send({ fingerprint: ['{{ default }}'] });
    await send({ fingerprint: ['carts'], exception: [{ type: 'CartError', value: 'another text' }] });
    await send({ fingerprint: ['carts'] });
    expect((await fixture.items()).map((item) => item['hit_count'])).to.deep.equal([2, 2]);
  });

  it('groups together with a plain report of the same error', async () => {
    // A function is part of a Sentry event's origin, and no plain report states one.
    const frames = [{ filename: 'src/cart.ts', lineno: 41, colno: 7 }];
    await fixture.post(
      STORE,
      JSON.stringify(
        event({ platform: 'node', exception: [{ type: 'CartError', value: 'no price', stacktrace: { frames } }] }),
      ),
    );
    const answer = await fixture.server.ask('POST', '/api/errors/v1/report', {
      bearer: 'master:bugtracker:report',
      json: {
        project: 'shop',
        error_level: 'error',
        exception_class: 'CartError',
        error_message: 'no price',
        stack_trace: 'CartError: no price\n    at total (/srv/app/src/cart.ts:44:1)',
      },
    });
    expect(answer.body).to.include({ created: false, hit_count: 2 });
  });

  it('accepts the benchmark’s envelopes at about the documented size', async () => {
    const body = buildSentryEnvelope(buildSentryEvent(3, newId(), 4096));
    expect(body.length).to.be.within(3500, 4400);
    expect((await fixture.post(ENVELOPE, body)).status).to.equal(200);
    expect((await fixture.items())[0]).to.include({
      exception_class: 'Failure3',
      file_path: '/srv/app/src/orders/module3.ts',
    });
  });

  it('never returns 5xx for any bytes', async () => {
    const json = fc.json({ maxDepth: 5 });
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
      json.map((text) => Buffer.from(text)),
      fc
        .array(fc.oneof(json, fc.constant('{"type":"event"}')), { maxLength: 5 })
        .map((lines) => Buffer.from(lines.join('\n'))),
      fc
        .dictionary(
          fc.constantFrom('exception', 'tags', 'breadcrumbs', 'message', 'event_id', 'timestamp'),
          fc.jsonValue(),
        )
        .map((fields) => Buffer.from(`{}\n{"type":"event"}\n${JSON.stringify(fields)}`)),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(ENVELOPE, STORE), body, async (path, payload) => {
        const answer = await fixture.post(path, payload);
        expect([200, 400, 422], JSON.stringify(answer.body)).to.include(answer.status);
      }),
      { numRuns: 200 },
    );
  });
});
