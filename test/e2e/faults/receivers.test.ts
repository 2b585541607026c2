/**
 * Receivers that misbehave, through the whole service (contract 70, attempt): one event goes to all
 * of them at once, and a good one beside them hears of it as if it were alone.
 */
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '../../harness.js';
import { TestService } from '../../support/service.js';

interface Seen {
  state: string;
  attempts: { status_code: number | null; error: string | null; excerpt: string | null; duration_ms: number }[];
  next_attempt_at: string | null;
  created_at: string;
}

/**
 * Self-signed for 127.0.0.1; null on a machine without openssl: node cannot make certificates by
 * itself.
 */
async function selfSigned(): Promise<{ key: string; cert: string } | null> {
  const folder = await mkdtemp(join(tmpdir(), 'aos-tls-'));
  const [key, cert] = [join(folder, 'key'), join(folder, 'cert')];
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  try {
    execFileSync('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    return { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') };
  } catch {
    return null;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe('faults: misbehaving webhook receivers', () => {
  const servers: (http.Server | https.Server | net.Server)[] = [];
  const sockets = new Set<net.Socket>();
  const timers = new Set<NodeJS.Timeout>();
  let service: TestService;

  after(async () => {
    await service.dispose();
    for (const timer of timers) clearInterval(timer);
    for (const socket of sockets) socket.destroy();
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  });

  async function listen(server: http.Server | https.Server | net.Server, scheme = 'http'): Promise<string> {
    servers.push(server);
    server.on('connection', (socket: net.Socket) => {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    });
    server.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  }
  const serve = (answer: (response: http.ServerResponse) => void): Promise<string> =>
    listen(http.createServer((request, response) => request.resume().on('end', () => answer(response))));
  const raw = (answer: (socket: net.Socket) => void): Promise<string> =>
    listen(net.createServer((socket) => socket.once('data', () => answer(socket))));

  it('fails each receiver with a specific error, and delays no working receiver', async () => {
    const tls = await selfSigned();
    let neverEnded = false;
    const urls: Record<string, string> = {
      late: await serve((response) => setTimeout(() => response.writeHead(204).end(), 2_000)),
      never: await serve((response) => response.once('close', () => (neverEnded = true))),
      redirect: await serve((response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()),
      endless: await serve((response) => {
        const more = (): void => {
          while (!response.destroyed && response.write('x'.repeat(16_384))) continue;
          if (!response.destroyed) response.once('drain', more);
        };
        more();
      }),
      reset: await raw((socket) => socket.resetAndDestroy()),
      'not HTTP': await raw((socket) => socket.end('220 mail.example.org ESMTP\r\n')),
      'slow headers': await raw((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nx-slow: ');
        timers.add(setInterval(() => !socket.destroyed && socket.write('y'), 500));
      }),
      silent: await listen(net.createServer()),
      gone: await serve((response) => response.writeHead(410).end()),
      busy: await serve((response) => response.writeHead(429, { 'retry-after': '100' }).end('later')),
      'no TLS': (await serve((response) => response.end())).replace('http:', 'https:'),
      ...(tls && {
        'wrong TLS': await listen(
          https.createServer(tls, (_request, response) => response.end()),
          'https',
        ),
      }),
    };
    let waited: boolean | undefined;
    const good = await serve((response) => {
      waited ??= neverEnded;
      response.writeHead(204).end();
    });
    service = await TestService.createInProcess({ SVC_LIMITS__API_PER_MINUTE: '0' });
    await service.createProject('shop');
    const token = await service.createToken('bugtracker:report,webhooks:manage');
    const ids: Record<string, string> = {};
    for (const [name, url] of Object.entries({ ...urls, good })) {
      const made = await service.request('POST', '/api/webhooks/v1/webhooks', token, { name, url, events: '*' });
      expect(made.status, JSON.stringify(made.body)).to.equal(201);
      ids[name] = (made.body['webhook'] as { id: string }).id;
    }
    const bug = { project: 'shop', title: 'a bug', file_path: 'src/a.ts' };
    expect((await service.request('POST', '/api/bugtracker/v1/report', token, bug)).status).to.equal(201);
    await waitUntil('the good one', () => waited !== undefined);
    expect(waited, 'behind the 15 s of one that never answers').to.equal(false);

    const seen = async (name: string): Promise<Seen | undefined> => {
      const { body } = await service.request('GET', `/api/webhooks/v1/webhooks/${ids[name]}/deliveries`, token);
      return (body['items'] as Seen[])[0];
    };
    const waiting = Object.keys(urls);
    await waitUntil(
      'every attempt ended',
      async () => {
        while (waiting[0] !== undefined && ((await seen(waiting[0]))?.attempts.length ?? 0) > 0) waiting.shift();
        return waiting.length === 0;
      },
      120_000,
    );
    const expected: Record<string, [state: string, status: number | null, error: RegExp | null]> = {
      late: ['success', 204, null],
      never: ['retrying', null, /^timeout: no complete response within 15000 ms$/],
      redirect: ['retrying', 302, /^HTTP 302: redirects are not followed$/],
      endless: ['success', 200, null],
      reset: ['retrying', null, /^reset: /],
      'not HTTP': ['retrying', null, /^reset: the response is not HTTP/],
      'slow headers': ['retrying', null, /^timeout: no complete response within 15000 ms$/],
      silent: ['retrying', null, /^timeout: no complete response within 15000 ms$/],
      gone: ['exhausted', 410, /^HTTP 410$/],
      busy: ['retrying', 429, /^HTTP 429$/],
      'no TLS': ['retrying', null, /^tls: /],
      'wrong TLS': ['retrying', null, /^tls: TLS failed: DEPTH_ZERO_SELF_SIGNED_CERT$/],
      good: ['success', 204, null],
    };
    for (const name of [...Object.keys(urls), 'good']) {
      const { state, attempts } = (await seen(name)) ?? expect.fail(`${name} has no delivery`);
      const [wanted, status, error] = expected[name] ?? expect.fail(name);
      expect([state, attempts[0]?.status_code], name).to.deep.equal([wanted, status]);
      if (error === null) expect(attempts[0]?.error, name).to.equal(null);
      else expect(attempts[0]?.error, name).to.match(error);
    }
    expect((await seen('endless'))?.attempts[0]?.excerpt).to.have.length(2_048);
    const busy = await seen('busy');
    const wait = Date.parse(busy?.next_attempt_at ?? '') - Date.parse(busy?.created_at ?? '');
    expect(wait, 'Retry-After').to.be.within(100_000, 130_000);
  });
});
