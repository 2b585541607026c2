import { expect } from 'chai';
import joi from 'joi';
import { TokenBuckets } from '../../../../adapters/hapi/limits/rate-limits.js';
import {
  Reply,
  type PageSpec,
  type Principal,
  type RouteSpec,
  type TokenPrincipal,
} from '../../../../ports/http/index.js';
import { gzipSync } from './zlib.js';
import { fakeAuthenticator, FakeClock, NO_LIMITS, TestServer, tokenOf, type Asked } from '../support.js';

const route = (path: string, more: Partial<RouteSpec> = {}): RouteSpec => ({
  method: 'GET',
  path: `/api/t/v1/${path}`,
  summary: 'test',
  access: [{ anyToken: true }, { sharedKey: true }],
  handle: ({ address }) => ({ address }),
  ...more,
});
const statuses = async (times: number, ask: () => Promise<Asked>): Promise<number[]> => {
  const seen: number[] = [];
  for (let i = 0; i < times; i++) seen.push((await ask()).status);
  return seen;
};

describe('hapi: rate limits', () => {
  it('counts per token, refills evenly, and returns Retry-After', async () => {
    const test = await TestServer.create({ routes: [route('api')] }, { limits: { ...NO_LIMITS, api_per_minute: 3 } });
    const ask = (bearer: string) => test.ask('GET', '/api/t/v1/api', { bearer });
    expect(await statuses(4, () => ask('master#1:'))).to.deep.equal([200, 200, 200, 429]);
    const rejected = await ask('master#1:');
    expect(rejected.code).to.equal('rate_limited');
    expect(rejected.headers).to.include({
      'retry-after': '20',
      'ratelimit-limit': '3',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '60',
    });
    expect((await ask('master#2:')).status).to.equal(200);
    expect(await statuses(5, () => ask('shared'))).to.deep.equal([200, 200, 200, 200, 200]);
    test.clock.at += 20_000;
    expect(await statuses(2, () => ask('master#1:'))).to.deep.equal([200, 429]);
  });

  it('charges an intake request for its uncompressed bytes', async () => {
    const spec = route('taken', {
      method: 'POST',
      limits: { rate: 'intake', inflate: true, payload: 'raw' },
      handle: () => ({}),
    });
    const limits = { ...NO_LIMITS, intake_per_minute: 60, intake_burst: 10 };
    const test = await TestServer.create({ routes: [spec] }, { limits });
    const send = (bytes: number): Promise<Asked> =>
      test.ask('POST', spec.path, {
        bearer: 'master#1:',
        payload: gzipSync(Buffer.alloc(bytes)),
        headers: { 'content-encoding': 'gzip' },
      });
    // Eight units, one, and then one is left.
    expect([(await send(1_000_000)).status, (await send(100_000)).status]).to.deep.equal([200, 200]);
    expect([(await send(1_000_000)).status, (await send(100)).status]).to.deep.equal([429, 429]);
    test.clock.at += 60_000;
    expect((await send(8_000_000)).status).to.equal(200);
  });

  it('gives each process its share of the limit, and the full limit to the last remaining process', () => {
    const clock = new FakeClock();
    let processes = 3;
    const all = Array.from({ length: 3 }, () => new TokenBuckets(30, 30, clock, () => processes));
    const taken = (buckets: TokenBuckets): number => {
      let n = 0;
      while (buckets.take('a')) n++;
      return n;
    };
    expect(all.map(taken)).to.deep.equal([10, 10, 10]);
    const [first = all[0]] = all;
    expect(first?.toFailure('a').more.headers).to.include({
      'retry-after': '6',
      'ratelimit-limit': '30',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '60',
    });
    clock.at += 60_000;
    expect(all.map(taken)).to.deep.equal([10, 10, 10]);
    processes = 1;
    clock.at += 60_000;
    expect(first && taken(first)).to.equal(30);
    processes = 40;
    clock.at += 3_600_000;
    expect(all.map(taken), 'one call at least').to.deep.equal([1, 1, 1]);
    // A call that costs more than a part passes when the part is full.
    processes = 3;
    clock.at += 60_000;
    expect(first?.take('a', 20)).to.equal(true);
    expect(first?.take('a')).to.equal(false);
  });

  it('counts sub-tokens towards their master token', async () => {
    const bearer = async (secret: string): Promise<Principal | null> => {
      const [id, parent_id = null] = secret.split('<');
      return { ...(tokenOf(parent_id === null ? 'master' : 'sub') as TokenPrincipal), id: id!, parent_id };
    };
    const test = await TestServer.create(
      { routes: [route('api')] },
      { limits: { ...NO_LIMITS, api_per_minute: 3 } },
      { ...fakeAuthenticator, authenticateBearer: bearer },
    );
    const ask = (secret: string) => test.ask('GET', '/api/t/v1/api', { bearer: secret });
    const seen: number[] = [];
    for (const secret of ['m', 'a<m', 'b<m', 'c<m', 'm', 'other', 'd<other']) seen.push((await ask(secret)).status);
    expect(seen).to.deep.equal([200, 200, 200, 429, 429, 200, 200]);
  });

  it('counts page requests per session', async () => {
    const page: PageSpec = {
      path: '/list',
      title: 'List',
      access: { session: 'member' },
      handle: () => new Reply(200, 'x'),
    };
    const save: PageSpec = { ...page, method: 'POST', path: '/save' };
    const test = await TestServer.create({ pages: [page, save] }, { limits: { ...NO_LIMITS, api_per_minute: 2 } });
    const ask = (role: string, method = 'GET', path = '/list') =>
      test.ask(method, path, { headers: { cookie: `svc_session=session-${role}`, accept: 'text/html' } });
    expect(await statuses(3, () => ask('member'))).to.deep.equal([200, 200, 429]);
    const rejected = await ask('member');
    expect(rejected.text).to.contain('rate_limited');
    expect(rejected.headers['retry-after']).to.equal('30');
    expect((await ask('member', 'POST', '/save')).status).to.equal(429);
    expect((await ask('admin')).status).to.equal(200);
  });

  it('counts every element of an intake array, and accepts a call larger than a bucket', async () => {
    const intake = route('intake', {
      method: 'POST',
      input: { body: joi.array().items(joi.any()) },
      limits: { rate: 'intake', cost: (body) => (body as unknown[]).length },
      handle: () => ({}),
    });
    const test = await TestServer.create(
      { routes: [intake] },
      { limits: { ...NO_LIMITS, intake_per_minute: 60, intake_burst: 10 } },
    );
    const ask = (n: number) =>
      test.ask('POST', '/api/t/v1/intake', { bearer: 'master:', json: Array.from({ length: n }, () => 1) });
    expect((await ask(8)).status).to.equal(200);
    const rejected = await ask(5);
    expect([rejected.status, rejected.headers['ratelimit-limit']]).to.deep.equal([429, '10']);
    expect((await ask(1)).status).to.equal(200);
    test.clock.at += 60_000;
    expect((await ask(25)).status).to.equal(200);
    test.clock.at += 14_000;
    expect((await ask(1)).status).to.equal(429);
    test.clock.at += 2_000;
    expect((await ask(1)).status).to.equal(200);
  });

  it('counts bulk calls separately, and does not count probes', async () => {
    const test = await TestServer.create(
      {
        routes: [
          route('bulk', { limits: { rate: 'bulk' } }),
          route('probe', { access: 'public', limits: { rate: 'none' } }),
          route('api'),
        ],
      },
      { limits: { ...NO_LIMITS, bulk_per_minute: 1, api_per_minute: 1, public_per_minute: 1 } },
    );
    expect(await statuses(2, () => test.ask('GET', '/api/t/v1/bulk', { bearer: 'master:' }))).to.deep.equal([200, 429]);
    expect((await test.ask('GET', '/api/t/v1/api', { bearer: 'master:' })).status).to.equal(200);
    expect(await statuses(3, () => test.ask('GET', '/api/t/v1/probe'))).to.deep.equal([200, 200, 200]);
  });

  it('counts unauthenticated requests per address, with X-Forwarded-For from trusted proxies only', async () => {
    const open = route('open', { access: 'public' });
    const limits = { ...NO_LIMITS, public_per_minute: 2 };
    const ask = (test: TestServer, forwarded: string) =>
      test.ask('GET', '/api/t/v1/open', { headers: { 'x-forwarded-for': forwarded } });
    const behind = await TestServer.create(
      { routes: [open] },
      { limits, trusted_proxies: ['127.0.0.0/8', '10.0.0.1'] },
    );
    expect((await ask(behind, '1.1.1.1')).body.address).to.equal('1.1.1.1');
    expect((await ask(behind, '6.6.6.6, 1.1.1.1, 10.0.0.1')).body.address).to.equal('1.1.1.1');
    expect((await ask(behind, '9.9.9.9, 1.1.1.1')).status).to.equal(429);
    expect((await ask(behind, '2.2.2.2')).status).to.equal(200);
    expect((await ask(behind, '2001:db8::1')).status).to.equal(200);
    expect((await ask(behind, '2001:db8::2')).status).to.equal(200);
    expect((await ask(behind, '2001:db8::3')).status).to.equal(429);
    const direct = await TestServer.create({ routes: [open] }, { limits });
    expect((await ask(direct, '1.1.1.1')).body.address).to.equal('127.0.0.1');
    expect((await ask(direct, '2.2.2.2')).status).to.equal(200);
    expect((await ask(direct, '3.3.3.3')).status).to.equal(429);
  });

  it('returns 429 when the failure limit is exhausted, and still accepts valid credentials', async () => {
    const test = await TestServer.create(
      { routes: [route('api')] },
      { limits: { ...NO_LIMITS, auth_failures_per_minute: 3 } },
    );
    const bad = () => test.ask('GET', '/api/t/v1/api', { bearer: 'unknown' });
    expect(await statuses(5, bad)).to.deep.equal([401, 401, 401, 429, 429]);
    const rejected = await bad();
    expect([rejected.code, rejected.headers['retry-after'], rejected.headers['ratelimit-limit']]).to.deep.equal([
      'rate_limited',
      '20',
      '3',
    ]);
    expect((await test.ask('GET', '/api/t/v1/api')).status).to.equal(429);
    expect((await test.ask('GET', '/api/t/v1/api', { bearer: 'master:' })).status).to.equal(200);
    test.clock.at += 20_000;
    expect((await bad()).status).to.equal(401);
  });

  it('evicts the least recently used entry and stays bounded', () => {
    const buckets = new TokenBuckets(60, 1, new FakeClock(), () => 1, 3);
    expect(['a', 'b', 'c'].map((key) => buckets.take(key))).to.deep.equal([true, true, true]);
    expect(buckets.take('a')).to.equal(false);
    expect(buckets.take('d')).to.equal(true);
    expect(buckets.entries).to.equal(3);
    expect([buckets.take('a'), buckets.take('b')]).to.deep.equal([false, true]);
  });
});

describe('hapi: overload and shutdown', () => {
  it('returns 503 overloaded above the limit, except for probes', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const routes = [
      route('slow', { access: 'public', handle: async () => (await gate, {}) }),
      route('probe', { access: 'public', limits: { rate: 'none' } }),
    ];
    const test = await TestServer.create({ routes }, { maxInFlight: 1 });
    const slow = test.ask('GET', '/api/t/v1/slow');
    const rejected = await test.ask('GET', '/api/t/v1/slow');
    expect([rejected.status, rejected.code, rejected.headers['retry-after']]).to.deep.equal([503, 'overloaded', '1']);
    expect((await test.ask('GET', '/api/t/v1/probe')).status).to.equal(200);
    release();
    expect((await slow).status).to.equal(200);
    expect((await test.ask('GET', '/api/t/v1/slow')).status).to.equal(200);
  });

  it('rejects a body above the body budget, and releases the bytes of others', async () => {
    const take = route('take', { method: 'POST', input: { body: joi.object().unknown() }, handle: () => ({}) });
    const test = await TestServer.create({ routes: [take] }, { maxBodyBytesInFlight: 80 * 1024 });
    const ask = (n: number) => test.ask('POST', '/api/t/v1/take', { bearer: 'master:', json: { a: 'x'.repeat(n) } });
    const rejected = await ask(8_000);
    expect([rejected.status, rejected.code, rejected.headers['retry-after']]).to.deep.equal([503, 'overloaded', '1']);
    expect(await statuses(30, () => ask(1_000))).to.deep.equal(Array.from({ length: 30 }, () => 200));
  });

  it('finishes in-flight requests on stop, rejects new requests, and closes idle connections', async () => {
    let release = (): void => undefined;
    let entered = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const inside = new Promise<void>((resolve) => (entered = resolve));
    const slow = route('slow', { access: 'public', handle: async () => (entered(), await gate, { done: true }) });
    const test = await (await TestServer.create({ routes: [slow, route('fast', { access: 'public' })] })).start();
    const idle = test.connect();
    await idle.write('GET /api/t/v1/fast HTTP/1.1\r\nHost: x\r\n\r\n');
    await idle.until(({ received }) => received.includes('success'));
    const busy = test.connect();
    await busy.write('GET /api/t/v1/slow HTTP/1.1\r\nHost: x\r\n\r\n');
    await inside;
    const stopped = test.stop(5_000);
    await idle.until(({ closed }) => closed);
    const late = await test.ask('GET', '/api/t/v1/fast');
    expect([late.status, late.code, late.headers['connection']]).to.deep.equal([503, 'not_ready', 'close']);
    release();
    await busy.until(({ closed }) => closed);
    expect(busy.received).to.contain('"done":true');
    expect(busy.received).to.match(/connection: close/i);
    await stopped;
  });

  it('stops within the time limit when a handler never returns', async () => {
    let entered = (): void => undefined;
    const inside = new Promise<void>((resolve) => (entered = resolve));
    const signals: AbortSignal[] = [];
    const stuck = route('stuck', {
      access: 'public',
      handle: ({ signal }) =>
        new Promise<object>(
          (resolve) => (signals.push(signal), entered(), signal.addEventListener('abort', () => resolve({}))),
        ),
    });
    const test = await (await TestServer.create({ routes: [stuck] })).start();
    const connection = test.connect();
    await connection.write('GET /api/t/v1/stuck HTTP/1.1\r\nHost: x\r\n\r\n');
    await inside;
    await test.stop(50);
    await connection.until(({ closed }) => closed && signals[0]?.aborted === true);
  });

  it('ends long-polling requests on stop, and does not abort running requests', async () => {
    let entered = (): void => undefined;
    const inside = new Promise<void>((resolve) => (entered = resolve));
    const patient = route('patient', {
      access: 'public',
      handle: ({ signal, waiting }) =>
        new Promise<object>((resolve) => {
          waiting.addEventListener('abort', () => resolve({ gone: signal.aborted }));
          entered();
        }),
    });
    const test = await (await TestServer.create({ routes: [patient] })).start();
    const connection = test.connect();
    await connection.write('GET /api/t/v1/patient HTTP/1.1\r\nHost: x\r\n\r\n');
    await inside;
    const stopped = test.stop(5_000);
    await connection.until(({ closed }) => closed);
    expect(connection.received).to.contain('"gone":false');
    await stopped;
  });
});
