/**
 * What is read, and for how long, of callers whose credential is not known (contract 00, limits).
 */
import { expect } from 'chai';
import { gzipSync, zstdCompressSync } from './zlib.js';
import type { PageSpec, RouteSpec } from '../../../../ports/http/index.js';
import { Reply } from '../../../../ports/http/index.js';
import { NO_LIMITS, TestServer } from '../support.js';

const KIB = 1024;

/** Like Sentry's: the key in a header, else in the first line of the body. */
const keyed: RouteSpec = {
  method: 'POST',
  path: '/api/t/v1/keyed',
  summary: 'test',
  access: { scope: 'a:b' },
  limits: { rate: 'intake', inflate: true, payload: 'raw' },
  credential: ({ headers, body }) => {
    if (body === null) return headers['x-key'] ?? null;
    return /^key=(\S+)\n/.exec((body as Buffer).toString('latin1'))?.[1] ?? null;
  },
  handle: ({ body }) => ({ bytes: (body as Buffer).length }),
};
const open: RouteSpec = {
  method: 'POST',
  path: '/api/t/v1/open',
  summary: 'test',
  access: 'public',
  limits: { payload: 'raw' },
  handle: ({ body }) => ({ bytes: (body as Buffer).length }),
};
const sign: PageSpec = {
  method: 'POST',
  path: '/sign',
  title: 'Sign',
  access: 'public',
  handle: () => new Reply(200, 'signed'),
};

const head = (path: string, length: number, more: string[] = []): string =>
  [`POST ${path} HTTP/1.1`, 'Host: x', `Content-Length: ${length}`, ...more, '', ''].join('\r\n');

describe('hapi: bodies from unauthenticated senders', () => {
  let test: TestServer;
  const routes = { routes: [keyed, open], pages: [sign] };
  before(async () => (test = await (await TestServer.create(routes)).start()));
  after(() => test.stop());

  it('finds the key in the first kilobytes in any encoding, and continues reading', async () => {
    const text = `key=master:a:b\n${'x'.repeat(200 * KIB)}`;
    const encodings: [string, Buffer][] = [
      ['identity', Buffer.from(text)],
      ['gzip', gzipSync(text)],
    ];
    if (zstdCompressSync) encodings.push(['zstd', zstdCompressSync(Buffer.from(text))]);
    for (const [encoding, payload] of encodings) {
      const taken = await test.ask('POST', keyed.path, { payload, headers: { 'content-encoding': encoding } });
      expect([taken.status, taken.body.bytes], encoding).to.deep.equal([200, text.length]);
    }
  });

  it('returns 401 after the first kilobytes, without reading the rest of the body', async () => {
    for (const [name, start] of [
      ['a wrong key', `key=unknown\n${'x'.repeat(20 * KIB)}`],
      ['no key', 'y'.repeat(20 * KIB)],
    ] as const) {
      const connection = test.connect();
      await connection.write(head(keyed.path, 500 * KIB) + start);
      await connection.until(({ received }) => received.includes('"unauthorized"'));
      expect(connection.received, name).to.match(/^HTTP\/1\.1 401 /);
      connection.close();
    }
  });

  it('inflates only the first kilobytes, so that the rest may be corrupt', async () => {
    const bytes = gzipSync(`key=unknown\n${Array.from({ length: 20_000 }, (_, i) => i * 7_919).join()}`);
    bytes.fill(0xff, Math.floor(bytes.length / 2));
    const rejected = await test.ask('POST', keyed.path, { payload: bytes, headers: { 'content-encoding': 'gzip' } });
    expect([rejected.status, rejected.code]).to.deep.equal([401, 'unauthorized']);
  });

  it('counts the address before it reads a body that may contain a key, but not for a key in a header', async () => {
    const limits = { ...NO_LIMITS, intake_per_minute: 60, intake_burst: 2 };
    const limited = await (await TestServer.create(routes, { limits })).start();
    try {
      for (const status of [401, 401, 429]) {
        const connection = limited.connect();
        await connection.write(head(keyed.path, 100, status === 429 ? [] : ['Connection: close']));
        if (status === 401) await connection.write('y'.repeat(100));
        // The third is answered although nothing of its body came.
        await connection.until(({ received }) => received.startsWith(`HTTP/1.1 ${status} `));
        connection.close();
      }
      const known = await limited.ask('POST', keyed.path, { payload: 'x', headers: { 'x-key': 'master:a:b' } });
      expect(known.status).to.equal(200);
    } finally {
      await limited.stop();
    }
  });

  it('requires 1 KiB/s from unauthenticated senders, and no minimum rate from others', async () => {
    // The rate is looked at every 5 s; the time of the whole body is far, so that the known one may
    // be late.
    const slow = await (await TestServer.create(routes, { bodyTimeoutMs: 120_000 })).start();
    const stranger = slow.connect();
    const known = slow.connect();
    await stranger.write(head(open.path, 100 * KIB) + 'x'.repeat(4 * KIB));
    await known.write(head(keyed.path, 10, ['X-Key: master:a:b']) + 'x');
    await stranger.until(({ received }) => received.includes('1024 bytes per second'));
    expect(stranger.received).to.match(/^HTTP\/1\.1 400 /);
    await known.write('x'.repeat(9));
    await known.until(({ received }) => received.includes('"bytes":10'));
    stranger.close();
    known.close();
    await slow.stop();
  });

  it('shows the error for a form that times out or is too large', async () => {
    const form = ['Content-Type: application/x-www-form-urlencoded', 'Accept: application/json'];
    const hasty = await (await TestServer.create(routes, { bodyTimeoutMs: 400 })).start();
    for (const [length, bytes, status, text] of [
      [100, 'a', 400, 'did not arrive'],
      [100 * KIB, '', 413, 'payload_too_large'],
    ] as const) {
      const connection = hasty.connect();
      await connection.write(head('/sign', length, form) + bytes);
      await connection.until(({ received }) => received.includes(text));
      expect(connection.received).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
      connection.close();
    }
    await hasty.stop();
  });

  it('returns overloaded for an evicted form, and accepts others', async () => {
    const form = ['Content-Type: application/x-www-form-urlencoded', 'Accept: application/json'];
    const small = await (
      await TestServer.create(routes, { maxBodyBytesInFlight: 512 * KIB, bodyTimeoutMs: 60_000 })
    ).start();
    const connections = [];
    for (let i = 0; i < 10; i++) {
      const connection = small.connect();
      await connection.write(head('/sign', 100, form) + 'a');
      connections.push(connection);
    }
    await connections[0]!.until(({ received }) => received.includes('"overloaded"'));
    expect(connections[0]!.received).to.match(/^HTTP\/1\.1 503 /);
    expect(connections[0]!.received).to.match(/retry-after: 1/i);
    const last = await small.ask('POST', open.path, { payload: 'x'.repeat(10) });
    expect(last.status).to.equal(200);
    for (const connection of connections) connection.close();
    await small.stop();
  });
});
