/**
 * Probes against real servers of this machine, well-behaved and hostile, and over several processes
 * (contract 30).
 */
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { expect } from 'chai';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { ServiceError } from '../../../kernel/errors.js';
import type { ProbeWithHeaders } from '../../../plugins/probes/model/probe.js';
import { validateProbe } from '../../../plugins/probes/model/probe-schema.js';
import { ManualClock } from '../../kit/clock.js';
import { probesOn } from './fixture.js';

describe('probes', () => {
  const servers: net.Server[] = [];
  const sockets = new Set<net.Socket>();
  const fixture = probesOn(new MemoryStore());

  async function listen(server: net.Server): Promise<number> {
    servers.push(server);
    server.on('connection', (socket: net.Socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => socket.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }
  const serve = async (handle: http.RequestListener): Promise<string> =>
    `http://127.0.0.1:${await listen(http.createServer(handle))}`;
  const raw = async (write: (socket: net.Socket) => void): Promise<string> =>
    `http://127.0.0.1:${await listen(net.createServer((socket) => write(socket)))}`;

  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  });

  const probe = (more: object): ProbeWithHeaders => validateProbe({ kind: 'http', timeout_ms: 30_000, ...more });
  const ask = (more: object) => fixture.asker.run(probe(more));

  it('check status, text and JSON values, and report the fault', async () => {
    const url = await serve((_request, response) => response.end('{"checks":[{"state":"green"}],"n":3}'));
    expect(await ask({ url, contains: 'green', json_path: 'checks[0].state', json_value: 'green' })).to.include({
      ok: true,
      status: 200,
    });
    const message = async (more: object): Promise<string> => {
      const { ok, message: text } = await ask({ url, ...more });
      expect(ok).to.equal(false);
      return text;
    };
    expect(await message({ expected_status: '204' })).to.equal('HTTP 200 (expected 204)');
    expect(await message({ contains: 'blue' })).to.equal('Response does not contain blue');
    expect(await message({ json_path: 'n', json_value: '4' })).to.equal('n is 3, expected 4');
    expect(await message({ json_path: 'm' })).to.equal('Response has no m');
  });

  it('send their headers only to the original host, not to redirect targets', async () => {
    const seen: (string | undefined)[] = [];
    const other = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.end('there');
    });
    const url = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(302, { location: `${other}/b` }).end();
    });
    const requested = { ...probe({ url, redirects: 1, contains: 'there' }), headers: { Authorization: 'Basic x' } };
    const answer = await fixture.asker.run(requested);
    expect(answer).to.deep.include({ ok: true, redirects: [`${other}/b`] });
    expect(seen).to.deep.equal(['Basic x', undefined]);
    expect((await ask({ url })).message).to.equal('HTTP 302 (expected 200-299)');
  });

  it('do not follow a redirect to a forbidden address', async () => {
    const url = await serve((_request, response) =>
      response.writeHead(302, { location: 'http://169.254.169.254/latest/' }).end(),
    );
    const answer = await ask({ url, redirects: 3 });
    expect(answer.ok).to.equal(false);
    expect(answer.message).to.include('never allowed');
  });

  it('do not follow a redirect from a public host into the internal network', async () => {
    const { deps } = fixture;
    const policies: string[] = [];
    const outbound = {
      checkUrl: () => null,
      request: async ({ url, policy }: { url: string; policy: { mode: string } }) => {
        policies.push(policy.mode);
        const first = url === 'http://shop.example/';
        const headers: Record<string, string> = first ? { location: 'http://10.0.0.1/' } : {};
        return {
          status: first ? 302 : 200,
          headers,
          body: Buffer.alloc(0),
          truncated: false,
          public: true,
          duration_ms: 1,
        };
      },
    };
    const own = probesOn(new MemoryStore());
    Object.assign(own.deps, { ...deps, outbound });
    await own.asker.run(probe({ url: 'http://shop.example/', redirects: 2 }));
    expect(policies).to.deep.equal(['private-ok', 'public-only']);
  });

  it('time out for hosts that never respond, send a wrong length or endless data, or redirect in a loop', async () => {
    const silent = await raw(() => undefined);
    const short = await raw((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nx'));
    const waiting = await raw((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nx'));
    const endless = await raw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const more = (): void => {
        while (!socket.destroyed && socket.write('x'.repeat(16_384)));
        if (!socket.destroyed) socket.once('drain', more);
      };
      more();
    });
    const headers = await raw((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(20_000)}`);
    });
    const circle: string = await serve((_request, response) => response.writeHead(302, { location: '/again' }).end());
    expect((await ask({ url: silent, timeout_ms: 500 })).message).to.match(/within \d+ ms/);
    expect((await ask({ url: short })).message).to.include('before the response was complete');
    expect(await ask({ url: waiting }), 'the headers are the answer').to.include({ ok: true });
    expect((await ask({ url: waiting, contains: 'y', timeout_ms: 500 })).message).to.include(
      'in the part received in time',
    );
    expect(await ask({ url: endless, contains: 'y' })).to.include({ ok: false });
    expect(await ask({ url: endless })).to.include({ ok: true });
    expect((await ask({ url: endless, json_path: 'a' })).message).to.include('longer than 256 KiB');
    expect(await ask({ url: headers })).to.include({ ok: false });
    const circling = await ask({ url: circle, redirects: 5 });
    expect(circling).to.include({ ok: false, message: 'More than 5 redirects, in a loop' });
    expect(circling.redirects).to.have.lengthOf(5);
  });

  it('check open and closed ports', async () => {
    const port = await listen(net.createServer((socket) => socket.end()));
    const tcp = (at: number) => fixture.asker.run(validateProbe({ kind: 'tcp', host: '127.0.0.1', port: at }));
    expect(await tcp(port)).to.include({ ok: true });
    expect((await tcp(1)).message).to.equal('Connection refused');
    const blocked = await fixture.asker.run(validateProbe({ kind: 'tcp', host: '169.254.169.254', port: 80 }));
    expect(blocked.message).to.include('never allowed');
    const plain = await listen(net.createServer((socket) => socket.end('hello\n')));
    const tls = await fixture.asker.run(validateProbe({ kind: 'tls', host: '127.0.0.1', port: plain }));
    expect(tls.message).to.match(/^TLS failed/);
  });

  describe('stored configuration', () => {
    it('encrypts headers, never shows them, and removes them when the host changes', async () => {
      const { probes, deps } = probesOn(new MemoryStore());
      const headers = { Authorization: 'Bearer hush-hush' };
      await probes.save('a', await probes.prepare({ kind: 'http', url: 'http://127.0.0.1/a', headers }, 'a'));
      expect(JSON.stringify(await probes.getView('a'))).not.to.include('hush-hush');
      expect(await probes.getView('a')).to.deep.include({ header_names: ['Authorization'] });
      await probes.save('a', await probes.prepare({ kind: 'http', url: 'http://127.0.0.1/b' }, 'a'));
      const kept = await deps.probes.get('a');
      expect(kept && probes.decrypt(kept).headers).to.deep.equal(headers);
      await probes.save('a', await probes.prepare({ kind: 'http', url: 'http://127.0.0.2/b' }, 'a'));
      expect(await probes.getView('a')).to.deep.include({ header_names: [] });
    });

    it('rejects a forbidden address on save', async () => {
      const { probes } = probesOn(new MemoryStore());
      for (const url of ['http://169.254.169.254/', 'ftp://a.test/', 'http://u:p@a.test/']) {
        const error: unknown = await probes.prepare({ kind: 'http', url }, 'a').catch((fault: unknown) => fault);
        expect(error).to.be.instanceOf(ServiceError);
        expect((error as ServiceError).fields).to.have.keys('probe.url');
      }
    });
  });

  describe('in several processes', () => {
    it('run once, fail over to another process, and stop when deleted', async () => {
      const store = new MemoryStore();
      const clock = new ManualClock();
      const one = probesOn(store, { clock, pid: 1 });
      const two = probesOn(store, { clock, pid: 2 });
      const url = await serve((_request, response) => response.end('ok'));
      for (const source of ['a', 'b', 'c']) {
        await one.probes.save(source, await one.probes.prepare({ kind: 'http', url, interval_seconds: 20 }, source));
      }
      const running = [one, two];
      const turns = async (seconds: number): Promise<void> => {
        for (let i = 0; i < seconds; i++) {
          clock.advance(1_000);
          for (const { prober } of running) {
            await prober.runTick();
            await prober.waitUntilIdle();
          }
        }
      };
      await turns(41);
      expect(two.told).to.deep.equal([]);
      for (const source of ['a', 'b', 'c']) {
        expect(
          one.told.filter((reported) => reported.source === source),
          source,
        ).to.have.lengthOf(2);
      }
      await one.probes.save('b', null);
      one.gone.add('c');
      two.gone.add('c');
      await one.prober.stop();
      running.shift();
      await turns(45);
      expect(new Set(two.told.map(({ source }) => source))).to.deep.equal(new Set(['a']));
      expect(await one.deps.probes.get('c')).to.equal(null);
      await two.prober.stop();
    });

    it('continue when the clock moves backwards', async () => {
      const { prober, probes, told: reported, clock } = probesOn(new MemoryStore());
      const url = await serve((_request, response) => response.end());
      await probes.save('a', await probes.prepare({ kind: 'http', url, interval_seconds: 20 }, 'a'));
      const seconds = async (n: number): Promise<void> => {
        for (let i = 0; i < n; i++) {
          clock.advance(1_000);
          await prober.runTick();
          await prober.waitUntilIdle();
        }
      };
      await seconds(21);
      const before = reported.length;
      expect(before).to.be.at.least(1);
      clock.set(clock.now() - 3_600_000);
      // Its lease lasts: nobody renews it while the clock is moved.
      await seconds(20);
      expect(reported.length - before).to.equal(1);
      await prober.stop();
    });

    it('fail after their retries, and recover', async () => {
      const store = new MemoryStore();
      const { prober, probes, told: reported, clock } = probesOn(store);
      let status = 500;
      const url = await serve((_request, response) => response.writeHead(status).end());
      await probes.save('a', await probes.prepare({ kind: 'http', url, interval_seconds: 30, retries: 1 }, 'a'));
      const next = async (): Promise<void> => {
        const before = reported.length;
        for (let i = 0; i < 150 && reported.length === before; i++) {
          clock.advance(1_000);
          await prober.runTick();
          await prober.waitUntilIdle();
        }
      };
      await next();
      await next();
      status = 200;
      await next();
      expect(reported.map((one) => one.status)).to.deep.equal(['warning', 'error', 'ok']);
      await prober.stop();
    });
  });
});
