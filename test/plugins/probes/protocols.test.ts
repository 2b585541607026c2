/**
 * Probes that speak the protocol of what they ask (contract 30, amendments: probes), with servers
 * of this process.
 */
import http2 from 'node:http2';
import net, { type AddressInfo } from 'node:net';
import { expect } from 'chai';
import { BSON } from 'mongodb';
import { WebSocketServer } from 'ws';
import { MemoryStore } from '../../../adapters/memory/store.js';
import type { ProbeResult } from '../../../plugins/probes/model/probe-result.js';
import { validateProbe } from '../../../plugins/probes/model/probe-schema.js';
import { probesOn } from './fixture.js';

const { deserialize, Double, serialize } = BSON;

describe('protocol probes', () => {
  const { asker } = probesOn(new MemoryStore());
  const closing: (() => void)[] = [];
  const sockets = new Set<net.Socket>();
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    for (const close of closing.splice(0)) close();
  });

  const listen = async (server: net.Server): Promise<number> => {
    server.on('connection', (socket: net.Socket) => {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    });
    closing.push(() => server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  };
  /** Says the first text at once, and answers whatever comes with the second. */
  const speaking = (greeting: Buffer | string, answer: (requested: Buffer) => Buffer | string): Promise<number> =>
    listen(
      net.createServer((socket) => {
        if (greeting.length > 0) socket.write(greeting);
        socket.on('data', (requested: Buffer) => socket.write(answer(requested)));
      }),
    );
  const ask = async (probe: object, headers?: Record<string, string>): Promise<ProbeResult> =>
    asker.run({ ...validateProbe({ host: '127.0.0.1', timeout_ms: 5_000, ...probe }), ...(headers && { headers }) });

  const error = (fields: Record<string, string>): Buffer => {
    const body = Buffer.from(
      `${Object.entries(fields)
        .map(([name, text]) => `${name}${text}\0`)
        .join('')}\0`,
    );
    const head = Buffer.from('E0000');
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  const packet = (body: Buffer): Buffer => Buffer.concat([Buffer.from([body.length, 0, 0, 0]), body]);
  const reply = (doc: object) => (requested: Buffer) => {
    const body = Buffer.concat([Buffer.from([0, 0, 0, 0, 0]), serialize(doc)]);
    const head = Buffer.alloc(16);
    head.writeInt32LE(body.length + 16, 0);
    head.writeInt32LE(requested.readInt32LE(4), 8);
    head.writeInt32LE(2013, 12);
    return Buffer.concat([head, body]);
  };

  const pong = (requested: Buffer): Buffer => {
    const { ping, $db } = deserialize(requested.subarray(21));
    return reply({ ok: new Double(ping === 1 && $db === 'admin' ? 1 : 0) })(requested);
  };

  const CASES: readonly [
    what: string,
    kind: string,
    greeting: Buffer | string,
    answer: (requested: Buffer) => Buffer | string,
    ok: boolean,
    message: RegExp,
  ][] = [
    ['a Redis that answers', 'redis', '', () => '+PONG\r\n', true, /PONG/],
    ['a Redis with a password', 'redis', '', () => '-NOAUTH Authentication required.\r\n', true, /requires a password/],
    [
      'a Redis that loads',
      'redis',
      '',
      () => '-LOADING Redis is loading the dataset\r\n',
      false,
      /^Redis reports: LOADING/,
    ],
    ['another server than Redis', 'redis', '', () => 'HTTP/1.1 400 Bad Request\r\n\r\n', false, /not from Redis/],
    [
      'a PostgreSQL that asks who is there',
      'postgresql',
      '',
      () => Buffer.from('520000000c00000005abcdabcd', 'hex'),
      true,
      /accepts connections/,
    ],
    [
      'a PostgreSQL that knows no such user',
      'postgresql',
      '',
      () => error({ S: 'FATAL', C: '28000', M: 'no entry' }),
      true,
      /accepts/,
    ],
    [
      'a PostgreSQL that starts',
      'postgresql',
      '',
      () => error({ S: 'FATAL', C: '57P03', M: 'the database system is starting up' }),
      false,
      /starting up/,
    ],
    [
      'a PostgreSQL that is full',
      'postgresql',
      '',
      () => error({ S: 'FATAL', C: '53300', M: 'too many clients' }),
      false,
      /too many/,
    ],
    ['another server than PostgreSQL', 'postgresql', '', () => 'HTTP/1.1 400', false, /not from PostgreSQL/],
    [
      'a MySQL that greets',
      'mysql',
      packet(Buffer.from('\x0a8.4.2\0rest', 'latin1')),
      () => '',
      true,
      /version 8\.4\.2/,
    ],
    [
      'a MySQL that lets nobody in',
      'mysql',
      packet(Buffer.from('\xff\x10\x04Too many connections', 'latin1')),
      () => '',
      false,
      /Too many connections/,
    ],
    ['another server than MySQL', 'mysql', '220 mail.example ESMTP\r\n', () => '', false, /not from MySQL/],
    ['a MongoDB that answers', 'mongodb', '', pong, true, /ok$/],
    [
      'another server than MongoDB',
      'mongodb',
      '',
      () => 'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n',
      false,
      /not from MongoDB/,
    ],
    [
      'a MongoDB that fails',
      'mongodb',
      '',
      reply({ ok: 0, errmsg: 'node is recovering' }),
      false,
      /node is recovering/,
    ],
  ];
  for (const [what, kind, greeting, answer, ok, message] of CASES)
    it(`evaluates ${what}`, async () => {
      const seen = await ask({ kind, port: await speaking(greeting, answer) });
      expect(seen.message).to.match(message);
      expect(seen.ok).to.equal(ok);
    });

  it('reports a server that sends nothing, disconnects or is unreachable', async () => {
    for (const kind of ['redis', 'postgresql', 'mysql', 'mongodb']) {
      const silent = await listen(net.createServer());
      expect((await ask({ kind, port: silent, timeout_ms: 300 })).message, kind).to.match(/within 300 ms/);
      const gone = await listen(net.createServer((socket) => socket.end()));
      expect((await ask({ kind, port: gone })).message, kind).to.match(/closed before the response was complete/);
      expect((await ask({ kind, port: 1 })).message, kind).to.equal('Connection refused');
    }
  });

  it('hides content of a private address from callers without the right', async () => {
    const port = await speaking('', () => '-LOADING hunter2\r\n');
    const seen = await ask({ kind: 'redis', port });
    expect(seen).to.include({ public: false, bare_message: 'Redis reports' });
  });

  it('opens a WebSocket with the configured headers', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    closing.push(() => server.close());
    const requested: (string | undefined)[] = [];
    const codes: number[] = [];
    server.on('connection', (socket, request) => {
      requested.push(`${request.url} ${request.headers.host} ${String(request.headers['x-key'])}`);
      socket.on('close', (code) => codes.push(code));
    });
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const url = `ws://127.0.0.1:${port}/live?a=1`;
    expect(await ask({ kind: 'websocket', url }, { 'X-Key': 'hush', Host: 'shop.example' })).to.include({ ok: true });
    expect(requested).to.deep.equal(['/live?a=1 shop.example hush']);
    for (const [answer, message] of [
      ['HTTP/1.1 404 Not Found\r\n\r\n', 'HTTP 404 instead of a WebSocket'],
      ['HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: x\r\n\r\n', /did not accept the WebSocket key/],
      ['SSH-2.0-x\r\n\r\n', 'The response is not HTTP'],
    ] as const) {
      const seen = await ask({ kind: 'websocket', url: `ws://127.0.0.1:${await speaking('', () => answer)}/` });
      expect(seen.ok).to.equal(false);
      expect(seen.message).to.match(typeof message === 'string' ? new RegExp(`^${message}$`) : message);
    }
  });

  describe('gRPC', () => {
    /** Answers the health check of services by name. */
    const serve = (statuses: Readonly<Record<string, number>>): Promise<number> => {
      const server = http2.createServer();
      server.on('session', (session) => closing.push(() => session.destroy()));
      server.on('stream', (stream, headers) => {
        let requested = Buffer.alloc(0);
        stream.on('data', (chunk: Buffer) => (requested = Buffer.concat([requested, chunk])));
        stream.on('end', () => {
          const type = { ':status': 200, 'content-type': 'application/grpc' };
          const name = requested.length > 5 ? requested.subarray(7).toString() : '';
          const status = statuses[name];
          if (headers[':path'] !== '/grpc.health.v1.Health/Check')
            stream.respond({ ...type, 'grpc-status': '12' }, { endStream: true });
          else if (status === undefined) stream.respond({ ...type, 'grpc-status': '5' }, { endStream: true });
          else {
            stream.respond(type, { waitForTrailers: true });
            stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
            const message = status === 0 ? [] : [8, status];
            stream.end(Buffer.from([0, 0, 0, 0, message.length, ...message]));
          }
        });
      });
      return listen(server);
    };

    for (const [service, ok, message] of [
      ['', true, /: SERVING$/],
      ['shop.Cart', true, /: SERVING$/],
      ['shop.Pay', false, /^The service is NOT_SERVING$/],
      ['shop.New', false, /^The service is UNKNOWN$/],
      ['shop.None', false, /^gRPC reports NOT_FOUND/],
    ] as const)
      it(`queries the health of ${service || 'the server'}`, async () => {
        const port = await serve({ '': 1, 'shop.Cart': 1, 'shop.Pay': 2, 'shop.New': 0 });
        const seen = await ask({ kind: 'grpc', port, service });
        expect(seen.message).to.match(message);
        expect(seen.ok).to.equal(ok);
      });

    it('reports a server that does not support gRPC', async () => {
      const port = await speaking('', () => 'HTTP/1.1 400 Bad Request\r\n\r\n');
      expect((await ask({ kind: 'grpc', port })).message).to.equal('The response is not gRPC');
    });

    it('reports a connection closed without a response', async () => {
      for (const close of [
        (socket: net.Socket) => socket.destroy(),
        (socket: net.Socket) => socket.once('data', () => socket.end()),
        (socket: net.Socket) => socket.once('data', () => socket.resetAndDestroy()),
      ]) {
        const port = await listen(net.createServer(close));
        expect((await ask({ kind: 'grpc', port })).message).to.equal(
          'The connection was closed before the response was complete',
        );
      }
    });
  });
});
