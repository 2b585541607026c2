/**
 * The SDK in a page, without a bundler: what `npm run build:sdk` makes, by an import map, in a real
 * Chromium. The page's server hands `/api/` on to the real service, as a site does that asks for
 * licenses; another page is of an origin of its own.
 */
import { expect } from 'chai';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { projectRoot } from '../../../architecture/tree.js';
import { CHROMIUM, launch, type TestBrowser } from '../../browser/chromium.js';
import { buildArchive } from '../../../support/release-server.js';
import { buildSdk } from '../../../support/bundled-programs.js';
import { runCliJson, TestService } from '../../../support/service.js';
import { waitUntil } from '../../../harness.js';

const ROOT = projectRoot();
const VECTORS = JSON.parse(await readFile(join(ROOT, 'test', 'fixtures', 'vectors', 'license-files.json'), 'utf8')) as {
  name: string;
  alg: string;
  public_key: string;
  file: string;
}[];
const HTML = `<!doctype html><title>a shop</title>
<script type="importmap">{ "imports": { "@aos/sdk": "/sdk/browser/index.js" } }</script>
<script type="module">window.sdk = await import('@aos/sdk');</script>`;

const suite = CHROMIUM === undefined ? describe.skip : describe;

suite('the SDK in a browser', function () {
  let service: TestService;
  let site: Server;
  let browser: TestBrowser;
  let page: Page;
  let origin: string;
  let token: string;
  let key: string;
  let pem: string;
  /** The site hands `/api/` on only while this is true. */
  let reachable = true;

  before(async () => {
    const built = await buildSdk();
    service = await TestService.createInProcess();
    await service.createProject('shop');
    token = await service.createToken(
      'bugtracker:report,bugtracker:read,watchdog:ping,updateservice:publish,license:manage',
    );
    const license = await service.request('POST', '/api/license/v1/licenses', token, {
      product: 'shop',
      licensee: 'Ada',
    });
    key = license.body['key'] as string;
    pem = (await service.request('GET', '/api/license/v1/pubkey', null)).body['public_key'] as string;
    const published = await fetch(`${service.url}/api/updateservice/v1/publish?product=shop&version=2.0`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
      body: new Uint8Array(buildArchive([{ path: 'app.txt', content: 'two' }])),
    });
    expect(published.status, await published.text()).to.equal(201);
    const bundle = await readFile(join(built, 'browser', 'index.js'));
    site = createServer((requested, response) => {
      const { url = '/', method, headers } = requested;
      if (url.startsWith('/api/')) {
        if (!reachable) return response.writeHead(502).end('<h1>Bad Gateway</h1>');
        const onward = request(service.url + url, { method, headers }, (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
        });
        return requested.pipe(onward);
      }
      const [type, body] = url.endsWith('.js') ? ['text/javascript', bundle] : ['text/html', HTML];
      return response.writeHead(200, { 'content-type': type }).end(body);
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    browser = await launch(CHROMIUM ?? '');
    page = await browser.newPage();
    await open();
  });
  after(async () => {
    await browser?.close();
    site?.closeAllConnections();
    site?.close();
    await service?.dispose();
  });

  async function open(): Promise<void> {
    await page.goto(origin);
    await page.waitForFunction('window.sdk !== undefined');
  }
  /** @param code of an async function that gets the SDK, its options and `more` */
  const inPage = (code: string, more: object = {}): Promise<unknown> => {
    const options = { server: origin, project: 'shop', token, ...more };
    return page.evaluate(
      `(async (sdk, options) => { ${code} })(window.sdk, ${JSON.stringify(options)}).catch((error) => ({ rejected: String(error) }))`,
    );
  };

  it('checks for updates, sends heartbeats and reports, as in Node', async () => {
    const check = await inPage(`return sdk.createClient(options).checkForUpdate('1.0');`);
    expect(check).to.include({ updateAvailable: true, latestVersion: '2.0', isTransient: false, fromCache: false });
    expect(await inPage(`return sdk.createClient(options).heartbeat({ source: 'kiosk-1', interval: 60 });`)).to.include(
      { sent: true, state: 'up' },
    );
    const reported = await inPage(`
      try { null.price } catch (error) { return sdk.createClient(options).captureException(error, { app_version: '1.0' }); }`);
    expect(reported).to.include({ sent: true, created: true });
    const wrong = await inPage(`return sdk.createClient(options).heartbeat({ source: 'kiosk-1' });`, { token: 'none' });
    expect(wrong).to.include({ sent: false, unauthorized: true, isTransient: false });
  });

  it('validates and verifies a license, and caches the response for offline use', async () => {
    const ask = `return sdk.createClient(options).validateLicense(options.key);`;
    const good = { status: 'active', valid: true, verified: true, isTransient: false, fromCache: false };
    expect(await inPage(ask, { key, licensePublicKey: pem })).to.deep.equal(good);
    try {
      reachable = false;
      await open();
      const cached = { ...good, isTransient: true, fromCache: true };
      expect(await inPage(ask, { key, licensePublicKey: pem })).to.deep.equal(cached);
    } finally {
      reachable = true;
    }
    const [other] = VECTORS;
    expect(await inPage(ask, { key, licensePublicKey: other?.public_key })).to.include({ status: null, valid: false });
    expect(await inPage(ask, { key: 'ABCDE', licensePublicKey: pem })).to.include({
      status: 'invalid',
      verified: true,
    });
  });

  it('verifies license files offline, with Ed25519 and RSA', async () => {
    const checks = { now: Date.parse('2026-12-01T00:00:00.000Z') };
    for (const { file, public_key, name } of VECTORS) {
      const call = `return sdk.verifyLicenseFile(options.file, options.public_key, options.checks);`;
      expect(await inPage(call, { file, public_key, checks }), name).to.include({ valid: true });
      const other = VECTORS.find((vector) => vector.name !== name)?.public_key;
      expect(await inPage(call, { file, public_key: other, checks })).to.deep.equal({
        valid: false,
        reason: 'unknown_key',
      });
      const inner = JSON.parse(Buffer.from(file.replaceAll(/^-----.*$/gm, ''), 'base64').toString()) as object;
      const lines =
        Buffer.from(JSON.stringify({ ...inner, enc: 'e30=' }))
          .toString('base64')
          .match(/.{1,64}/g) ?? [];
      const forged = ['-----BEGIN LICENSE FILE-----', ...lines, '-----END LICENSE FILE-----', ''].join('\n');
      expect(await inPage(call, { file: forged, public_key, checks })).to.deep.equal({
        valid: false,
        reason: 'wrong_signature',
      });
      expect(await inPage(call, { file, public_key: 'x', checks })).to.deep.equal({
        rejected: 'KeyRefused: is not a PEM public key (SPKI)',
      });
    }
    const lic = await fetch(`${service.url}/api/license/v1/file`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ license_key: key, product: 'shop' }),
    });
    const loaded = await inPage(`return sdk.createClient(options).loadLicenseFile(options.file);`, {
      file: await lic.text(),
      licensePublicKey: pem,
    });
    expect(loaded).to.include({ valid: true });
  });

  it('queues reports while the service is unreachable, and sends them from the next page', async () => {
    reachable = false;
    try {
      await inPage(`
        sdk.createClient(options).installGlobalHandler({ app_version: '1.0' });
        setTimeout(() => { throw new RangeError('nobody caught this'); }, 0);
        Promise.reject(new SyntaxError('nor this'));
        await new Promise((resolve) => setTimeout(resolve, 200));`);
      const queued = await inPage(`return sdk.createClient(options).reportError({ error_message: 'offline' });`);
      expect(queued).to.include({ sent: false, queued: true });
    } finally {
      reachable = true;
    }
    await open();
    expect(await inPage(`return sdk.createClient(options).flush();`)).to.equal(0);
    const { body } = await service.request('GET', '/api/bugtracker/v1/bugs?project=shop&type=error', token);
    const titles = (body['items'] as { title: string }[]).map(({ title }) => title).join('\n');
    for (const said of ['RangeError', 'SyntaxError', 'offline']) expect(titles).to.include(said);
  });

  it('uses one id per browser, and offers no features that need files', async () => {
    const id = (await inPage(`return sdk.createClient(options).machineId();`)) as string;
    expect(id).to.match(/^[0-9a-f]{64}$/);
    await open();
    expect(await inPage(`return sdk.createClient(options).machineId();`)).to.equal(id);
    expect(
      await inPage(`const c = sdk.createClient(options); return [typeof c.downloadUpdate, typeof c.launchAgent];`),
    ).to.deep.equal(['undefined', 'undefined']);
    expect(await inPage(`return sdk.createClient(options);`, { cacheDir: '/tmp' })).to.deep.equal({
      rejected: 'TypeError: cacheDir is only for Node; a page stores its cache in localStorage',
    });
    const loaded = await inPage(`return sdk.createClient(options).loadLicenseFile('/etc/shop.lic');`);
    expect(loaded).to.deep.equal({ valid: false, reason: 'unreadable' });
  });

  it('reports errors from another origin with an intake key, and cannot make other calls', async () => {
    const intake = await service.runCommand<{ key: string }>(['project', 'intake-key', 'shop']);
    const foreign = { server: service.url, token: intake.key };
    const reported = await inPage(
      `return sdk.createClient(options).reportError({ error_message: 'abroad' });`,
      foreign,
    );
    expect(reported).to.include({ sent: true, created: true });
    const check = (await inPage(`return sdk.createClient(options).checkForUpdate('1.0', 'beta');`, foreign)) as {
      isTransient: boolean;
      error: { message: string };
    };
    expect(check.isTransient).to.equal(true);
    expect(check.error.message).to.include('a page of another origin can only report errors');
  });

  it('follows `aos license-key rotate` from the pinned key, online and offline', async () => {
    const { kid } = await runCliJson<{ kid: string }>(service.env, ['license-key', 'rotate']);
    const ask = `return sdk.createClient(options).validateLicense(options.key);`;
    const question = { license_key: key, product: 'shop' };
    const signer = async (): Promise<unknown> =>
      (await service.request('POST', '/api/license/v1/validate', null, question)).body['kid'];
    await waitUntil('answers carry the new key', async () => (await signer()) === kid);
    const good = { status: 'active', valid: true, verified: true };
    expect(await inPage(ask, { key, licensePublicKey: pem })).to.include({ ...good, isTransient: false });
    const file = await fetch(`${service.url}/api/license/v1/file`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...question, machine_id: await inPage(`return sdk.createClient(options).machineId();`) }),
    });
    const load = `return sdk.createClient(options).loadLicenseFile(options.file);`;
    try {
      reachable = false;
      await open();
      expect(await inPage(ask, { key, licensePublicKey: pem })).to.include({ ...good, fromCache: true });
      expect(await inPage(load, { file: await file.text(), licensePublicKey: pem })).to.include({ valid: true });
    } finally {
      reachable = true;
    }
  });
});
