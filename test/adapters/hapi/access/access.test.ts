import { expect } from 'chai';
import joi from 'joi';
import type { Access, RouteSpec } from '../../../../ports/http/index.js';
import { TestServer, type Asked } from '../support.js';

const route = (path: string, access: Access, more: Partial<RouteSpec> = {}): RouteSpec => ({
  method: 'GET',
  path: `/api/t/v1/${path}`,
  summary: 'test',
  access,
  handle: ({ principal }) => ({ kind: principal.kind }),
  ...more,
});

const outcome = (answer: Asked): string =>
  answer.status === 200 ? '200' : `${answer.status} ${answer.code ?? answer.body.status}`;
const DENIED = '403 insufficient_scope';
const UNKNOWN = '401 unauthorized';

describe('hapi: authorization', () => {
  let test: TestServer;
  let parsed: boolean;
  before(async () => {
    test = await TestServer.create({
      routes: [
        route('public', 'public'),
        route('read', { scope: 'bugs:read' }),
        route('manage', { scope: 'bugs:manage' }),
        route('either', { anyScope: ['bugs:read', 'license:read'] }),
        route('intake', { scope: 'bugs:report', intake: true }),
        route('any', { anyToken: true }),
        route('shared', { sharedKey: true }),
        route('health', [{ anyToken: true }, { sharedKey: true }]),
        route('setup', { scope: 'setup:install' }),
        route('bare-shared', { sharedKey: true }, { bare: true }),
        route(
          'post',
          { scope: 'bugs:report' },
          {
            method: 'POST',
            input: {
              body: joi.object().custom((value: unknown) => {
                parsed = true;
                return value;
              }),
            },
          },
        ),
        {
          ...route('', [{ sharedKey: true }, { session: 'admin' }]),
          method: ['GET', 'POST'],
          path: '/api/admin/v1/migrate',
          handle: ({ principal, body }) => ({ kind: principal.kind, body }),
        },
        {
          ...route('', { session: 'member' }),
          method: 'POST',
          path: '/api/admin/v1/with-body',
          input: { body: joi.object({ a: joi.number().required() }) },
          handle: ({ body }) => ({ body }),
        },
        {
          ...route('', 'public'),
          path: '/api/t/v1/key/{number}',
          method: 'POST',
          access: { scope: 'bugs:report', intake: true },
          input: { query: joi.object({ key: joi.string() }) },
          limits: { payload: 'raw' },
          credential: ({ headers, query, body }) =>
            headers['x-sentry-auth'] ??
            (query['key'] as string | undefined) ??
            (Buffer.isBuffer(body) ? body.toString().split('\n')[0]! : null),
          handle: ({ principal, body }) => ({ kind: principal.kind, bytes: (body as Buffer).length }),
        },
      ],
    });
  });

  const table: [path: string, bearer: string | undefined, expected: string][] = [
    ['public', undefined, '200'],
    ['public', 'unknown', '200'],
    ['read', undefined, UNKNOWN],
    ['read', 'unknown', UNKNOWN],
    ['read', 'master:bugs:read', '200'],
    ['read', 'sub:bugs:manage', '200'],
    ['read', 'master:bugs:report', DENIED],
    ['read', 'setup:setup:install', DENIED],
    ['read', 'setup:bugs:read', DENIED],
    ['read', 'intake:bugs:read', DENIED],
    ['read', 'shared', DENIED],
    ['manage', 'master:bugs:read', DENIED],
    ['manage', 'master:bugs:manage', '200'],
    ['either', 'master:license:manage', '200'],
    ['either', 'master:webhooks:manage', DENIED],
    ['intake', 'intake:bugs:report', '200'],
    ['intake', 'master:bugs:report', '200'],
    ['intake', 'watchdog:watchdog:ping', DENIED],
    ['any', 'watchdog:watchdog:ping', '200'],
    ['any', 'master:', '200'],
    ['any', 'setup:setup:install', DENIED],
    ['any', 'intake:bugs:report', DENIED],
    ['any', 'shared', DENIED],
    ['shared', 'shared', '200'],
    ['shared', 'master:bugs:read', DENIED],
    ['shared', 'unknown', UNKNOWN],
    ['shared', undefined, UNKNOWN],
    ['health', 'shared', '200'],
    ['health', 'sub:', '200'],
    ['health', 'setup:setup:install', DENIED],
    ['setup', 'setup:setup:install', '200'],
    ['setup', 'master:setup:install', DENIED],
    ['bare-shared', 'shared', '200'],
    ['bare-shared', 'master:bugs:read', '401 unauthorized'],
    ['bare-shared', 'unknown', '401 unauthorized'],
  ];
  for (const [path, bearer, expected] of table) {
    it(`answers ${path} with credential ${bearer ?? 'nothing'}: ${expected}`, async () => {
      const answer = await test.ask('GET', `/api/t/v1/${path}`, bearer === undefined ? {} : { bearer });
      expect(outcome(answer)).to.equal(expected);
      if (answer.status === 401) expect(answer.headers['www-authenticate']).to.equal('Bearer realm="aos"');
    });
  }

  it('rejects other authentication schemes and session cookies below /api/', async () => {
    const basic = await test.ask('GET', '/api/t/v1/read', { headers: { authorization: 'Basic YTpi' } });
    expect(outcome(basic)).to.equal(UNKNOWN);
    const cookie = await test.ask('GET', '/api/t/v1/read', { headers: { cookie: 'svc_session=session-admin' } });
    expect(outcome(cookie)).to.equal(UNKNOWN);
    const lower = await test.ask('GET', '/api/t/v1/read', { headers: { authorization: 'bearer master:bugs:read' } });
    expect(lower.status).to.equal(200);
  });

  it('rejects the registration of a session route below /api/', async () => {
    let message = '';
    try {
      await TestServer.create({ routes: [route('x', { session: 'admin' })] });
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).to.contain('/api/t/v1/x');
  });

  it('does not read the body without a credential, and returns 405 before 401', async () => {
    parsed = false;
    expect(outcome(await test.ask('POST', '/api/t/v1/post', { json: {} }))).to.equal(UNKNOWN);
    expect(outcome(await test.ask('POST', '/api/t/v1/post', { json: {}, bearer: 'master:other' }))).to.equal(DENIED);
    expect(
      outcome(await test.ask('POST', '/api/t/v1/post', { payload: '{', headers: { 'content-type': 'text/plain' } })),
    ).to.equal(UNKNOWN);
    expect(parsed).to.equal(false);
    expect(outcome(await test.ask('DELETE', '/api/t/v1/post'))).to.equal('405 method_not_allowed');
  });

  it('checks session, form token and role, in this order, on /api/admin (401, 403, 403, 200)', async () => {
    const url = '/api/admin/v1/migrate';
    const as = (role: string, headers: Record<string, string> = {}) => ({
      headers: { cookie: `svc_session=session-${role}`, ...headers },
    });
    const token = (role: string): string => Buffer.from(`csrf(session-${role})`).toString('base64url');
    expect(outcome(await test.ask('POST', url))).to.equal(UNKNOWN);
    expect(outcome(await test.ask('POST', url, { headers: { cookie: 'svc_session=gone' } }))).to.equal(UNKNOWN);
    expect(outcome(await test.ask('POST', url, as('admin')))).to.equal('403 csrf_failed');
    expect(outcome(await test.ask('POST', url, as('admin', { 'x-csrf-token': 'wrong' })))).to.equal('403 csrf_failed');
    expect(outcome(await test.ask('POST', url, as('admin', { 'x-csrf-token': token('member') })))).to.equal(
      '403 csrf_failed',
    );
    expect(outcome(await test.ask('POST', url, as('member', { 'x-csrf-token': token('member') })))).to.equal(
      '403 role_not_allowed',
    );
    expect(outcome(await test.ask('POST', url, as('admin', { 'x-csrf-token': token('admin') })))).to.equal('200');
    expect(outcome(await test.ask('GET', url, as('admin')))).to.equal('200');
    expect(outcome(await test.ask('GET', url, as('installer')))).to.equal('403 role_not_allowed');
    expect((await test.ask('POST', url, { bearer: 'shared' })).body.kind).to.equal('shared_key');
    expect(outcome(await test.ask('POST', url, { bearer: 'master:bugs:read' }))).to.equal(DENIED);
  });

  it('accepts the form token as a form or JSON field, and removes it from the input of the handler', async () => {
    const token = Buffer.from('csrf(session-admin)').toString('base64url');
    const form = await test.ask('POST', '/api/admin/v1/migrate', {
      payload: `csrf_token=${token}`,
      headers: { cookie: 'svc_session=session-admin', 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect([form.status, form.body.kind]).to.deep.equal([200, 'session']);
    const json = await test.ask('POST', '/api/admin/v1/with-body', {
      json: { a: 1, csrf_token: token },
      headers: { cookie: 'svc_session=session-admin' },
    });
    expect([json.status, json.body.body]).to.deep.equal([200, { a: 1 }]);
    const header = await test.ask('POST', '/api/admin/v1/with-body', {
      json: { a: 1 },
      headers: { cookie: 'svc_session=session-admin', 'x-csrf-token': token },
    });
    expect([header.status, header.body.body]).to.deep.equal([200, { a: 1 }]);
  });

  it('accepts the credential where the route declares it: header, query or body', async () => {
    const url = '/api/t/v1/key/7';
    expect(outcome(await test.ask('POST', url, { payload: 'x', headers: { 'x-sentry-auth': 'intake:' } }))).to.equal(
      '200',
    );
    expect(outcome(await test.ask('POST', `${url}?key=intake:`, { payload: 'x' }))).to.equal('200');
    const body = await test.ask('POST', url, { payload: 'intake:\nrest' });
    expect([body.status, body.body.bytes]).to.deep.equal([200, 12]);
    expect(outcome(await test.ask('POST', url, { payload: 'nobody\nrest' }))).to.equal(UNKNOWN);
    expect(outcome(await test.ask('POST', url))).to.equal(UNKNOWN);
  });

  it('returns 5xx instead of 401 when the token store fails', async () => {
    expect(outcome(await test.ask('GET', '/api/t/v1/read', { bearer: 'broken' }))).to.equal('500 internal_error');
  });
});
