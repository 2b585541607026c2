/**
 * A route without the envelope (the license endpoints): every answer, errors included (contract 00,
 * envelope; contract 50).
 */
import { expect } from 'chai';
import joi from 'joi';
import { conflict, invalid, notFound, rateLimited, refuse } from '../../../../kernel/errors.js';
import { Reply, type RouteSpec } from '../../../../ports/http/index.js';
import { NO_LIMITS, TestServer, type Asked } from '../support.js';

const thrown: Readonly<Record<string, () => never>> = {
  conflict: () => {
    throw conflict('Not in this state.');
  },
  own: () => {
    throw refuse(409, 'product_mismatch', 'The key is for another product.');
  },
  missing: () => {
    throw notFound('license');
  },
  fields: () => {
    throw invalid({ license_key: 'is no license key' });
  },
  later: () => {
    throw rateLimited(7);
  },
  fault: () => {
    throw new Error('secret words');
  },
};

const route = (path: string, more: Partial<RouteSpec> = {}): RouteSpec => ({
  method: 'POST',
  path: `/api/license/v1/${path}`,
  summary: 'test',
  access: 'public',
  bare: true,
  input: { body: joi.object({ license_key: joi.string().max(40).required(), do: joi.string() }) },
  handle: ({ body }) => {
    const { do: what } = body as { do?: string };
    if (what === 'reply') return new Reply(409, { status: 'inactive', valid: false });
    if (what !== undefined) thrown[what]?.();
    return { status: 'active', valid: true };
  },
  ...more,
});

describe('hapi: routes without the envelope', () => {
  let test: TestServer;
  let ready = true;
  before(async () => {
    test = await TestServer.create(
      {
        routes: [
          route('validate'),
          route('deactivate', { access: { sharedKey: true } }),
          route('scoped', { access: { scope: 'license:read' } }),
          route('query', {
            method: 'GET',
            input: { query: joi.object({ license_key: joi.string().max(40).required() }) },
            handle: () => ({ status: 'active' }),
          }),
          route('counted', { path: '/api/license/v1/counted', limits: { rate: 'public' } }),
        ],
        ready: () => ready,
      },
      { limits: { ...NO_LIMITS, json_bytes: 1_024 } },
    );
    await test.start();
  });
  after(() => test.stop());

  const post = (payload: string, headers: Record<string, string> = {}, path = 'validate'): Promise<Asked> =>
    test.ask('POST', `/api/license/v1/${path}`, {
      payload,
      headers: { 'content-type': 'application/json', ...headers },
    });
  const doing = (what: string): Promise<Asked> => post(JSON.stringify({ license_key: 'k', do: what }));

  const table: [what: string, ask: () => Promise<Asked>, status: number, code: string, fields?: string[]][] = [
    ['unreadable JSON', () => post('{"license_key":'), 400, 'invalid_request'],
    ['an empty body', () => post(''), 400, 'invalid_request'],
    ['JSON that is no object', () => post('[]'), 400, 'invalid_request'],
    ['a missing field', () => post('{}'), 422, 'invalid_request', ['license_key']],
    ['a field of the wrong type', () => post('{"license_key":5}'), 422, 'invalid_request', ['license_key']],
    ['what the handler finds wrong', () => doing('fields'), 422, 'invalid_request', ['license_key']],
    ['another content type', () => post('x=1', { 'content-type': 'text/plain' }), 415, 'unsupported_media_type'],
    ['an encoding', () => post('{}', { 'content-encoding': 'gzip' }), 415, 'unsupported_media_type'],
    ['a large body', () => post(`{"license_key":"${'x'.repeat(2_000)}"}`), 413, 'payload_too_large'],
    ['a bad query', () => test.ask('GET', '/api/license/v1/query'), 400, 'invalid_request', ['license_key']],
    ['another method', () => test.ask('DELETE', '/api/license/v1/validate'), 405, 'method_not_allowed'],
    [
      'another method where a credential is needed',
      () => test.ask('GET', '/api/license/v1/deactivate'),
      405,
      'method_not_allowed',
    ],
    ['no credential', () => post('{}', {}, 'deactivate'), 401, 'unauthorized'],
    ['an unknown credential', () => post('{}', { authorization: 'Bearer nobody' }, 'deactivate'), 401, 'unauthorized'],
    [
      'a token where the shared key is needed',
      () => post('{}', { authorization: 'Bearer master:license:manage' }, 'deactivate'),
      401,
      'unauthorized',
    ],
    [
      'a token without the scope',
      () => post('{}', { authorization: 'Bearer master:a:b' }, 'scoped'),
      403,
      'insufficient_scope',
    ],
    ['a refusal of the handler', () => doing('conflict'), 409, 'conflict'],
    ['a code of the plugin’s own', () => doing('own'), 409, 'product_mismatch'],
    ['a reply of the handler', () => doing('reply'), 409, 'inactive'],
    ['what does not exist', () => doing('missing'), 404, 'not_found'],
    ['too many calls', () => doing('later'), 429, 'rate_limited'],
    ['a fault', () => doing('fault'), 500, 'internal_error'],
  ];
  for (const [what, ask, status, code, fields] of table) {
    it(`returns ${status} ${code} for ${what}`, async () => {
      const answer = await ask();
      expect([answer.status, answer.body['status']]).to.deep.equal([status, code]);
      expect(answer.body).not.to.have.any.keys('error', 'request_id');
      if (code !== 'inactive') expect(answer.body['message']).to.be.a('string').and.not.to.contain('secret words');
      expect(answer.body['fields'] === undefined ? undefined : Object.keys(answer.body['fields'])).to.deep.equal(
        fields,
      );
      expect(answer.headers['content-type']).to.equal('application/json; charset=utf-8');
      expect(answer.headers['x-request-id']).to.match(/^[\w.-]{8,64}$/);
      expect(answer.headers['www-authenticate'] !== undefined).to.equal(status === 401);
      expect(answer.headers['retry-after'] !== undefined).to.equal(status === 429);
      expect(answer.headers['allow'] !== undefined).to.equal(status === 405);
    });
  }

  it('returns a success response unchanged', async () => {
    const answer = await post('{"license_key":"k"}', { authorization: 'Bearer nobody' });
    expect([answer.status, answer.body]).to.deep.equal([200, { status: 'active', valid: true }]);
  });

  it('sends a large body without Content-Length', async () => {
    const client = test.connect();
    await client.write(
      'POST /api/license/v1/validate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    await client.write(`800\r\n${'x'.repeat(2_048)}\r\n`);
    await client.until(({ received }) => received.includes('{"status":"payload_too_large"'));
    client.close();
  });

  it('returns 503 while the plugin is not ready', async () => {
    ready = false;
    const answer = await post('{}');
    ready = true;
    expect([answer.status, answer.body['status'], answer.headers['retry-after']]).to.deep.equal([
      503,
      'not_ready',
      '10',
    ]);
  });

  it('returns the envelope for an unknown path next to bare routes', async () => {
    const answer = await test.ask('GET', '/api/license/v1/nothing', { bearer: 'shared' });
    expect([answer.status, answer.code]).to.deep.equal([404, 'not_found']);
  });

  it('rate-limits public calls per address with RateLimit headers, and failed credentials separately', async () => {
    const limits = { ...NO_LIMITS, public_per_minute: 2, auth_failures_per_minute: 1 };
    const own = await TestServer.create(
      { routes: [route('validate'), route('deactivate', { access: { sharedKey: true } })] },
      { limits },
    );
    const ask = (): Promise<Asked> => own.ask('POST', '/api/license/v1/validate', { json: { license_key: 'k' } });
    expect([(await ask()).status, (await ask()).status]).to.deep.equal([200, 200]);
    const rejected = await ask();
    expect([rejected.status, rejected.body['status']]).to.deep.equal([429, 'rate_limited']);
    expect(rejected.headers).to.include({
      'retry-after': '30',
      'ratelimit-limit': '2',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '60',
    });
    const wrong = (): Promise<Asked> => own.ask('POST', '/api/license/v1/deactivate', { bearer: 'nobody', json: {} });
    expect((await wrong()).status).to.equal(401);
    const failed = await wrong();
    expect([failed.status, failed.body['status'], failed.headers['ratelimit-limit']]).to.deep.equal([
      429,
      'rate_limited',
      '1',
    ]);
    expect(
      (await own.ask('POST', '/api/license/v1/deactivate', { bearer: 'shared', json: { license_key: 'k' } })).status,
    ).to.equal(200);
  });
});
