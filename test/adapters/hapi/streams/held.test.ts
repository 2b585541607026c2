/**
 * Long answers that are held while their readers take them: the same bytes on every way, and not
 * for those who do not read.
 */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { expect } from 'chai';
import { JsonText, SharedBytes, text, type Reply, type RouteSpec } from '../../../../ports/http/index.js';
import { waitUntil } from '../../../harness.js';
import { TestServer } from '../support.js';

const MIB = 1024 * 1024;
const WORDS = 'long answers, piece by piece; '.repeat(10_000);
const SHARED = new SharedBytes([Buffer.from('{"a":"'), Buffer.from(WORDS), Buffer.from('"}')]);
const LARGE = new SharedBytes([Buffer.alloc(16 * MIB, 0x61)]);

const route = (path: string, handle: () => object, more: Partial<RouteSpec> = {}): RouteSpec => ({
  method: 'GET',
  path: `/api/t/v1/${path}`,
  summary: 'test',
  access: 'public',
  limits: { rate: 'none' },
  handle,
  ...more,
});
const tagged = (): Reply => text(SHARED, 'application/json').header('etag', '"v1"');
const SPLICED = { items: new JsonText(Buffer.from(`"${'a'.repeat(16 * MIB)}"`)) };
const large = (): Reply => text(Buffer.concat(LARGE.parts), 'application/octet-stream');

interface Got {
  status: number;
  headers: Record<string, unknown>;
  bytes: Buffer;
}

/** As the bytes come: nothing is inflated. */
function ask(url: string, headers: Record<string, string> = {}, method = 'GET', localAddress?: string): Promise<Got> {
  return new Promise((resolve, reject) => {
    request(url, { method, headers, ...(localAddress && { localAddress }) }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece)).once('error', reject);
      answer.once('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes: Buffer.concat(pieces) }),
      );
    })
      .once('error', reject)
      .end();
  });
}

describe('hapi: long responses', function () {
  let test: TestServer;
  const sockets: Socket[] = [];
  before(async () => {
    test = await TestServer.create(
      {
        routes: [
          route('object', () => ({ words: WORDS })),
          route('shared', tagged),
          route('small', () => text(new SharedBytes([Buffer.from('a'), Buffer.from('b')]))),
          route('large', large),
          route('spliced', () => SPLICED),
        ],
      },
      { maxUnsentBytes: 64 * MIB },
    );
    await test.start();
  });
  after(async () => {
    for (const socket of sockets) socket.destroy();
    await test.stop();
  });

  const INFLATE = { identity: (b: Buffer) => b, gzip: gunzipSync, br: brotliDecompressSync, deflate: inflateSync };
  for (const path of ['object', 'shared']) {
    const whole =
      path === 'shared' ? Buffer.concat(SHARED.parts).toString() : JSON.stringify({ status: 'success', words: WORDS });
    it(`${path}: sends the complete response, uncompressed and compressed`, async () => {
      for (const [encoding, inflate] of Object.entries(INFLATE)) {
        const got = await ask(`${test.url}/api/t/v1/${path}`, { 'accept-encoding': encoding });
        const said = got.headers['content-encoding'] ?? 'identity';
        expect([got.status, said, got.headers['vary']]).to.deep.equal([200, encoding, 'accept-encoding']);
        expect(got.headers).to.include({
          'content-length': String(got.bytes.length),
          'x-content-type-options': 'nosniff',
        });
        expect(got.headers['x-request-id']).to.be.a('string');
        expect(inflate(got.bytes).toString() === whole).to.equal(true);
      }
      const plain = await ask(`${test.url}/api/t/v1/${path}`);
      expect(plain.bytes.toString() === whole).to.equal(true);
      const head = await ask(`${test.url}/api/t/v1/${path}`, {}, 'HEAD');
      expect([head.status, head.bytes.length]).to.deep.equal([200, 0]);
      expect(head.headers['content-length']).to.equal(String(Buffer.byteLength(whole)));
    });
  }

  it('returns 304 for a matching ETag, compressed or not', async () => {
    const url = `${test.url}/api/t/v1/shared`;
    const zipped = await ask(url, { 'accept-encoding': 'gzip' });
    for (const tag of ['"v1"', 'W/"v1"', String(zipped.headers['etag'])]) {
      const again = await ask(url, { 'accept-encoding': 'gzip', 'if-none-match': tag });
      expect([again.status, again.bytes.length], tag).to.deep.equal([304, 0]);
    }
    expect((await ask(url, { 'if-none-match': '"v2"' })).status).to.equal(200);
  });

  it('joins the parts of a short response into a single string', async () => {
    const got = await ask(`${test.url}/api/t/v1/small`);
    expect([got.bytes.toString(), got.headers['content-length']]).to.deep.equal(['ab', '2']);
  });

  /** Asks, and never reads more than the first bytes. */
  async function stuck(path: string, localAddress: string): Promise<Socket> {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(test.url).port), localAddress });
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.write(`GET /api/t/v1/${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await once(socket, 'readable');
    return socket;
  }
  const isCut = (socket: Socket): boolean => {
    socket.read();
    return socket.closed;
  };

  for (const path of ['large', 'spliced']) {
    it(`${path}: evicts a client that reads nothing for a new client, and completes all others`, async () => {
      const requested = (localAddress: string): Promise<Got> =>
        ask(`${test.url}/api/t/v1/${path}`, {}, 'GET', localAddress);
      const first = await stuck(path, '127.0.0.2');
      for (let i = 0; i < 8; i++) await stuck(path, '127.0.0.2');
      const got = await requested('127.0.0.3');
      expect([got.status, got.bytes.length >= 16 * MIB]).to.deep.equal([200, true]);
      await waitUntil('the first connection is cut', () => isCut(first));
      // The same address too, whose share its stuck answers have used up.
      expect((await requested('127.0.0.2')).bytes.length).to.be.at.least(16 * MIB);
    });
  }
});
