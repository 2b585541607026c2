/**
 * A staged rollout that real sessions stop (contract 21, release health): the unmodified SDK for
 * Node behind the proxies of two networks. Crashes of one network alone stop nothing, though nobody
 * else reports; those of a second one do.
 */
import { execFile } from 'node:child_process';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { buildPackage } from '../../../clients/demo/package-file.js';
import { waitUntil } from '../../harness.js';
import { TestService } from '../../support/service.js';

const SHOP = fileURLToPath(new URL('node/shop.mjs', import.meta.url));
const run = promisify(execFile);
/** A rollout is judged every 15 s. */
const JUDGED_MS = 60_000;

describe('rollout health with sessions of a real SDK', () => {
  let service: TestService;
  let token: string;
  const proxies: Server[] = [];
  const dsns: Record<string, string> = {};

  before(async () => {
    service = await TestService.createInProcess({
      SVC_LIMITS__INTAKE_PER_MINUTE: '0',
      SVC_SERVER__TRUSTED_PROXIES: '["127.0.0.1"]',
      SVC_RELEASES__HALT_SESSIONS: '40',
    });
    token = await service.createToken('bugtracker:read,projects:manage,updateservice:publish');
    for (const slug of ['shop', 'tools']) {
      await service.request('POST', '/api/projects/v1/projects', token, { slug });
      const { body } = await service.request('POST', `/api/projects/v1/projects/${slug}/intake-keys`, token, {});
      dsns[slug] = String(body['dsn']);
      for (const [version, rollout_percent] of [
        ['1.4.0', 100],
        ['1.5.0', 50],
      ] as const) {
        const query = `product=${slug}&version=${version}&channel=stable&rollout_percent=${rollout_percent}`;
        const { status } = await fetch(`${service.url}/api/updateservice/v1/publish?${query}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
          body: new Uint8Array(buildPackage(`${slug}.js`, version)),
        });
        expect(status).to.equal(201);
      }
    }
  });
  after(async () => {
    for (const proxy of proxies) proxy.close();
    await service?.dispose();
  });

  /** A reverse proxy as users have one, which says for whom it asks. @returns its origin */
  async function proxyOf(address: string): Promise<string> {
    const proxy = createServer((req, res) => {
      const headers = { ...req.headers, 'x-forwarded-for': address };
      const on = request(service.url + (req.url ?? ''), { method: req.method ?? 'GET', headers }, (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(res);
      });
      on.on('error', (error) => res.destroy(error));
      req.pipe(on);
    });
    proxies.push(proxy);
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  }

  /** The SDK tells of so many sessions. */
  async function sessions(slug: string, version: string, by: string, started: number, crashed: number): Promise<void> {
    const dsn = new URL(dsns[slug] ?? '');
    dsn.host = by;
    const before = (await health(slug, version)).started;
    await run(process.execPath, [SHOP, String(started), String(crashed), dsn.href, `${slug}@${version}`]);
    await waitUntil(`${started} sessions`, async () => (await health(slug, version)).started >= before + started);
  }
  async function health(slug: string, version: string): Promise<{ started: number; crashed: number }> {
    const { body } = await service.request('GET', `/api/errors/v1/health?project=${slug}&version=${version}`, token);
    return (body['versions'] as { started: number; crashed: number }[])[0] ?? { started: 0, crashed: 0 };
  }
  async function reasonOf(slug: string): Promise<string | null> {
    const { body } = await service.request('GET', `/api/updateservice/v1/releases?product=${slug}`, token);
    const found = (body['items'] as { version: string; halted_reason: string | null }[]).find(
      ({ version }) => version === '1.5.0',
    );
    return found?.halted_reason ?? null;
  }

  it('halts the rollout after crashes from two addresses, but not from one', async () => {
    const [here, there] = [await proxyOf('198.51.100.7'), await proxyOf('203.0.113.9')];
    for (const slug of ['shop', 'tools']) {
      await sessions(slug, '1.4.0', here, 60, 0);
      await sessions(slug, '1.5.0', here, 60, 6);
    }
    await sessions('tools', '1.5.0', there, 60, 6);
    await waitUntil('the rollout of tools stopped', async () => (await reasonOf('tools')) !== null, JUDGED_MS);
    expect(await reasonOf('tools')).to.match(
      /^\d\d\.\d\d % of 12\d sessions of 1\.5\.0 since \S+ were crash-free, of 1\.4\.0 100\.00 %; 2 points below stop a rollout$/,
    );
    // The same run of the job judged it.
    expect(await reasonOf('shop')).to.equal(null);
    expect(await health('shop', '1.5.0')).to.include({ crashed: 6 });
    await sessions('shop', '1.5.0', there, 3, 1);
    await waitUntil('the rollout of shop stopped', async () => (await reasonOf('shop')) !== null, JUDGED_MS);
  });
});
