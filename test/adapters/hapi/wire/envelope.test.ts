import { expect } from 'chai';
import joi from 'joi';
import { invalid, notFound, rateLimited, refuse, ServiceError } from '../../../../kernel/errors.js';
import { created, Redirect, Reply, text, type RouteSpec } from '../../../../ports/http/index.js';
import { InvalidCursor, StoreConflict } from '../../../../ports/store/index.js';
import { TestServer } from '../support.js';

const open = (path: string, handle: RouteSpec['handle'], more: Partial<RouteSpec> = {}): RouteSpec => ({
  method: 'GET',
  path,
  summary: 'test',
  access: 'public',
  handle,
  ...more,
});
const thrower = (path: string, error: unknown, more: Partial<RouteSpec> = {}): RouteSpec =>
  open(
    path,
    () => {
      throw error;
    },
    more,
  );

describe('hapi: envelope', () => {
  let test: TestServer;
  before(async () => {
    test = await TestServer.create({
      routes: [
        open('/api/t/v1/data', () => ({ item: { id: 'a', status: 'open' } })),
        open('/api/t/v1/empty', () => ({})),
        open('/api/t/v1/liar', () => ({ status: 'open', x: 1 })),
        open('/api/t/v1/bare', () => ({ status: 'active' }), { bare: true }),
        open('/api/t/v1/created', () =>
          created({ id: 'a' }).header('Location', '/a').cookie({ name: 'c', value: 'ü;' }),
        ),
        open('/api/t/v1/text', () => text('a,b\n', 'text/csv')),
        open('/api/t/v1/nothing', () => new Reply(204, null)),
        open('/api/t/v1/unwell', () => new Reply(503, { healthy: false })),
        open('/api/t/v1/redirect', () => new Redirect('/migrations?x=ü\r\nX-Evil: 1', { tone: 'info', message: 'go' })),
        open('/api/t/v1/etag', () => new Reply(200, { a: 1 }).header('etag', '"v1"')),
        thrower('/api/t/v1/split', new ServiceError('conflict', 'no')),
        open('/api/t/v1/evil', () => new Reply(200, { a: 1 }).header('x-a', 'b\r\nset-cookie: c=d')),
        thrower(
          '/api/t/v1/errors/service',
          refuse(409, 'already_claimed', 'Taken.', { extra: { claim: { by: 'x' } }, fields: { a: 'b' } }),
        ),
        thrower('/api/t/v1/errors/missing', notFound('item shop-17')),
        thrower('/api/t/v1/errors/invalid', invalid({ 'a.b': 'is wrong' })),
        thrower('/api/t/v1/errors/cursor', new InvalidCursor()),
        thrower('/api/t/v1/errors/conflict', new StoreConflict('name')),
        thrower('/api/t/v1/errors/limited', rateLimited(7)),
        thrower('/api/t/v1/errors/ready', new ServiceError('not_ready', 'Later.')),
        thrower('/api/t/v1/errors/fault', new Error('secret text')),
        thrower('/api/t/v1/errors/string', 'secret text'),
        thrower('/api/t/v1/bare/invalid', invalid({ a: 'b' }), { bare: true }),
        thrower('/api/t/v1/bare/fault', new Error('secret text'), { bare: true }),
        open('/api/t/v1/items/{id}', ({ params }) => ({ params }), { aliases: ['/api/t/v1/things/{id}'] }),
        open('/api/t/v1/items/{ref}', () => ({ deleted: true }), { method: 'DELETE' }),
        open('/api/t/v1/items/special', () => ({ special: true }), { method: ['POST', 'PUT'] }),
        open('/api/t/v1/numbers/{id}', ({ params }) => ({ params }), {
          input: { params: joi.object({ id: joi.string().pattern(/^\d+$/) }) },
        }),
        open('/api/t/v1/seen', ({ headers, cookies, address, method }) => ({ headers, cookies, address, method })),
      ],
    });
  });

  it('puts the data next to the status, which the data cannot overwrite', async () => {
    const data = await test.ask('GET', '/api/t/v1/data');
    expect(data.status).to.equal(200);
    expect(data.text).to.equal('{"status":"success","item":{"id":"a","status":"open"}}');
    expect(data.headers['content-type']).to.equal('application/json; charset=utf-8');
    expect(data.headers['x-content-type-options']).to.equal('nosniff');
    expect((await test.ask('GET', '/api/t/v1/empty')).text).to.equal('{"status":"success"}');
    expect((await test.ask('GET', '/api/t/v1/liar')).body).to.deep.equal({ status: 'success', x: 1 });
  });

  it('returns the response of a bare route unchanged', async () => {
    expect((await test.ask('GET', '/api/t/v1/bare')).text).to.equal('{"status":"active"}');
  });

  it('renders replies with status, headers, cookies, text, or an empty body', async () => {
    const reply = await test.ask('GET', '/api/t/v1/created');
    expect([reply.status, reply.headers['location'], reply.headers['set-cookie']]).to.deep.equal([
      201,
      '/a',
      ['c=%C3%BC%3B; Path=/; HttpOnly; SameSite=Lax'],
    ]);
    expect(reply.body).to.deep.equal({ status: 'success', id: 'a' });
    const csv = await test.ask('GET', '/api/t/v1/text');
    expect([csv.text, csv.headers['content-type']]).to.deep.equal(['a,b\n', 'text/csv; charset=utf-8']);
    const nothing = await test.ask('GET', '/api/t/v1/nothing');
    expect([nothing.status, nothing.text]).to.deep.equal([204, '']);
  });

  it('adds the error object of the status to a reply with an error status', async () => {
    const unwell = await test.ask('GET', '/api/t/v1/unwell');
    expect([unwell.status, unwell.code, unwell.body.healthy]).to.deep.equal([503, 'not_ready', false]);
  });

  it('redirects, and rejects a line break in a header', async () => {
    const redirect = await test.ask('GET', '/api/t/v1/redirect');
    expect([redirect.status, redirect.headers['location']]).to.deep.equal([
      303,
      '/migrations?x=%C3%BC%0D%0AX-Evil:%201',
    ]);
    expect(redirect.headers).to.not.have.property('x-evil');
    const evil = await test.ask('GET', '/api/t/v1/evil');
    expect([evil.status, evil.code]).to.deep.equal([500, 'internal_error']);
  });

  it('returns 304 for a matching ETag', async () => {
    const same = await test.ask('GET', '/api/t/v1/etag', { headers: { 'if-none-match': '"v1"' } });
    expect([same.status, same.text]).to.deep.equal([304, '']);
  });

  it('maps exceptions of handlers to errors', async () => {
    const claimed = await test.ask('GET', '/api/t/v1/errors/service');
    expect(claimed.status).to.equal(409);
    expect(claimed.body).to.deep.equal({
      status: 'error',
      error: {
        code: 'already_claimed',
        message: 'Taken.',
        fields: { a: 'b' },
        claim: { by: 'x' },
        request_id: claimed.headers['x-request-id'],
      },
    });
    const cases: [string, number, string][] = [
      ['missing', 404, 'not_found'],
      ['invalid', 422, 'validation_failed'],
      ['cursor', 400, 'invalid_cursor'],
      ['conflict', 409, 'conflict'],
      ['limited', 429, 'rate_limited'],
      ['ready', 503, 'not_ready'],
    ];
    for (const [path, status, code] of cases) {
      const answer = await test.ask('GET', `/api/t/v1/errors/${path}`);
      expect([answer.status, answer.code], path).to.deep.equal([status, code]);
    }
    const limited = (await test.ask('GET', '/api/t/v1/errors/limited')).headers;
    expect([limited['retry-after'], limited['ratelimit-remaining'], limited['ratelimit-reset']]).to.deep.equal([
      '7',
      '0',
      '7',
    ]);
    expect(limited).to.have.property('ratelimit-limit');
    expect((await test.ask('GET', '/api/t/v1/errors/ready')).headers).to.have.property('retry-after');
  });

  it('hides the message of internal errors, and logs it under the request id', async () => {
    for (const path of ['fault', 'string']) {
      test.log.lines.length = 0;
      const fault = await test.ask('GET', `/api/t/v1/errors/${path}`, { headers: { 'x-request-id': 'my-request-1' } });
      expect([fault.status, fault.code, fault.headers['x-request-id']]).to.deep.equal([
        500,
        'internal_error',
        'my-request-1',
      ]);
      expect(fault.text).to.not.contain('secret');
      expect(test.log.lines).to.have.length(1);
      expect(test.log.lines[0]?.data['request_id']).to.equal('my-request-1');
    }
  });

  it('shows the message of internal errors with debug', async () => {
    const debug = await TestServer.create(
      { routes: [thrower('/api/t/v1/fault', new Error('secret text'))] },
      { debug: true },
    );
    expect((await debug.ask('GET', '/api/t/v1/fault')).body['error']?.['message']).to.contain('secret text');
  });

  it('returns errors of bare routes without the envelope, and invalid_request for an invalid body', async () => {
    const bad = await test.ask('GET', '/api/t/v1/bare/invalid');
    expect([bad.status, bad.body]).to.deep.equal([
      422,
      { status: 'invalid_request', message: 'Some fields are invalid.', fields: { a: 'b' } },
    ]);
    const fault = await test.ask('GET', '/api/t/v1/bare/fault');
    expect([fault.status, fault.body.status]).to.deep.equal([500, 'internal_error']);
    const method = await test.ask('POST', '/api/t/v1/bare/invalid');
    expect([method.status, method.body.status]).to.deep.equal([405, 'method_not_allowed']);
  });

  it('accepts a valid request id and generates one otherwise', async () => {
    const kept = await test.ask('GET', '/api/t/v1/data', { headers: { 'x-request-id': 'abc.DEF-12' } });
    expect(kept.headers['x-request-id']).to.equal('abc.DEF-12');
    for (const odd of ['short', 'a b c d e f g', '<script>alert(1)</script>', 'x'.repeat(65)]) {
      const made = await test.ask('GET', '/api/nowhere', { headers: { 'x-request-id': odd } });
      expect(made.headers['x-request-id']).to.match(/^0000/);
    }
  });

  it('returns 404 in the envelope for unknown paths below /api/, for any credential or method', async () => {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH']) {
      for (const bearer of [undefined, 'unknown', 'shared']) {
        const unknown = await test.ask(method, '/api/t/v1/nowhere', {
          ...(bearer && { bearer }),
          headers: { accept: 'text/html' },
        });
        expect(unknown.status).to.equal(404);
        expect(unknown.headers['content-type']).to.equal('application/json; charset=utf-8');
        if (method !== 'HEAD') expect(unknown.code).to.equal('not_found');
      }
    }
  });

  it('returns 405 with Allow for another method', async () => {
    const cases: [string, string, string][] = [
      ['PATCH', '/api/t/v1/items/5', 'GET, HEAD, DELETE'],
      ['POST', '/api/t/v1/things/5', 'GET, HEAD'],
      ['PATCH', '/api/t/v1/items/special', 'POST, PUT'],
      // Nothing is borrowed from `/items/{id}`, which would answer them.
      ['OPTIONS', '/api/t/v1/items/special', 'POST, PUT'],
      ['GET', '/api/t/v1/items/special', 'POST, PUT'],
      ['DELETE', '/api/t/v1/items/special', 'POST, PUT'],
      ['OPTIONS', '/api/t/v1/data', 'GET, HEAD'],
      ['PROPFIND', '/api/t/v1/data', 'GET, HEAD'],
    ];
    for (const [method, path, allow] of cases) {
      const wrong = await test.ask(method, path);
      expect([wrong.status, wrong.code, wrong.headers['allow']], `${method} ${path}`).to.deep.equal([
        405,
        'method_not_allowed',
        allow,
      ]);
    }
  });

  it('answers HEAD on every route that answers GET', async () => {
    const head = await test.ask('HEAD', '/api/t/v1/data');
    expect([head.status, head.text, head.headers['content-length']]).to.deep.equal([200, '', 54]);
  });

  it('rejects malformed paths and parameters', async () => {
    expect((await test.ask('GET', '/api/t/v1/items/%zz')).code).to.equal('invalid_request');
    expect((await test.ask('GET', '/api/t/v1/items/%c3%28')).status).to.be.oneOf([400, 404]);
    expect((await test.ask('GET', '/api/t/v1/items/a%00b')).code).to.equal('not_found');
    expect((await test.ask('GET', '/api/t/v1/numbers/x')).code).to.equal('not_found');
    expect((await test.ask('GET', '/api/t/v1/numbers/12')).body.params).to.deep.equal({ id: '12' });
    expect((await test.ask('GET', '/api/t/v1/things/a%2Fb')).body.params).to.deep.equal({ id: 'a/b' });
  });

  it('hides the credential from handlers', async () => {
    const seen = await test.ask('GET', '/api/t/v1/seen', {
      bearer: 'shared',
      headers: {
        cookie: 'a=1; __proto__=2; a=3; b="x%20y"; c=%',
        'x-thing': 'y',
        'x-sentry-auth': 'Sentry sentry_key=z',
      },
    });
    expect(seen.body.headers).to.include({ 'x-thing': 'y' });
    expect(seen.body.headers).to.not.have.any.keys('authorization', 'cookie', 'x-sentry-auth');
    expect(seen.body.cookies).to.deep.equal({ a: '1', b: 'x y', c: '%' });
  });

  it('returns 503 while the plugin is not ready', async () => {
    const failed = await TestServer.create({ routes: [open('/api/t/v1/data', () => ({}))], ready: () => false });
    const answer = await failed.ask('GET', '/api/t/v1/data');
    expect([answer.status, answer.code, answer.headers['retry-after']]).to.deep.equal([503, 'not_ready', '10']);
  });
});
