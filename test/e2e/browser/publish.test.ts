/**
 * A release published, halted and found on its machines by the pages, in a real browser: with the
 * script, which shows progress and cancels, and without. Skipped where there is no Chromium.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { buildPackage } from '../../../clients/demo/package-file.js';
import { useBrowser } from './use-browser.js';

describe('web: publishing in the browser', () => {
  let folder: string;

  const web = useBrowser({
    settings: { SVC_LIMITS__PACKAGE_BYTES: String(24 * 1024 * 1024) },
    projects: ['shop'],
    scopes: 'watchdog:ping,watchdog:manage,bugtracker:report,bugtracker:manage',
    tab: {},
    prepare: async () => {
      folder = await mkdtemp(join(tmpdir(), 'aos-publish-'));
      await writeFile(join(folder, 'a.tar.gz'), buildPackage('README.md', 'a'));
      await writeFile(join(folder, 'b.tar.gz'), buildPackage('README.md', 'b'));
      await writeFile(join(folder, 'large.tar.gz'), randomBytes(20 * 1024 * 1024));
      await writeFile(join(folder, 'none.tar.gz'), 'this is no package');
      const ref = await web.reportError('shop', 'The voucher is counted twice', { app_version: '0.9.0' });
      const fix = { status: 'resolved', resolved_in_build: '1.0.0' };
      await web.call('PATCH', `/api/bugtracker/v1/bugs/${ref}`, fix);
    },
  });
  after(async () => {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  async function filled(page: Page, version: string, file: string): Promise<void> {
    await page.locator('#f-version').fill(version);
    await page.locator('#f-notes').fill('## Fixed\n\n- **Vouchers** add up\n- <script>globalThis.owned = 1</script>');
    await page.locator('#f-package').setInputFiles(join(folder, file));
  }
  const send = async (page: Page): Promise<void> => {
    await page.locator('[data-publish-confirm] > summary').click();
    await page.getByRole('button', { name: 'Publish release', exact: true }).click();
  };

  it('publishes with four clicks from the dashboard, and renders notes as safe markdown', async () => {
    await web.tab.go('/');
    await web.page.getByRole('link', { name: 'Releases', exact: true }).first().click();
    await web.page.getByRole('main').getByRole('link', { name: 'Publish release' }).first().click();
    await filled(web.page, '1.0.0', 'a.tar.gz');
    await web.page.locator('[data-publish-confirm] > summary').click();
    expect(await web.page.locator('[data-publish-summary]').innerText()).to.equal(
      'Publishes shop 1.0.0 to stable and offers it to all machines immediately. Issues that wait for this version are closed.',
    );
    await web.page.getByRole('button', { name: 'Publish release', exact: true }).click();
    await web.page.waitForURL(/\/releases\/[0-9a-f]{40}$/);
    const notes = web.page.locator('section[aria-labelledby="notes"]');
    expect(await notes.locator('strong').innerText()).to.equal('Vouchers');
    expect(await notes.innerText()).to.contain('<script>globalThis.owned = 1</script>');
    expect(await web.page.evaluate('globalThis.owned')).to.equal(undefined);
    expect(await web.page.locator('section[aria-labelledby="faults"]').innerText()).to.contain('Auto-halt: 0 of 5');
    const fixed = web.page.locator('section[aria-labelledby="fixes"]').getByRole('row').nth(1);
    expect(await fixed.innerText())
      .to.contain('The voucher is counted twice')
      .and.contain('Closed');
    const parts = web.page.getByRole('navigation', { name: 'Parts of this release' }).getByRole('link');
    expect((await parts.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))).to.deep.equal([
      'Notes',
      'Issues fixed 1',
      'New issues',
      'Commits',
      'Files 1',
      'Events 1',
    ]);
    expect(web.tab.faults).to.deep.equal([]);
  });

  it('shows on the form why a package is rejected, and preserves the input', async () => {
    await web.tab.go('/releases/new?product=shop');
    await filled(web.page, '1.0.1', 'none.tar.gz');
    await send(web.page);
    await web.page.locator('[data-upload-problem]:not([hidden])').waitFor();
    expect(await web.page.locator('[data-upload-problem]').innerText()).to.match(/package|gzip|tar/i);
    expect(await web.page.locator('#f-version').inputValue()).to.equal('1.0.1');
    web.tab.faults.length = 0;
  });

  it('accepts a dropped package, and rejects a package that is too large before the upload starts', async () => {
    await web.tab.go('/releases/new?product=shop');
    const { page } = web;
    const dropped = (bytes: number): Promise<unknown> =>
      page.evaluate(`(() => {
        const data = new DataTransfer();
        data.items.add(new File([new Uint8Array(${bytes})], 'dropped.tar.gz'));
        const drop = document.querySelector('[data-upload-drop]');
        drop.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
      })()`);
    await dropped(10);
    expect(await page.evaluate('document.getElementById("f-package").files[0].name')).to.equal('dropped.tar.gz');
    await dropped(25 * 1024 * 1024);
    await page.locator('#f-version').fill('3.0.0');
    let posts = 0;
    page.on('request', (request) => (posts += Number(request.method() === 'POST')));
    await send(page);
    const below = page.locator('#f-package-help .invalid-feedback');
    await below.waitFor();
    expect(await below.innerText()).to.equal('The package is larger than 24 MiB.');
    expect(await page.locator('#f-package').getAttribute('aria-invalid')).to.equal('true');
    expect(posts).to.equal(0);
    await page.locator('#f-package').setInputFiles(join(folder, 'b.tar.gz'));
    await page.locator('#f-version').fill('no version');
    await send(page);
    await page.locator('#f-version-help .invalid-feedback').waitFor();
    expect(await page.locator('#f-package-help .invalid-feedback').count()).to.equal(0);
    expect(await page.evaluate('document.activeElement.id')).to.equal('f-version');
    expect(posts).to.equal(1);
    web.tab.faults.length = 0;
  });

  it('cancels an upload without publishing any part of it', async () => {
    await web.tab.go('/releases/new?product=shop');
    const slow = await web.page.context().newCDPSession(web.page);
    await slow.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: 512 * 1024,
    });
    await filled(web.page, '9.0.0', 'large.tar.gz');
    await send(web.page);
    await web.page.getByRole('button', { name: 'Cancel' }).click();
    await web.page.getByText('Upload canceled. Nothing was published.').waitFor();
    await slow.detach();
    await web.tab.go('/releases');
    expect(await web.page.getByRole('main').innerText()).not.to.contain('9.0.0');
    web.tab.faults.length = 0;
  });

  it('submits the form without scripts, and shows an invalid version next to its field', async () => {
    const page = await web.openPage({ javaScriptEnabled: false });
    await page.goto(`${web.url}/releases/new?product=shop`);
    await filled(page, 'not a version', 'b.tar.gz');
    await send(page);
    expect(await page.locator('#f-version-help .invalid-feedback').count()).to.equal(1);
    await filled(page, '1.1.0', 'b.tar.gz');
    await send(page);
    expect(page.url()).to.match(/\/releases\/[0-9a-f]{40}$/);
    await page.getByRole('status').filter({ hasText: 'shop 1.1.0 published.' }).waitFor();
  });

  it('rejects a form of another site before it reads the package', async () => {
    const cookies = await web.page.context().cookies();
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    const sent = async (csrf: string | null): Promise<number> => {
      const form = new FormData();
      if (csrf !== null) form.set('csrf_token', csrf);
      for (const [name, value] of Object.entries({ product: 'shop', version: '6.6.6', channel: 'stable' }))
        form.set(name, value);
      form.set('package', new Blob([new Uint8Array(buildPackage('README.md', 'x'))]), 'p.tar.gz');
      const answer = await fetch(`${web.url}/releases/new`, {
        method: 'POST',
        body: form,
        headers: { cookie, accept: 'application/json' },
        redirect: 'manual',
      });
      return answer.status;
    };
    expect(await sent(null)).to.equal(403);
    expect(await sent('x'.repeat(43))).to.equal(403);
    await web.tab.go('/releases');
    expect(await web.page.getByRole('main').innerText()).not.to.contain('6.6.6');
  });

  it('halts a rollout with three clicks from the list, and resumes at its percentage', async () => {
    await web.tab.go('/releases');
    await web.page.getByRole('link', { name: 'shop 1.0.0' }).click();
    await web.page.locator('summary', { hasText: 'Halt rollout' }).click();
    await web.page.locator('#reason-halt').fill('It loses carts');
    await web.page.getByRole('button', { name: 'Halt rollout' }).click();
    await web.page.getByText('It loses carts').first().waitFor();
    expect(await web.page.locator('summary', { hasText: 'Halt rollout' }).count()).to.equal(0);
    expect(await web.page.locator('.rollout-now').innerText()).to.equal('Halted at 100 %');
    await web.page.getByRole('button', { name: 'Resume rollout at 100 %' }).waitFor();
    const requested = `${web.url}/api/updateservice/v1/check?product=shop&channel=stable&platform=linux-x64&version=0.9.0`;
    expect(await (await fetch(requested)).text()).not.to.contain('"1.0.0"');
    await web.page.getByRole('button', { name: 'Update rollout' }).click();
    await web.page.locator('summary', { hasText: 'Halt rollout' }).waitFor();
    await web.page.getByRole('button', { name: '25 %', exact: true }).click();
    await web.page.getByText('Now 25 %').waitFor();
    expect(await web.page.getByRole('button', { name: '25 %', exact: true }).getAttribute('aria-current')).to.equal(
      'true',
    );
    await web.page.getByRole('link', { name: 'Releases', exact: true }).first().click();
    await web.page.getByRole('link', { name: 'Rollouts' }).click();
    expect(await web.page.getByRole('row').filter({ hasText: 'shop 1.0.0' }).innerText()).to.match(/25 %\s+0 of 0/);
    const csv = await web.page.request.get(`${web.url}/releases?format=csv&product=shop`);
    expect(await csv.text()).to.match(/^product,version,.*\r\n(?:.*\r\n)*shop,1\.0\.0,stable,any,25,/);
    await web.page.getByRole('link', { name: 'shop 1.0.0' }).click();
    const events = await web.page.locator('section[aria-labelledby="events"]').innerText();
    expect(events).to.contain('admin halted the rollout of shop 1.0.0');
    expect(events).to.contain('admin changed rollout of shop 1.0.0 from 100 % to 25 %');
  });

  it('lists machines by version and last contact, with the install command', async () => {
    const ping = { source: 'till-1', interval: 60_000, app_version: '1.0.0', instance_id: 'f00d' };
    const requested = 'product=shop&channel=stable&platform=linux-x64&version=1.0.0&instance_id=f00d';
    await web.post('/api/watchdog/v1/monitors', { source: 'till-1', project: 'shop' });
    expect((await fetch(`${web.url}/api/updateservice/v1/check?${requested}`)).status).to.equal(200);
    await web.post('/api/watchdog/v1/ping', ping);
    await web.tab.go('/');
    await web.page.getByRole('link', { name: 'Machines', exact: true }).first().click();
    await web.page.getByRole('main').getByRole('link', { name: 'shop' }).click();
    await web.page.getByRole('link', { name: /^1\.0\.0: 1 machine/ }).click();
    const row = web.page.getByRole('row').filter({ hasText: 'till-1' });
    expect(await row.innerText())
      .to.contain('1.0.0')
      .and.contain('linux-x64')
      .and.match(/just now|s ago/);
    expect(await web.page.getByRole('heading', { name: 'Installers' }).count()).to.equal(1);
  });
});
