/**
 * A project's page as its home, and the switcher in the bar, in a real browser: what the page
 * holds, clicks from Home, and that a choice holds on every list until it is taken away.
 * Skipped where there is no Chromium.
 */
import { expect } from 'chai';
import { waitUntil } from '../../harness.js';
import { useBrowser } from './use-browser.js';

const LISTS = [
  '/bugs',
  '/errors',
  '/ignore-rules',
  '/monitors',
  '/incidents',
  '/releases',
  '/release-health',
  '/licenses',
  '/license-approvals',
  '/tokens',
  '/webhooks/events',
];

describe('web: project home page', () => {
  const web = useBrowser({
    projects: ['shop', 'mailer'],
    scopes: 'bugtracker:report,watchdog:ping,watchdog:manage,license:manage,updateservice:publish',
    tab: {},
    prepare: async () => {
      await web.reportBug('shop', 'A voucher', { severity: 'critical' });
      await web.reportBug('mailer', 'A letter', { severity: 'low' });
      // Before the heartbeat, whose machine gets the channel of the release with its version.
      await web.publish('shop', '1.4.0', '&channel=beta&platform=any');
      await web.post('/api/watchdog/v1/monitors', { source: 'till-1', project: 'shop' });
      await web.post('/api/watchdog/v1/monitors', { source: 'post-1', project: 'mailer' });
      await web.post('/api/watchdog/v1/ping', { source: 'till-1', interval: 60_000, app_version: '1.4.0' });
      await web.post('/api/license/v1/licenses', { product: 'shop', licensee: 'Kettleworth', max_activations: 1 });
    },
  });

  const main = (): Promise<string> => web.page.getByRole('main').innerText();

  it('shows items, newest versions with adoption, monitors and licenses three clicks from Home', async () => {
    await web.tab.go('/');
    await web.page
      .getByRole('link', { name: /^Settings/ })
      .first()
      .click();
    await web.page.getByRole('link', { name: 'Projects', exact: true }).first().click();
    await web.page.getByRole('main').getByRole('link', { name: 'shop' }).click();
    await web.page.waitForURL('**/projects/shop');
    // Counts and machine reports that take longer than a page waits are there after a reload.
    const wanted = [
      /1\s+Open\b/i,
      /1\s+Critical/i,
      /A voucher/,
      /shop 1\.4\.0 \(beta\)/,
      /1 of 1 machine updated/,
      /till-1/,
      /Kettleworth/,
    ];
    await waitUntil('the page shows the project', async () => {
      const shown = await main();
      if (wanted.every((one) => one.test(shown))) return true;
      await web.page.reload();
      return false;
    });
    expect(await main())
      .to.not.contain('A letter')
      .and.not.contain('post-1');
    const links = await web.page
      .getByRole('main')
      .locator('a')
      .evaluateAll((all) => all.map((a) => a.getAttribute('href')));
    expect(links).to.include.members([
      '/bugs?project=shop',
      '/releases?product=shop',
      '/licenses?product=shop',
      '/bugs/new?project=shop',
    ]);
    expect(web.tab.faults).to.deep.equal([]);
  });

  it('shows the setup steps for the chosen language, and creates a key in them with one click', async () => {
    await web.tab.go('/projects/shop');
    await web.page.getByRole('navigation', { name: 'shop' }).getByRole('link', { name: 'Settings' }).click();
    await web.page.getByRole('link', { name: 'Python' }).click();
    expect(await main())
      .to.contain('pip install sentry-sdk')
      .and.contain('sentry_sdk.init(dsn="http://INTAKE_KEY@');
    await web.page.getByRole('button', { name: 'Create key', exact: true }).click();
    await web.page.getByText('Copy this key now').waitFor();
    const text = await main();
    const key = /sentry_sdk\.init\(dsn="http:\/\/([^@"]+)@[^"]+\/\d+", release="shop@1\.0\.0"\)/.exec(text)?.[1];
    expect(key).to.match(/^svc_/);
    await web.page.reload();
    expect(await main()).not.to.contain(key);
  });

  it('applies the project in the project bar to every list, shows it, and clears it with one click', async () => {
    await web.tab.go('/bugs');
    await web.page.locator('.project-bar summary').click();
    await web.page.getByRole('button', { name: 'mailer', exact: true }).click();
    await web.page.getByText('A letter').waitFor();
    expect(new URL(web.page.url()).pathname).to.equal('/bugs');
    expect(await main()).not.to.contain('A voucher');
    expect(await web.page.getByLabel('Active filters').count(), 'the bar shows it, no filter does').to.equal(0);
    for (const path of LISTS) {
      expect(await web.tab.go(path), path).to.equal(200);
      expect(await web.page.locator('.project-bar summary').innerText(), path).to.contain('mailer');
    }
    await web.tab.go('/monitors');
    expect(await main())
      .to.contain('post-1')
      .and.not.contain('till-1');
    await web.tab.go('/releases');
    expect(await main()).not.to.contain('1.4.0');
    await web.tab.go('/bugs?project=shop');
    expect(await main(), 'an address keeps what it names')
      .to.contain('A voucher')
      .and.not.contain('A letter');
    await web.tab.go('/bugs');
    await web.page.getByRole('button', { name: 'Show all projects' }).click();
    await web.page.getByText('A voucher').waitFor();
    expect(await main()).to.contain('A letter');
  });

  it('remembers only an existing slug, and redirects only within the service', async () => {
    await web.tab.go('/bugs');
    const csrf = await web.page.locator('.project-bar input[name="csrf_token"]').inputValue();
    for (const [project, back] of [
      ['gone', '/bugs'],
      ['../x', '//evil.example.org/'],
    ] as const) {
      const answer = await web.page.request.post(`${web.url}/project-choice`, {
        form: { csrf_token: csrf, project, back },
        maxRedirects: 0,
      });
      expect(answer.status()).to.equal(303);
      expect(answer.headers()['location']).to.equal(back === '/bugs' ? '/bugs' : '/');
      expect(answer.headers()['set-cookie']).to.match(/^svc_project=; Path=\/; Max-Age=0/);
    }
  });
});
