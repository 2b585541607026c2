/** One line for each request, and a stop that stops listening first (contract 95, shutdown). */
import { expect } from 'chai';
import { request } from 'node:http';
import { connect } from 'node:net';
import { randomBytes } from 'node:crypto';
import { Reply, View, type RouteSpec } from '../../../../ports/http/index.js';
import { waitUntil } from '../../../harness.js';
import { fakeLogger, TestServer, type LogLine } from '../support.js';

const ID = 'request-id-of-a-test';

describe('hapi: request log', () => {
  const lines: LogLine[] = [];
  const held: (() => void)[] = [];
  const route = (path: string, more: Partial<RouteSpec> = {}): RouteSpec => ({
    method: 'GET',
    path: `/api/t/v1/${path}`,
    summary: 'test',
    access: 'public',
    limits: { rate: 'none' },
    handle: () => ({}),
    ...more,
  });
  const wait = (): Promise<object> => new Promise((resolve) => held.push(() => resolve({})));
  const routes = [
    route('plain'),
    route('{secret}/way'),
    route('token', { access: { anyToken: true } }),
    route('broken', { handle: () => Promise.reject(new Error('broken')) }),
    route('long', { handle: () => new Reply(200, { text: randomBytes(100_000).toString('hex') }) }),
    route('held', { handle: wait }),
  ];
  let test: TestServer;
  async function started(slowMs: number, all = true): Promise<void> {
    lines.length = 0;
    held.length = 0;
    test = await TestServer.create(
      { routes, pages: [{ path: '/page', title: 'Page', access: 'public', handle: () => new View('list') }] },
      { requestLog: { log: fakeLogger(lines), all, slowMs } },
    );
    await test.start();
  }
  afterEach(() => test.stop());
  /** The body of the last answer, as it came. */
  let answered = Buffer.alloc(0);
  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<string> =>
    new Promise((resolve, reject) => {
      const call = request(`${test.url}${path}`, { method, headers: { 'x-request-id': ID, ...headers } }, (answer) => {
        const pieces: Buffer[] = [];
        answer.on('data', (piece: Buffer) => pieces.push(piece));
        answer.on('end', () => {
          answered = Buffer.concat(pieces);
          resolve(answered.toString('utf8'));
        });
      });
      call.on('error', reject).end();
    });
  const line = async (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<LogLine> => {
    lines.length = 0;
    await ask(path, headers, method);
    await waitUntil('the line is written', () => lines.length > 0);
    expect(lines).to.have.length(1);
    return lines[0] as LogLine;
  };

  it('logs method, route, status, ms, bytes, request id and caller, on every path', async () => {
    await started(60_000);
    const requested: [string, string | null, number, string, Record<string, string>?, string?][] = [
      ['/api/t/v1/plain?key=secret', '/api/t/v1/plain', 200, 'nobody'],
      ['/api/t/v1/plain', '/api/t/v1/plain', 405, 'nobody', {}, 'DELETE'],
      ['/api/t/v1/secret/way', '/api/t/v1/{secret}/way', 200, 'nobody'],
      ['/api/t/v1/token', '/api/t/v1/token', 401, 'nobody', { authorization: 'Bearer secret' }],
      ['/api/t/v1/token', '/api/t/v1/token', 200, 'token master:a:b', { authorization: 'Bearer master:a:b' }],
      ['/api/t/v1/broken', '/api/t/v1/broken', 500, 'nobody'],
      ['/api/t/v1/long', '/api/t/v1/long', 200, 'nobody'],
      ['/api/secret', null, 404, 'nobody'],
      ['/api/secret', null, 404, 'token master:a:b', { authorization: 'Bearer master:a:b' }],
      ['/api/secret', null, 404, 'nobody', { authorization: 'Bearer secret' }],
      ['/api/t/v1/token', '/api/t/v1/token', 405, 'token master:a:b', { authorization: 'Bearer master:a:b' }, 'DELETE'],
      ['/page', '/page', 200, 'nobody'],
      ['/assets/site.css', '/assets/{path*}', 200, 'nobody'],
    ];
    for (const [path, known, status, who, headers, method = 'GET'] of requested) {
      const { level, data, message } = await line(path, headers, method);
      const { length } = answered;
      expect([level, message], path).to.deep.equal(['debug', 'request']);
      expect(data, path).to.include({ method, route: known, status, request_id: ID, who });
      expect(data['ms'], path).to.be.a('number');
      expect(data['bytes'], path).to.equal(length);
      expect(JSON.stringify(data), path).not.to.contain('Bearer').and.not.to.contain('secret"');
    }
  });

  it('logs clients that disconnected before the response', async () => {
    await started(60_000);
    const socket = connect(Number(new URL(test.url).port), '127.0.0.1');
    socket.write(`GET /api/t/v1/held HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${ID}\r\n\r\n`);
    await waitUntil('it is at work', () => held.length === 1);
    socket.destroy();
    await waitUntil('the line is written', () => lines.length > 0);
    expect(lines[0]?.data).to.include({ route: '/api/t/v1/held', status: 499, aborted: true, request_id: ID });
    held[0]?.();
  });

  it('logs only slow requests by default, as warnings', async () => {
    await started(-1, false);
    expect(await line('/api/t/v1/plain')).to.include({ level: 'warn', message: 'a slow request' });
    await test.stop();
    await started(60_000, false);
    await ask('/api/t/v1/plain');
    await test.stop();
    expect(lines).to.deep.equal([]);
  });

  it('stops listening while a request is in flight, and finishes that request', async () => {
    await started(60_000);
    const answer = ask('/api/t/v1/held');
    await waitUntil('it is at work', () => held.length === 1);
    const stopped = test.stop(5_000);
    const rejected = (): Promise<boolean> =>
      new Promise((resolve) => {
        const socket = connect(Number(new URL(test.url).port), '127.0.0.1');
        socket.once('connect', () => (socket.destroy(), resolve(false)));
        socket.once('error', () => resolve(true));
      });
    await waitUntil('new connections are refused', rejected);
    held[0]?.();
    expect(JSON.parse(await answer)).to.deep.equal({ status: 'success' });
    await stopped;
  });

  it('stops without delay when pipelined requests are pending on a broken connection', async () => {
    await started(60_000);
    const socket = connect(Number(new URL(test.url).port), '127.0.0.1');
    socket.write(`GET /api/t/v1/held HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(3));
    await waitUntil('the first is at work', () => held.length > 0);
    socket.destroy();
    await waitUntil('the first is over', () => lines.length > 0);
    for (const answer of held) answer();
    // Longer than a test may take.
    await test.stop(600_000);
  });

  it('answers pipelined requests sequentially, in their order', async () => {
    await started(60_000);
    const many = 3_000;
    const socket = connect(Number(new URL(test.url).port), '127.0.0.1');
    let got = '';
    socket.setEncoding('latin1').on('data', (text: string) => (got += text));
    const asking = (path: string, id: string): string =>
      `GET /api/t/v1/${path} HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${id}\r\n\r\n`;
    const ids = Array.from({ length: many }, (_, i) => `request-number-${i}`);
    socket.write(asking('held', 'request-held-1') + asking('held', 'request-held-2'));
    socket.write(ids.map((id, i) => asking(i % 3 === 0 ? 'plain' : 'secret/way', id)).join(''));
    await waitUntil('the first is at work', () => held.length === 1);
    await line('/api/t/v1/plain');
    expect([held.length, got]).to.deep.equal([1, '']);
    held[0]?.();
    await waitUntil('the second is at work', () => held.length === 2);
    held[1]?.();
    await waitUntil('all are answered', () => got.split('HTTP/1.1 200').length === many + 3);
    const answered = [...got.matchAll(/^x-request-id: (\S+)/gim)].map(([, id]) => id);
    expect(answered).to.deep.equal(['request-held-1', 'request-held-2', ...ids]);
    socket.destroy();
  });
});
