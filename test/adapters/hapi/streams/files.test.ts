import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { FileAnswer, type StreamableFile, type RouteSpec } from '../../../../ports/http/index.js';
import { notFound } from '../../../../kernel/errors.js';
import { openFiles, TestServer } from '../support.js';
import { waitUntil } from '../../../harness.js';

const MIB = 1024 * 1024;

describe('hapi: file responses', () => {
  const bytes = randomBytes(3 * MIB + 17);
  const etag = `"${createHash('sha256').update(bytes).digest('hex')}"`;
  let folder: string;
  let test: TestServer;
  let opened = 0;
  let closed = 0;
  let given = 0;

  /** Pieces that stop when nobody takes them, with their end watched. */
  async function* watched(length: number): AsyncGenerator<Uint8Array> {
    opened++;
    try {
      for (let at = 0; at < length; at += MIB) {
        given += MIB;
        yield Buffer.alloc(Math.min(MIB, length - at));
      }
    } finally {
      closed++;
    }
  }
  const endless: StreamableFile = {
    size: 2_000 * MIB,
    etag: '"endless"',
    contentType: 'x/y',
    open: (a, b) => watched(b - a),
  };
  const route = (path: string, file: () => StreamableFile, more: Partial<RouteSpec> = {}): RouteSpec => ({
    method: 'GET',
    path: `/files/${path}`,
    summary: 'test',
    access: 'public',
    limits: { rate: 'none' },
    handle: () => new FileAnswer(file()).header('x-own', 'yes'),
    ...more,
  });

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-files-'));
    const path = join(folder, 'package');
    await writeFile(path, bytes);
    const real: StreamableFile = {
      size: bytes.length,
      etag,
      modifiedAt: new Date('2026-11-20T08:15:30.123Z'),
      contentType: 'application/json',
      open: (start, end) => createReadStream(path, { start, end: end - 1, highWaterMark: 256 * 1024 }),
    };
    const file = (open: StreamableFile['open'], size = 10): StreamableFile => ({ ...real, size, open });
    test = await TestServer.create(
      {
        routes: [
          route('real', () => real),
          route('kept', () => real, {
            handle: () => new FileAnswer(real).header('cache-control', 'public, max-age=60'),
          }),
          route('empty', () => file(() => createReadStream(path), 0)),
          route('endless', () => endless),
          route('gone', () =>
            file(() => ({
              [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(notFound('such file')) }),
            })),
          ),
          route('missing', () => file(() => createReadStream(join(folder, 'none')))),
          route('short', () =>
            file(async function* () {
              yield Buffer.from('12345');
            }),
          ),
          route('long', () =>
            file(async function* () {
              yield Buffer.from('123456789012345');
            }),
          ),
          route('broken', () =>
            file(async function* () {
              yield Buffer.from('12345');
              throw new Error('the disk is gone');
            }),
          ),
        ],
      },
      { maxStreams: 128 },
    );
    await test.start();
  });
  after(async () => {
    await test.stop();
    await rm(folder, { recursive: true });
  });

  const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
    fetch(`${test.url}/files/${path}`, { method, headers });

  it('sends the whole file with all headers that a client needs to resume', async () => {
    const answer = await get('real');
    expect(answer.status).to.equal(200);
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).to.equal(true);
    const of = (name: string): string | null => answer.headers.get(name);
    expect([of('etag'), of('accept-ranges'), of('content-length'), of('content-type')]).to.deep.equal([
      etag,
      'bytes',
      String(bytes.length),
      'application/json',
    ]);
    expect([of('last-modified'), of('cache-control'), of('x-own')]).to.deep.equal([
      'Fri, 20 Nov 2026 08:15:30 GMT',
      'no-cache',
      'yes',
    ]);
    expect(of('x-request-id')).to.match(/^[\w.-]{8,64}$/);
    expect(of('x-content-type-options')).to.equal('nosniff');
    expect((await get('kept', {}, 'HEAD')).headers.get('cache-control')).to.equal('public, max-age=60');
  });

  it('never compresses a file, for any type and request', async () => {
    const answer = await get('real', { 'accept-encoding': 'gzip, br' });
    expect([answer.headers.get('content-encoding'), answer.headers.get('content-length')]).to.deep.equal([
      null,
      String(bytes.length),
    ]);
    await answer.arrayBuffer();
  });

  it('sends the requested range', async () => {
    for (const [range, start, end] of [
      ['bytes=5-9', 5, 10],
      ['bytes=-20', bytes.length - 20, bytes.length],
      [`bytes=${MIB}-`, MIB, bytes.length],
    ] as const) {
      const answer = await get('real', { range });
      expect([answer.status, answer.headers.get('content-range')]).to.deep.equal([
        206,
        `bytes ${start}-${end - 1}/${bytes.length}`,
      ]);
      expect(Buffer.from(await answer.arrayBuffer()).equals(bytes.subarray(start, end))).to.equal(true);
    }
    const stale = await get('real', { range: 'bytes=5-9', 'if-range': '"older"' });
    expect([stale.status, (await stale.arrayBuffer()).byteLength]).to.deep.equal([200, bytes.length]);
  });

  it('rejects a range outside the file with 416, in the envelope', async () => {
    const answer = await get('real', { range: `bytes=${bytes.length}-` });
    expect([answer.status, answer.headers.get('content-range')]).to.deep.equal([416, `bytes */${bytes.length}`]);
    expect(((await answer.json()) as { error: { code: string } }).error.code).to.equal('invalid_request');
    const empty = await get('empty', { range: 'bytes=0-' });
    expect(empty.status).to.equal(416);
  });

  it('returns 304 and 412 without a body, and answers HEAD without reading the file', async () => {
    const same = await get('real', { 'if-none-match': etag });
    expect([same.status, same.headers.get('etag'), await same.text()]).to.deep.equal([304, etag, '']);
    expect((await get('real', { 'if-match': '"other"' })).status).to.equal(412);
    const before = opened;
    const head = await get('endless', {}, 'HEAD');
    expect([head.status, head.headers.get('content-length'), await head.text(), opened - before]).to.deep.equal([
      200,
      String(endless.size),
      '',
      0,
    ]);
    const empty = await get('empty');
    expect([empty.status, empty.headers.get('content-length'), await empty.text()]).to.deep.equal([200, '0', '']);
  });

  it('returns the usual error when the source cannot be opened', async () => {
    expect((await get('gone')).status).to.equal(404);
    expect((await get('missing')).status).to.equal(500);
  });

  it('closes the connection when the length of a file differs from the declared length', async () => {
    for (const path of ['short', 'long', 'broken']) {
      let thrown: unknown = null;
      await get(path)
        .then((answer) => answer.arrayBuffer())
        .catch((error: unknown) => (thrown = error));
      expect(thrown, path).not.to.equal(null);
    }
    expect(test.log.lines.filter(({ message }) => message.startsWith('a stream failed'))).to.have.length(3);
  });

  it('reads no faster than the client, and closes the file when the client disconnects', async () => {
    const descriptors = await openFiles();
    const before = { opened, closed, given };
    const clients = Array.from({ length: 8 }, () => test.connect());
    for (const client of clients) {
      client.socket.pause();
      await client.write('GET /files/endless HTTP/1.1\r\nHost: a\r\n\r\n');
      client.socket.resume();
      await client.until(({ received }) => received.length > 0);
      client.socket.pause();
    }
    expect(opened - before.opened).to.equal(8);
    // What the kernel's buffers take, and one piece ahead.
    expect(given - before.given).to.be.below(8 * 24 * MIB);
    for (const client of clients) client.close();
    await waitUntil('all sources are closed', () => closed - before.closed === 8);
    await waitUntil('no descriptor is left', async () => (await openFiles()) <= descriptors);
  });

  it('gives every reader its own bytes despite reused buffers, including slow and aborted readers', async () => {
    const rooms = new Set<ArrayBufferLike>();
    /** Pieces of one letter each, the whole answer of one number. */
    const lettered = (n: number): StreamableFile => ({
      size: 6 * MIB,
      etag: `"${n}"`,
      contentType: 'x/y',
      open: async function* (start, end, room) {
        for (let at = start; at < end;) {
          const buffer = room();
          rooms.add(buffer.buffer);
          await Promise.resolve();
          const piece = buffer.subarray(0, Math.min(buffer.length, end - at));
          at += piece.fill(n).length;
          yield piece;
        }
      },
    });
    const numbered = route('lettered/{n}', () => lettered(0), {
      handle: ({ params }) => new FileAnswer(lettered(Number(params['n']))),
    });
    const server = await TestServer.create({ routes: [numbered] });
    await server.start();
    const read = async (n: number): Promise<void> => {
      const { body } = await fetch(`${server.url}/files/lettered/${n}`);
      let length = 0;
      for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
        length += piece.length;
        expect(Buffer.alloc(piece.length, n).equals(piece)).to.equal(true);
        if (n % 3 === 0 && length > MIB) return;
        if (n % 3 === 1) await new Promise((resolve) => setImmediate(resolve));
      }
      expect(length).to.equal(6 * MIB);
    };
    for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 12 }, (_, i) => read(i + 1)));
    // 24 pieces each, of 36 readers.
    expect(rooms.size).to.be.below(100);
    await server.stop();
  });

  it('disconnects a client that reads nothing', async () => {
    const before = closed;
    const impatient = await TestServer.create({ routes: [route('endless', () => endless)] }, { stallMs: 300 });
    await impatient.start();
    const client = impatient.connect();
    client.socket.pause();
    await client.write('GET /files/endless HTTP/1.1\r\nHost: a\r\n\r\n');
    await waitUntil('the source is closed', () => closed === before + 1);
    client.close();
    await impatient.stop();
  });

  it('limits an address to its share of the slots, and returns 503 above it', async () => {
    const clients = Array.from({ length: 8 }, () => test.connect());
    for (const client of clients) {
      client.socket.once('data', () => client.socket.pause());
      await client.write('GET /files/endless HTTP/1.1\r\nHost: a\r\n\r\n');
      await client.until(({ received }) => received.length > 0);
    }
    const rejected = await get('endless');
    expect([rejected.status, rejected.headers.get('retry-after')]).to.deep.equal([503, '1']);
    for (const client of clients) client.close();
  });

  it('keeps the connection alive for the next request', async () => {
    const client = test.connect();
    for (let i = 1; i <= 3; i++) {
      await client.write('GET /files/real HTTP/1.1\r\nHost: a\r\nRange: bytes=0-3\r\n\r\n');
      await client.until(({ received }) => received.split('HTTP/1.1 206').length === i + 1);
    }
    expect(client.closed).to.equal(false);
    client.close();
  });

  it('answers an injected request', async () => {
    const answer = await test.ask('GET', '/files/real', { headers: { range: 'bytes=0-9' } });
    expect([answer.status, answer.headers['content-range']]).to.deep.equal([206, `bytes 0-9/${bytes.length}`]);
  });
});
