/** What probes of HTTP take for an answer, and how they ask (contract 30, amendments: probes). */
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import zlib from 'node:zlib';
import { expect } from 'chai';
import { MemoryStore } from '../../../adapters/memory/store.js';
import type { ProbeResult } from '../../../plugins/probes/model/probe-result.js';
import { validateProbe } from '../../../plugins/probes/model/probe-schema.js';
import { projectRoot } from '../../architecture/tree.js';
import { probesOn } from './fixture.js';

describe('HTTP probes', () => {
  const servers: (http.Server | https.Server)[] = [];
  const fixture = probesOn(new MemoryStore());

  const serve = async (handle: http.RequestListener, host = '127.0.0.1'): Promise<string> => {
    const server = http.createServer({ maxHeaderSize: 200_000 }, handle);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });
  const ask = (more: object): Promise<ProbeResult> =>
    fixture.asker.run(validateProbe({ kind: 'http', timeout_ms: 10_000, ...more }));

  const TEXT = '{"state":"systems green","ü":"ß"}';
  for (const [encoding, body] of [
    ['gzip', zlib.gzipSync(TEXT)],
    ['x-gzip', zlib.gzipSync(TEXT)],
    ['br', zlib.brotliCompressSync(TEXT)],
    ['deflate', zlib.deflateSync(TEXT)],
    ['deflate', zlib.deflateRawSync(TEXT)],
    ['gzip, br', zlib.brotliCompressSync(zlib.gzipSync(TEXT))],
    ['identity', Buffer.from(TEXT)],
  ] as const)
    it(`decodes ${encoding} before it searches for texts and JSON (W18)`, async () => {
      const url = await serve((_request, response) =>
        response.writeHead(200, { 'content-encoding': encoding }).end(body),
      );
      const whole = { url, contains: 'systems green', json_path: '$.state', json_value: 'systems green' };
      expect(await ask(whole)).to.include({ ok: true, excerpt: TEXT });
      expect(await ask({ url, contains: 'red' })).to.include({ message: 'Response does not contain red' });
    });

  it('ignores a body in another encoding, which fails only checks of its text', async () => {
    const url = await serve((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('plain'),
    );
    expect(await ask({ url })).to.include({ ok: true, excerpt: null });
    expect(await ask({ url, contains: 'plain' })).to.include({
      ok: false,
      message: 'Response cannot be decoded as gzip',
    });
  });

  it('reads an endlessly decompressing body only up to its limit', async () => {
    const bomb = zlib.gzipSync(Buffer.alloc(50_000_000, 'x'));
    const url = await serve((_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb));
    expect((await ask({ url, contains: 'y' })).message).to.equal('Response does not contain y in its first 256 KiB');
  });

  it('supports other charsets, and JSON after a byte order mark (W29)', async () => {
    const url = await serve((request, response) => {
      const json = '\ufeff{"a":[{"b":"c"}]}';
      if (request.url === '/latin') response.setHeader('content-type', 'text/html; charset=iso-8859-1');
      if (request.url === '/latin') response.end(Buffer.from('schön', 'latin1'));
      else if (request.url === '/utf16') response.end(Buffer.from(json, 'utf16le'));
      else response.end(json);
    });
    expect(await ask({ url: `${url}/latin`, contains: 'schön' })).to.include({ ok: true });
    for (const path of ['/', '/utf16'])
      for (const json_path of ['a[0].b', '$.a[0].b', "$['a'][0]['b']"])
        expect(await ask({ url: url + path, json_path, json_value: 'c' }), json_path).to.include({ ok: true });
  });

  for (const [what, count, length] of [
    ['one header of 20 KiB', 1, 20_480],
    ['one header of 60 KiB', 1, 61_440],
    ['300 headers', 300, 30],
    ['headers of 64 KiB', 16, 4_080],
  ] as const)
    it(`accepts ${what} (W19)`, async () => {
      const url = await serve((_request, response) => {
        for (let i = 0; i < count; i++) response.setHeader(`x-${i}`, 'h'.repeat(length));
        response.end('ok');
      });
      expect(await ask({ url })).to.include({ ok: true, status: 200 });
    });

  it('reports the size of headers that are too long (W19)', async () => {
    const url = await serve((_request, response) => response.setHeader('x', 'h'.repeat(150_000)).end());
    expect((await ask({ url })).message).to.equal('The response headers are longer than 80 KiB');
  });

  it('reads the headers and the first bytes of an endless response (W26)', async () => {
    const url = await serve((request, response) => {
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        ...(request.url === '/zip' && { 'content-encoding': 'gzip' }),
      });
      const out = request.url === '/zip' ? zlib.createGzip() : response;
      if (out !== response) out.pipe(response);
      out.write('data: ready\n\n');
      if ('flush' in out) out.flush();
    });
    const seen = await ask({ url });
    expect(seen).to.include({ ok: true, status: 200, excerpt: 'data: ready\n\n' });
    expect(await ask({ url, contains: 'ready' })).to.include({ ok: true });
    expect(await ask({ url, contains: 'broken', timeout_ms: 500 })).to.include({
      ok: false,
      message: 'Response does not contain broken in the part received in time',
    });
    expect(await ask({ url: `${url}/zip`, contains: 'ready' })).to.include({ ok: true });
    expect(await ask({ url, keyword_absent: 'broken', timeout_ms: 500 })).to.include({ ok: true });
  });

  it('checks that a text is absent', async () => {
    const url = await serve((_request, response) => response.end('all is well'));
    expect(await ask({ url, keyword_absent: 'error' })).to.include({ ok: true });
    expect(await ask({ url, contains: 'well', keyword_absent: 'all is' })).to.include({
      ok: false,
      message: 'Response contains all is',
    });
  });

  it('accepts a failure as success when configured, but never for a forbidden address', async () => {
    const url = await serve((_request, response) => response.end('here'));
    const up = await ask({ url, inverted: true });
    expect(up.ok).to.equal(false);
    expect(up.message).to.match(/^Unexpected response: HTTP 200/);
    expect(await ask({ url, inverted: true, expected_status: '500' })).to.include({ ok: true });
    const gone = await fixture.asker.run(validateProbe({ kind: 'tcp', host: '127.0.0.1', port: 1, inverted: true }));
    expect(gone).to.include({ ok: true, message: 'No response, as expected: Connection refused' });
    const outside = probesOn(new MemoryStore(), { policy: { mode: 'public-only', allow: [] } });
    const blocked = await outside.asker.run(validateProbe({ kind: 'http', url, inverted: true }));
    expect(blocked.ok).to.equal(false);
  });

  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'GET'] as const)
    it(`sends a body with ${method}`, async () => {
      const seen: unknown[] = [];
      const url = await serve((request, response) => {
        let text = '';
        request.on('data', (chunk: Buffer) => (text += chunk.toString()));
        request.on('end', () => {
          seen.push([request.method, request.headers['content-type'], text]);
          response.end();
        });
      });
      await ask({ url, method, body: '{"q":1}' });
      await ask({ url, method, body: 'q=ü' });
      expect(seen).to.deep.equal([
        [method, 'application/json', '{"q":1}'],
        [method, 'text/plain; charset=utf-8', 'q=ü'],
      ]);
    });

  for (const [status, method, then] of [
    [307, 'POST', 'POST x'],
    [308, 'PUT', 'PUT x'],
    [302, 'POST', 'GET '],
    [303, 'PUT', 'GET '],
    [301, 'DELETE', 'DELETE x'],
    [303, 'HEAD', 'HEAD '],
  ] as const)
    it(`uses ${then.split(' ')[0]} after ${status} for ${method} (W24)`, async () => {
      const seen: string[] = [];
      const url = await serve((request, response) => {
        let text = '';
        request.on('data', (chunk: Buffer) => (text += chunk.toString()));
        request.on('end', () => {
          seen.push(`${request.method} ${text}`);
          if (request.url === '/') response.writeHead(status, { location: '/there' });
          response.end();
        });
      });
      const body = method === 'HEAD' ? {} : { body: 'x' };
      expect(await ask({ url, method, redirects: 1, ...body })).to.include({ ok: true });
      expect(seen[1]).to.equal(then);
    });

  for (const [status, method] of [
    [307, 'POST'],
    [308, 'PUT'],
    [301, 'DELETE'],
    [302, 'GET'],
  ] as const)
    it(`does not send the body of a ${method} to another origin after ${status}`, async () => {
      let requests = 0;
      const other = await serve((_request, response) => {
        requests += 1;
        response.end();
      });
      const url = await serve((_request, response) => response.writeHead(status, { location: other }).end());
      const probe = { url, method, redirects: 1 };
      expect(await ask({ ...probe, body: 'secret' })).to.include({
        ok: false,
        message: `HTTP ${status} redirects to another origin; the body was not sent`,
      });
      expect(requests).to.equal(0);
      expect(await ask(probe), 'without a body').to.include({ ok: true });
      expect(requests).to.equal(1);
    });

  it('returns cookies within a single probe, only to the host that set them (W23)', async () => {
    const elsewhere: (string | undefined)[] = [];
    const other = await serve((request, response) => {
      elsewhere.push(request.headers.cookie);
      response.end('there');
    });
    const url = await serve((request, response) => {
      const cookie = request.headers.cookie ?? '';
      if (request.url === '/login') response.writeHead(302, { location: '/shop/x' });
      else if (request.url === '/shop/x')
        response.writeHead(cookie.includes('sid=3') ? 200 : 302, {
          location: '/login',
          'set-cookie': 'sid=3; Domain=127.0.0.1; Path=/shop; HttpOnly',
        });
      else if (request.url === '/away') response.writeHead(302, { location: other.replace('127.0.0.1', 'localhost') });
      else if (!cookie.includes('seen=1'))
        response.writeHead(302, { location: '/', 'set-cookie': ['seen=1; Path=/', 'gone=x; Max-Age=0'] });
      else response.setHeader('x-cookie', cookie);
      response.end(cookie);
    });
    expect(await ask({ url, redirects: 5, contains: 'seen=1' })).to.include({ ok: true, excerpt: 'seen=1' });
    const own = { ...validateProbe({ kind: 'http', url, redirects: 5 }), headers: { Cookie: 'own=2' } };
    expect(await fixture.asker.run(own)).to.include({ ok: true, excerpt: 'own=2; seen=1' });
    expect(await ask({ url }), 'nothing of the last asking').to.include({ status: 302 });
    const shop = await ask({ url: `${url}/shop/x`, redirects: 5 });
    expect(shop, 'a cookie of a path').to.include({ ok: true, excerpt: 'sid=3' });
    await ask({ url: `${url}/away`, redirects: 5 });
    expect(elsewhere).to.deep.equal([undefined]);
  });

  it('reports too many redirects and a redirect loop (W39)', async () => {
    const url = await serve((request, response) => {
      const n = Number((request.url ?? '').slice(1)) || 0;
      const loops: Record<string, string> = { '/loop': '/loop', '/a': '/b', '/b': '/a' };
      response.writeHead(302, { location: loops[request.url ?? ''] ?? `/${n + 1}` }).end();
    });
    expect((await ask({ url, redirects: 3 })).message).to.equal('More than 3 redirects');
    for (const path of ['/loop', '/a'])
      expect((await ask({ url: url + path, redirects: 5 })).message).to.equal('More than 5 redirects, in a loop');
    expect((await ask({ url, redirects: 1 })).message).to.equal('More than 1 redirect');
    expect(await ask({ url, redirects: 3, expected_status: '302' })).to.include({ ok: true });
  });

  it('sends the configured Host header to its origin only (W25)', async () => {
    const hosts: (string | undefined)[] = [];
    const url = await serve((request, response) => {
      hosts.push(request.headers.host);
      if (request.url === '/') response.writeHead(302, { location: '/next' });
      else if (request.url === '/next')
        response.writeHead(302, { location: `${url.replace('127.0.0.1', 'localhost')}/x` });
      response.end();
    });
    const probe = { ...validateProbe({ kind: 'http', url, redirects: 3 }), headers: { Host: 'shop.example:8080' } };
    expect(await fixture.asker.run(probe)).to.include({ ok: true });
    expect(hosts).to.deep.equal([
      'shop.example:8080',
      'shop.example:8080',
      new URL(url.replace('127.0.0.1', 'localhost')).host,
    ]);
  });

  it('tries every address of a host name (W20)', async () => {
    const { port } = new URL(await serve((_request, response) => response.end('ok')));
    // The first two refuse or answer to nobody.
    const addresses = ['::1', '127.0.0.2', '127.0.0.1'].map((address) => ({ address, family: net.isIP(address) }));
    const at = (name: string): string => join(projectRoot(), 'test', 'fixtures', 'tls', name);
    const ca = await readFile(at('hook.test.pem'), 'utf8');
    const own = probesOn(new MemoryStore(), { resolve: async () => addresses, ca });
    const secure = https.createServer(
      { key: await readFile(at('hook.test.key'), 'utf8'), cert: ca },
      (_request, response) => response.end(),
    );
    servers.push(secure);
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
    const securePort = (secure.address() as AddressInfo).port;
    for (const probe of [
      { kind: 'http', url: `http://shop.test:${port}/` },
      { kind: 'tcp', host: 'shop.test', port: Number(port) },
      { kind: 'tls', host: 'hook.test', port: securePort },
      { kind: 'http', url: `https://hook.test:${securePort}/` },
    ])
      expect(await own.asker.run(validateProbe({ timeout_ms: 30_000, ...probe })), probe.kind).to.include({ ok: true });
    const none = await own.asker.run(validateProbe({ kind: 'tcp', host: 'shop.test', port: 1 }));
    expect(none.message).to.equal('Connection refused');
  });

  it('validates every address of a host name and every redirect', async () => {
    const url = await serve((_request, response) =>
      response.writeHead(302, { location: 'http://[fd00:ec2::254]/' }).end(),
    );
    expect((await ask({ url, redirects: 5 })).message).to.include('never allowed');
    const mixed = ['127.0.0.1', '169.254.169.254'].map((address) => ({ address, family: 4 }));
    const own = probesOn(new MemoryStore(), { resolve: async () => mixed });
    for (const probe of [
      { kind: 'tcp', host: 'shop.test', port: 80 },
      { kind: 'redis', host: 'shop.test' },
    ])
      expect((await own.asker.run(validateProbe(probe))).message).to.include('never allowed');
  });
});
