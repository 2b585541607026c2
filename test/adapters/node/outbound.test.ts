/** Real servers on this machine that misbehave in every way a webhook's receiver can. */
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import tls from 'node:tls';
import zlib from 'node:zlib';
import { expect } from 'chai';
import { NodeOutbound } from '../../../adapters/node/outbound.js';
import {
  OutboundError,
  type EgressPolicy,
  type OutboundRequest,
  type OutboundResponse,
} from '../../../ports/outbound.js';
import { projectRoot } from '../../architecture/tree.js';

const policy: EgressPolicy = { mode: 'private-ok', allow: [] };

describe('NodeOutbound', () => {
  const servers: (http.Server | net.Server)[] = [];
  const sockets = new Set<net.Socket>();
  const outbound = new NodeOutbound({
    resolve: (name) => {
      if (name === 'missing.test') return Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
      if (name === 'empty.test') return Promise.resolve([]);
      if (name === 'metadata.test') return Promise.resolve([{ address: '169.254.169.254', family: 4 }]);
      if (name === 'mixed.test') {
        return Promise.resolve([
          { address: '127.0.0.1', family: 4 },
          { address: '::ffff:169.254.169.254', family: 6 },
        ]);
      }
      if (name === 'never.test') return new Promise(() => undefined);
      return Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
    },
  });

  async function listen(server: http.Server | net.Server): Promise<number> {
    servers.push(server);
    server.on('connection', (socket: net.Socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => socket.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }
  const serve = (handle: http.RequestListener): Promise<number> => listen(http.createServer(handle));

  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  });

  const get = (url: string, more: Partial<OutboundRequest> = {}): Promise<OutboundResponse> =>
    outbound.request({ method: 'GET', url, policy, ...more });
  async function fault(work: Promise<unknown>): Promise<[string, string]> {
    try {
      await work;
    } catch (error) {
      expect(error).to.be.instanceOf(OutboundError);
      return [(error as OutboundError).fault, (error as OutboundError).message];
    }
    throw new Error('no fault');
  }

  it('sends method, body, headers and the URL’s host to the resolved address', async () => {
    const seen: unknown[] = [];
    const port = await serve((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        seen.push([
          request.method,
          request.url,
          request.headers.host,
          request.headers['x-own'],
          request.headers['content-length'],
          body,
        ]);
        response.writeHead(202, { 'x-answer': 'yes', 'set-cookie': ['a=1', 'b=2'] }).end('taken');
      });
    });
    const answer = await outbound.request({
      method: 'POST',
      url: `http://hook.test:${port}/path?q=1`,
      headers: { 'X-Own': '1', Host: 'evil.test', 'Content-Length': '9999' },
      body: 'grüße',
      policy,
    });
    expect(seen).to.deep.equal([['POST', '/path?q=1', `hook.test:${port}`, '1', '7', 'grüße']]);
    expect(answer).to.include({ status: 202, truncated: false });
    expect(answer.body.toString()).to.equal('taken');
    expect(answer.headers).to.include({ 'x-answer': 'yes', 'set-cookie': 'a=1, b=2' });
    expect(answer.duration_ms).to.be.at.least(0);
  });

  it('does not follow redirects', async () => {
    let calls = 0;
    const port = await serve((_request, response) => {
      calls++;
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    });
    expect((await get(`http://127.0.0.1:${port}/`)).status).to.equal(302);
    expect(calls).to.equal(1);
  });

  it('reads an endless body up to its limit', async () => {
    const port = await serve((_request, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(16_384))) continue;
        response.once('drain', more);
      };
      more();
    });
    const answer = await get(`http://127.0.0.1:${port}/`, { maxBytes: 100_000 });
    expect(answer.truncated).to.equal(true);
    expect(answer.body).to.have.lengthOf(100_000);
  });

  it('searches a body in chunks of one byte in linear time', async () => {
    const size = 20_000;
    const port = await listen(
      net.createServer((socket) =>
        socket.once('data', () =>
          socket.write(
            `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${[
              ...Array<string>(size).fill('x'),
              't',
              'ä',
              'x',
              't',
            ]
              .map((one) => `${Buffer.byteLength(one)}\r\n${one}\r\n`)
              .join('')}`,
          ),
        ),
      ),
    );
    // Bytes that are copied or searched.
    let work = 0;
    const concat = Buffer.concat.bind(Buffer);
    const includes = Reflect.get(Buffer.prototype, 'includes') as (this: Buffer, ...given: unknown[]) => boolean;
    Buffer.concat = (...given) => {
      const joined = concat(...given);
      work += joined.length;
      return joined;
    };
    Buffer.prototype.includes = function (this: Buffer, ...given: unknown[]) {
      work += this.length;
      return includes.apply(this, given);
    };
    try {
      const { body, truncated } = await get(`http://hook.test:${port}/`, {
        partial: { waitMs: Infinity, until: 'täxt' },
      });
      expect(body.toString()).to.equal(`${'x'.repeat(size)}täxt`);
      expect(truncated, 'the end is not waited for').to.equal(true);
      const cut = await get(`http://hook.test:${port}/`, { maxBytes: size / 2 });
      expect(cut.body.toString(), 'nor what is over the limit').to.equal('x'.repeat(size / 2));
    } finally {
      Buffer.concat = concat;
      Buffer.prototype.includes = includes;
    }
    expect(work)
      .to.be.above(size)
      .and.below(100 * size);
  });

  it('decodes a body in at most five encodings', async () => {
    const port = await serve((request, response) => {
      const layers = Number(request.url?.slice(1));
      let body: Buffer = Buffer.from('hello');
      for (let n = 0; n < layers; n++) body = zlib.gzipSync(body);
      response.writeHead(200, { 'content-encoding': Array(layers).fill('gzip').join(', ') }).end(body);
    });
    const read = async (layers: number): Promise<OutboundResponse> =>
      get(`http://hook.test:${port}/${layers}`, { decode: true });
    expect((await read(5)).body.toString()).to.equal('hello');
    expect((await read(6)).undecodable).to.equal('gzip, gzip, gzip, gzip, gzip, gzip');
  });

  it('does not mark a body of exactly the limit as truncated', async () => {
    const port = await serve((_request, response) => response.end('x'.repeat(1000)));
    expect(await get(`http://127.0.0.1:${port}/`, { maxBytes: 1000 })).to.include({ truncated: false });
  });

  it('reports a connection reset before and during the response', async () => {
    const early = await listen(net.createServer((socket) => socket.once('data', () => socket.resetAndDestroy())));
    expect(await fault(get(`http://127.0.0.1:${early}/`))).to.deep.equal([
      'reset',
      'the connection was closed before the response was complete',
    ]);
    const late = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('part', () => response.socket?.destroy());
    });
    expect((await fault(get(`http://127.0.0.1:${late}/`)))[0]).to.equal('reset');
  });

  it('reports a response that is not HTTP or has endless headers', async () => {
    const port = await listen(net.createServer((socket) => socket.once('data', () => socket.end('SSH-2.0-x\r\n'))));
    expect((await fault(get(`http://127.0.0.1:${port}/`)))[1]).to.match(/^the response is not HTTP: HPE_/);
    const endless = await listen(
      net.createServer((socket) =>
        socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}`)),
      ),
    );
    expect((await fault(get(`http://127.0.0.1:${endless}/`)))[1]).to.equal(
      'the response headers are longer than 80 KiB',
    );
  });

  it('reports a refused connection', async () => {
    const server = net.createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    expect(await fault(get(`http://127.0.0.1:${port}/`))).to.deep.equal(['connect', 'connection refused']);
  });

  it('times out on a silent server, a slow server, and a resolver that does not respond', async () => {
    const silent = await listen(net.createServer());
    expect(await fault(get(`http://127.0.0.1:${silent}/`, { timeoutMs: 80 }))).to.deep.equal([
      'timeout',
      'no complete response within 80 ms',
    ]);
    const trickle = await serve((_request, response) => {
      const timer = setInterval(() => response.write('.'), 10);
      response.on('close', () => clearInterval(timer));
    });
    expect((await fault(get(`http://127.0.0.1:${trickle}/`, { timeoutMs: 150 })))[0]).to.equal('timeout');
    expect(await fault(get('http://never.test/', { connectTimeoutMs: 50 }))).to.deep.equal([
      'timeout',
      'no connection within 50 ms',
    ]);
  });

  it('counts an endless TLS handshake towards the connect timeout', async () => {
    const port = await listen(net.createServer());
    expect(await fault(get(`https://127.0.0.1:${port}/`, { connectTimeoutMs: 80 }))).to.deep.equal([
      'timeout',
      'no connection within 80 ms',
    ]);
  });

  it('blocks literal addresses, and names of which any resolved address is blocked', async () => {
    expect(await fault(get('http://169.254.169.254/'))).to.deep.equal([
      'blocked',
      'the address 169.254.169.254 is never allowed',
    ]);
    expect(await fault(get('http://metadata.test/'))).to.deep.equal([
      'blocked',
      'metadata.test: the address 169.254.169.254 is never allowed',
    ]);
    expect((await fault(get('http://mixed.test/')))[0]).to.equal('blocked');
    const publicOnly = { mode: 'public-only', allow: [] } as const;
    expect(await fault(get('http://hook.test/', { policy: publicOnly }))).to.deep.equal([
      'blocked',
      'hook.test: the address 127.0.0.1 is not a public one',
    ]);
  });

  it('allows a configured network under public-only', async () => {
    const port = await serve((_request, response) => response.end('ok'));
    const allowed = { mode: 'public-only', allow: ['127.0.0.0/8'] } as const;
    expect((await get(`http://hook.test:${port}/`, { policy: allowed })).status).to.equal(200);
  });

  it('resolves a name once, so that DNS rebinding has no effect', async () => {
    const port = await serve((_request, response) => response.end('ok'));
    let requested = 0;
    const rebinding = new NodeOutbound({
      resolve: () => Promise.resolve([{ address: requested++ === 0 ? '127.0.0.1' : '169.254.169.254', family: 4 }]),
    });
    expect((await rebinding.request({ method: 'GET', url: `http://rebind.test:${port}/`, policy })).status).to.equal(
      200,
    );
    expect(requested).to.equal(1);
  });

  it('reports DNS errors, invalid URLs and invalid headers', async () => {
    expect(await fault(get('http://missing.test/'))).to.deep.equal([
      'dns',
      'missing.test cannot be resolved: ENOTFOUND',
    ]);
    expect(await fault(get('http://empty.test/'))).to.deep.equal(['dns', 'empty.test has no address']);
    expect((await fault(get('gopher://x/')))[0]).to.equal('invalid_url');
    expect((await fault(get('http://u:p@hook.test/')))[0]).to.equal('invalid_url');
    const headers = { 'x-bad': 'a\r\nb: c' };
    expect((await fault(get('http://hook.test/', { headers })))[0]).to.equal('invalid_url');
    expect(outbound.checkUrl('http://[::]/', policy)).to.equal('the address :: is never allowed');
    expect(outbound.checkUrl('http://hook.test/', policy)).to.equal(null);
  });

  describe('with reused connections', () => {
    /** Which connection, by its order, each request came on. */
    async function counted(): Promise<{ port: number; on: number[]; kept: net.Socket[] }> {
      const on: number[] = [];
      const kept: net.Socket[] = [];
      const server = http.createServer((request, response) => {
        on.push(kept.indexOf(request.socket));
        request.resume().on('end', () => response.end('ok'));
      });
      server.on('connection', (socket: net.Socket) => kept.push(socket));
      return { port: await listen(server), on, kept };
    }

    it('serves the next request to the same origin and addresses', async () => {
      const { port, on } = await counted();
      for (let i = 0; i < 3; i++) await get(`http://hook.test:${port}/${i}`);
      expect(on).to.deep.equal([0, 0, 0]);
      await Promise.all([get(`http://hook.test:${port}/`), get(`http://hook.test:${port}/`)]);
      expect(on.toSorted((a, b) => a - b)).to.deep.equal([0, 0, 0, 0, 1]);
    });

    it('serves no other name, and no other addresses of the same name', async () => {
      const { port, on } = await counted();
      await get(`http://hook.test:${port}/`);
      await get(`http://other.test:${port}/`);
      expect(on).to.deep.equal([0, 1]);
      let addresses = [{ address: '127.0.0.1', family: 4 }];
      const moving = new NodeOutbound({ resolve: () => Promise.resolve(addresses) });
      const ask = (): Promise<OutboundResponse> =>
        moving.request({ method: 'GET', url: `http://moving.test:${port}/`, policy });
      await ask();
      addresses = [
        { address: '127.0.0.1', family: 4 },
        { address: '127.0.0.2', family: 4 },
      ];
      await ask();
      expect(on).to.deep.equal([0, 1, 2, 3]);
      addresses = [{ address: '169.254.169.254', family: 4 }];
      expect((await fault(ask()))[0], 'a kept connection does not outlive the check').to.equal('blocked');
      addresses = [{ address: '127.0.0.1', family: 4 }];
      const publicOnly = { mode: 'public-only', allow: [] } as const;
      const rejected = moving.request({ method: 'GET', url: `http://moving.test:${port}/`, policy: publicOnly });
      expect((await fault(rejected))[0], 'nor another policy').to.equal('blocked');
    });

    it('replaces a reused connection once when the server has closed it', async () => {
      const { port, on, kept } = await counted();
      await get(`http://hook.test:${port}/`);
      kept[0]?.destroy();
      expect((await get(`http://hook.test:${port}/`)).status).to.equal(200);
      expect(on).to.deep.equal([0, 1]);
      let calls = 0;
      const rude = await listen(
        net.createServer((socket) =>
          socket.on('data', () => {
            calls += 1;
            if (calls === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
            else socket.resetAndDestroy();
          }),
        ),
      );
      expect((await get(`http://hook.test:${rude}/`)).status).to.equal(200);
      expect((await fault(get(`http://hook.test:${rude}/`)))[0]).to.equal('reset');
      expect(calls).to.equal(3);
    });

    it('closes the connection after a response that was not read completely', async () => {
      let n = 0;
      const seen = new Set<net.Socket>();
      const port = await serve((request, response) => {
        n += 1;
        seen.add(request.socket);
        response.end('x'.repeat(n === 1 ? 500_000 : 1));
      });
      expect((await get(`http://hook.test:${port}/`, { maxBytes: 1_000 })).truncated).to.equal(true);
      expect((await get(`http://hook.test:${port}/`)).body.toString()).to.equal('x');
      expect(seen.size).to.equal(2);
    });
  });

  describe('with TLS', () => {
    /** For `hook.test`, signed by itself, for a hundred years. */
    let key: string;
    let cert: string;
    before(async () => {
      const at = (name: string): string => join(projectRoot(), 'test', 'fixtures', 'tls', name);
      key = await readFile(at('hook.test.key'), 'utf8');
      cert = await readFile(at('hook.test.pem'), 'utf8');
    });

    const secure = (seen: (string | false | undefined)[] = []): Promise<number> =>
      listen(
        https.createServer({ key, cert }, (request, response) => {
          seen.push((request.socket as { servername?: string | false }).servername);
          response.end('ok');
        }),
      );

    it('rejects a self-signed certificate', async () => {
      expect(await fault(get(`https://hook.test:${await secure()}/`))).to.deep.equal([
        'tls',
        'TLS failed: DEPTH_ZERO_SELF_SIGNED_CERT',
      ]);
    });

    it('accepts a trusted certificate for the host of the URL, sends SNI, and rejects another host', async () => {
      const seen: (string | false | undefined)[] = [];
      const port = await secure(seen);
      const trusting = new NodeOutbound({
        ca: cert,
        resolve: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
      });
      expect((await trusting.request({ method: 'GET', url: `https://hook.test:${port}/`, policy })).status).to.equal(
        200,
      );
      expect(seen).to.deep.equal(['hook.test']);
      const other = trusting.request({ method: 'GET', url: `https://other.test:${port}/`, policy });
      expect(await fault(other)).to.deep.equal(['tls', 'TLS failed: ERR_TLS_CERT_ALTNAME_INVALID']);
    });

    it('checks the certificate of a reused connection against the host of each request', async () => {
      const at = (name: string): string => join(projectRoot(), 'test', 'fixtures', 'tls', name);
      const pem = await readFile(at('1.2.3.4.pem'), 'utf8');
      const server = https.createServer(
        { key: await readFile(at('1.2.3.4.key'), 'utf8'), cert: pem },
        (_request, response) => response.end('ok'),
      );
      const url = `https://127.0.0.1:${await listen(server)}/`;
      expect((await get(url, { tls: { ca: pem }, host: '1.2.3.4' })).status).to.equal(200);
      expect(await fault(get(url, { tls: { ca: pem } }))).to.deep.equal([
        'tls',
        'TLS failed: ERR_TLS_CERT_ALTNAME_INVALID',
      ]);
      expect(await fault(get(url, { host: '1.2.3.4' })), 'nor for other authorities').to.deep.equal([
        'tls',
        'TLS failed: DEPTH_ZERO_SELF_SIGNED_CERT',
      ]);
    });

    it('parses the root certificates once per authority', async () => {
      const port = await secure();
      const { createSecureContext } = tls;
      let made = 0;
      const counting = (options?: tls.SecureContextOptions): tls.SecureContext => {
        if (options?.ca !== undefined) made += 1;
        return createSecureContext(options);
      };
      tls.createSecureContext = counting;
      try {
        const own = `${cert}\n`;
        for (let n = 0; n < 3; n++) {
          const agent = new NodeOutbound({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] });
          const url = `https://hook.test:${port}/`;
          expect((await agent.request({ method: 'GET', url, policy, tls: { ca: own } })).status).to.equal(200);
        }
      } finally {
        tls.createSecureContext = createSecureContext;
      }
      expect(made).to.equal(1);
    });

    it('reports a server without TLS', async () => {
      const port = await serve((_request, response) => response.end());
      expect((await fault(get(`https://hook.test:${port}/`)))[0]).to.equal('tls');
    });
  });
});
