/**
 * Sessions of unmodified SDKs: requests of Python and Node, page loads of Chromium (contract 21,
 * release health). Needs what `prepare.sh` gets.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { VersionHealth } from '../../../ports/domain/release-health.js';
import { buildPackage } from '../../../clients/demo/package-file.js';
import { CHROMIUM, launch } from '../browser/chromium.js';
import { waitUntil } from '../../harness.js';
import { ADMIN_ACCOUNT, TestService } from '../../support/service.js';
import { CACHE, REQUIRED } from './programs.js';

const PACKAGES = join(CACHE, 'javascript', 'node_modules');
const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const ESBUILD = join(PACKAGES, 'esbuild', 'bin', 'esbuild');
const run = promisify(execFile);
const isPrepared = existsSync(join(CACHE, 'python', '.complete')) && existsSync(join(PACKAGES, '@sentry', 'browser'));
const suite = REQUIRED || isPrepared ? describe : describe.skip;

suite('sessions of real SDKs', function () {
  let service: TestService;
  let token: string;
  let dsn: string;

  before(async () => {
    service = await TestService.createInProcess({ SVC_LIMITS__INTAKE_PER_MINUTE: '0' });
    token = await service.createToken('bugtracker:read,projects:manage,updateservice:publish');
    const projects = '/api/projects/v1/projects';
    await service.request('POST', projects, token, { slug: 'shop' });
    const { body } = await service.request('POST', `${projects}/shop/intake-keys`, token, {});
    dsn = String(body['dsn']);
  });
  after(() => service.dispose());

  const versionOf = async (version: string): Promise<VersionHealth | undefined> => {
    const { body } = await service.request('GET', `/api/errors/v1/health?project=shop&version=${version}`, token);
    return (body['versions'] as VersionHealth[])[0];
  };

  it('Python: count each request through the WSGI middleware', async () => {
    const env = { ...process.env, PYTHONPATH: join(CACHE, 'python'), PYTHONDONTWRITEBYTECODE: '1' };
    await run('python3', [source('python/shop.py'), '120', '4', dsn, 'shop@1.3.0+5'], { env });
    await waitUntil('120 sessions', async () => (await versionOf('1.3.0'))?.started === 120);
    expect(await versionOf('1.3')).to.include({ errored: 1, crashed: 4, crash_free_sessions: 0.966667 });
  });

  it('Node: count each HTTP server request, and the process', async () => {
    await run(process.execPath, [source('node/shop.mjs'), '60', '9', dsn, 'shop@1.4.0']);
    await waitUntil('60 sessions', async () => ((await versionOf('1.4.0'))?.started ?? 0) >= 60);
    const one = await versionOf('1.4.0');
    expect(one).to.include({ crashed: 9 });
    expect(one?.started).to.be.within(60, 61);
  });

  it('browser: count each page load of a visitor, and page loads that crash', async function () {
    if (CHROMIUM === undefined) this.skip();
    const folder = await mkdtemp(join(tmpdir(), 'aos-sessions-'));
    await symlink(PACKAGES, join(folder, 'node_modules'));
    await writeFile(join(folder, 'main.mjs'), await readFile(source('javascript/visit.mjs')));
    await run(process.execPath, [ESBUILD, 'main.mjs', '--bundle', '--outfile=app.js'], { cwd: folder });
    const script = await readFile(join(folder, 'app.js'));
    const site: Server = createServer((req, res) => {
      const isScript = req.url === '/app.js';
      res.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
      res.end(isScript ? script : '<title>a shop</title><script type="module" src="/app.js"></script>');
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const browser = await launch(CHROMIUM ?? '');
    try {
      for (let n = 0; n < 8; n++) {
        const tab = await browser.newPage();
        const about = new URLSearchParams({
          dsn,
          release: 'shop@1.5.0',
          user: `u${n % 4}`,
          ...(n < 2 && { crash: '1' }),
        });
        await tab.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/?${about.toString()}`);
        await tab.waitForFunction('document.title === "reported"');
        await tab.close();
      }
      await waitUntil('two crashes', async () => (await versionOf('1.5.0'))?.crashed === 2);
      expect(await versionOf('1.5.0')).to.include({
        started: 8,
        crashed: 2,
        crash_free_sessions: 0.75,
        people: 4,
        crashed_people: 2,
        crash_free_people: 0.5,
      });
      await look(browser);
    } finally {
      await browser.close();
      site.close();
      await rm(folder, { recursive: true, force: true });
    }
  });

  /**
   * The page of a release, `/release-health` and the dashboard show the figures, without a script.
   */
  async function look(browser: Awaited<ReturnType<typeof launch>>): Promise<void> {
    for (const version of ['1.3.0', '1.4.0', '1.5.0']) {
      const query = `product=shop&version=${version}&channel=stable&rollout_percent=${version === '1.3.0' ? 100 : 50}`;
      await fetch(`${service.url}/api/updateservice/v1/publish?${query}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
        body: new Uint8Array(buildPackage('app.js', version)),
      });
    }
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1280, height: 1000 } });
    const page = await context.newPage();
    await page.goto(`${service.url}/login`);
    await page.fill('input[name="username"]', ADMIN_ACCOUNT.username);
    await page.fill('input[name="password"]', ADMIN_ACCOUNT.password);
    await page.click('button[type="submit"]');
    const pictures = process.env['SVC_TEST_PICTURES'];
    const shoot = async (name: string): Promise<void> => {
      if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
    };
    await page.goto(`${service.url}/`);
    expect(await page.textContent('#panel-releasehealth\\.crash_free')).to.match(/Crash-free sessions\s+\d+(\.\d)? %/);
    await shoot('dashboard');
    await page.goto(`${service.url}/release-health?project=shop`);
    expect(await page.textContent('tbody')).to.include('75.00 %');
    await shoot('release-health');
    await page.goto(`${service.url}/releases?product=shop`);
    await page.click('tbody a:has-text("1.5.0")');
    const card = (await page.textContent('section[aria-labelledby="health"]')) ?? '';
    expect(card)
      .to.include('75.00 %')
      .and.to.include('50.00 %')
      .and.to.match(/points below 1\.4\.0/);
    await shoot('release');
    await page.goto(`${service.url}/release-health?project=shop&environment=none`);
    expect(await page.textContent('main')).to.include('Sentry.init');
    await context.close();
  }
});
