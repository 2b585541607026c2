/**
 * Open questions of one address (contract 00, limits): a bucket for each kind, and a verified key
 * or password passes.
 */
import joi from 'joi';
import { expect } from 'chai';
import { ServiceError } from '../../../../kernel/errors.js';
import { Redirect, Reply, View, type BasicGuard, type PageSpec, type RouteSpec } from '../../../../ports/http/index.js';
import { NO_LIMITS, TestServer } from '../support.js';

const open = (path: string, limits: RouteSpec['limits'], more: Partial<RouteSpec> = {}): RouteSpec => ({
  method: 'GET',
  path: `/api/t/v1/${path}`,
  summary: 'test',
  access: 'public',
  limits,
  handle: () => ({}),
  ...more,
});

describe('hapi: unauthenticated requests from one address', () => {
  const pressed: boolean[] = [];
  const guard: BasicGuard = {
    realm: 'Test',
    authorize: async (given, _request, isPressed) => {
      pressed.push(isPressed);
      if (given?.password === 'right') return { open: true, username: given.username };
      return { open: false, code: 'unauthorized', message: 'No.' };
    },
  };
  const validate = open(
    'validate',
    {
      bucket: 'validate',
      proves: ({ body }, answer) =>
        answer instanceof Reply && answer.status === 200 ? `key ${(body as { key: string }).key}` : null,
    },
    {
      method: 'POST',
      input: { body: joi.object({ key: joi.string().required() }) },
      handle: ({ body }) => {
        const { key } = body as { key: string };
        if (key === 'unknown') throw new ServiceError('not_found', 'There is no such key.');
        return new Reply(key.startsWith('good') ? 200 : 203, { key });
      },
    },
  );
  const login: PageSpec = {
    method: 'POST',
    path: '/login',
    title: 'Sign in',
    access: 'public',
    limits: { bucket: 'login', proves: (_request, answer) => (answer instanceof Redirect ? 'ann' : null) },
    again: ({ message }) => new View('list', { message }),
    handle: ({ body }) =>
      (body as { password: string }).password === 'right' ? new Redirect('/') : new View('list').withStatus(401),
  };
  let test: TestServer;
  beforeEach(async () => {
    pressed.length = 0;
    test = await TestServer.create(
      {
        routes: [
          open('pubkey', undefined),
          open('check', { bucket: 'check' }),
          validate,
          { ...open('store', undefined), path: '/files/{name}', access: { basic: guard } },
        ],
        pages: [login],
      },
      { limits: { ...NO_LIMITS, public_per_minute: 3 } },
    );
  });
  const basic = (password: string) => ({ authorization: `Basic ${Buffer.from(`ann:${password}`).toString('base64')}` });
  const key = (text: string) => test.ask('POST', '/api/t/v1/validate', { json: { key: text } });
  const signIn = (password: string) =>
    test.ask('POST', '/login', {
      headers: { cookie: `svc_anon=${'a'.repeat(43)}`, 'content-type': 'application/x-www-form-urlencoded' },
      payload: `password=${password}&csrf_token=${Buffer.from(`csrf(${'a'.repeat(43)})`).toString('base64url')}`,
    });
  const all = {
    pubkey: () => test.ask('GET', '/api/t/v1/pubkey'),
    check: () => test.ask('GET', '/api/t/v1/check'),
    validate: () => key('bad'),
    store: () => test.ask('GET', '/files/a'),
    login: () => signIn('wrong'),
  };

  for (const name of Object.keys(all) as (keyof typeof all)[]) {
    it(`attack: unauthenticated requests to ${name} do not block other requests`, async () => {
      for (let i = 0; i < 3; i++) expect((await all[name]()).status).not.to.equal(429);
      for (const [other, ask] of Object.entries(all)) {
        const { status, headers } = await ask();
        expect([other, status === 429]).to.deep.equal([other, other === name]);
        if (status === 429) expect(headers).to.include.keys('retry-after', 'ratelimit-limit', 'ratelimit-reset');
      }
    });
  }

  it('checks a valid key when its address is rate-limited, and rejects an invalid key', async () => {
    for (let i = 0; i < 3; i++) await key('bad');
    for (const bad of ['bad', 'unknown']) expect((await key(bad)).status, bad).to.equal(429);
    expect((await test.ask('POST', '/api/t/v1/validate', { json: {} })).status).to.equal(429);
    // A bucket of its own.
    for (let i = 0; i < 3; i++) expect((await key('good')).status).to.equal(200);
    expect((await key('good')).status).to.equal(429);
    expect((await key('good 2')).status).to.equal(200);
  });

  it('accepts the correct store password when its address is rate-limited', async () => {
    for (let i = 0; i < 3; i++) await all.store();
    const rejected = await test.ask('GET', '/files/a', { headers: basic('wrong') });
    expect([rejected.status, rejected.code]).to.deep.equal([429, 'rate_limited']);
    expect((await test.ask('GET', '/files/a', { headers: basic('right') })).status).to.equal(200);
    expect(pressed).to.deep.equal([false, false, false, true, true]);
  });

  it('accepts the correct login password when its address is rate-limited', async () => {
    for (let i = 0; i < 3; i++) expect((await signIn('wrong')).status).to.equal(401);
    expect((await signIn('wrong')).status).to.equal(429);
    expect((await signIn('right')).status).to.equal(303);
  });
});
