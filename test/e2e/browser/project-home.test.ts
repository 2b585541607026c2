/**
 * A project's page as its home, and the switcher in the bar, in a real browser: what the page holds, clicks from the
 * dashboard, and that a choice holds on every list until it is taken away. Skipped where there is no Chromium.
 */
import { expect } from 'chai';
import { packageWith } from '../../../clients/demo/package-file.js';
import { until } from '../../harness.js';
import { ADMIN, TestService } from '../../support/service.js';
import { CHROMIUM, launch, Tab, type TestBrowser } from './chromium.js';

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

describe('web: the home of a project', function () {
  let service: TestService;
  let browser: TestBrowser;
  let tab: Tab;
  let token: string;

  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    service = await TestService.here({ SVC_LIMITS__INTAKE_PER_MINUTE: '0' });
    await service.project('shop');
    await service.project('mailer');
    const scopes = 'bugtracker:report,watchdog:ping,watchdog:manage,license:manage,updateservice:publish';
    token = await service.token(scopes);
    await post('/api/bugtracker/v1/report', { type: 'bug', project: 'shop', title: 'A voucher', severity: 'critical' });
    await post('/api/bugtracker/v1/report', { type: 'bug', project: 'mailer', title: 'A letter', severity: 'low' });
    await post('/api/watchdog/v1/monitors', { source: 'till-1', project: 'shop' });
    await post('/api/watchdog/v1/monitors', { source: 'post-1', project: 'mailer' });
    await post('/api/watchdog/v1/ping', { source: 'till-1', interval: 60_000, app_version: '1.4.0' });
    await post('/api/license/v1/licenses', { product: 'shop', licensee: 'Kettleworth', max_activations: 1 });
    const published = await fetch(
      `${service.url}/api/updateservice/v1/publish?product=shop&version=1.4.0&channel=beta&platform=any`,
      {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
        body: new Uint8Array(packageWith('README.md', 'hello')),
      },
    );
    expect(published.status, await published.text()).to.be.oneOf([200, 201]);
    browser = await launch(CHROMIUM);
    tab = await Tab.open(browser, service.url);
    await tab.signIn(ADMIN.username, ADMIN.password);
  });
  after(async () => {
    await browser?.close();
    await service?.dispose();
  });

  async function post(path: string, body: object): Promise<void> {
    const answer = await service.request('POST', path, token, body);
    expect(answer.status, `${path} ${JSON.stringify(answer.body)}`).to.be.oneOf([200, 201]);
  }
  const main = (): Promise<string> => tab.page.getByRole('main').innerText();

  it('two clicks from the dashboard: items, newest versions with adoption, monitors, licenses', async () => {
    await tab.go('/');
    await tab.page.getByRole('link', { name: 'Projects', exact: true }).first().click();
    await tab.page.getByRole('main').getByRole('link', { name: 'shop' }).click();
    await tab.page.waitForURL('**/projects/shop');
    // A count that takes longer than a page can wait is there at the next look.
    await until('the items are counted', async () => {
      if (/1 open\s.*1 critical/s.test(await main())) return true;
      await tab.page.reload();
      return false;
    });
    const text = await main();
    expect(text).to.contain('1 open').and.contain('1 critical').and.contain('A voucher').and.not.contain('A letter');
    expect(text).to.contain('beta: 1.4.0').and.contain('1 of 1 machine (100 %)');
    expect(text).to.contain('till-1').and.contain('Kettleworth').and.not.contain('post-1');
    expect(tab.faults).to.deep.equal([]);
  });

  it('steps of the language that was chosen, and one click for a key in them', async () => {
    await tab.go('/projects/shop');
    await tab.page.getByRole('link', { name: 'Python' }).click();
    expect(await main())
      .to.contain('pip install sentry-sdk')
      .and.contain('sentry_sdk.init(dsn="http://INTAKE_KEY@');
    await tab.page.getByRole('button', { name: 'Make a key' }).click();
    await tab.page.getByText('Shown this once').waitFor();
    const text = await main();
    const key = /sentry_sdk\.init\(dsn="http:\/\/([^@"]+)@[^"]+\/\d+", release="shop@1\.0\.0"\)/.exec(text)?.[1];
    expect(key).to.match(/^svc_/);
    await tab.page.reload();
    expect(await main()).not.to.contain(key);
  });

  it('a project chosen in the bar holds on every list, is seen there, and goes by one click', async () => {
    await tab.go('/bugs');
    await tab.page.locator('.project-bar summary').click();
    await tab.page.getByRole('button', { name: 'mailer' }).click();
    await tab.page.getByText('A letter').waitFor();
    expect(new URL(tab.page.url()).pathname).to.equal('/bugs');
    expect(await main()).not.to.contain('A voucher');
    expect(await tab.page.getByLabel('Filters that are set').count(), 'the bar shows it, no filter does').to.equal(0);
    for (const path of LISTS) {
      expect(await tab.go(path), path).to.equal(200);
      expect(await tab.page.locator('.project-bar summary').innerText(), path).to.contain('mailer');
    }
    await tab.go('/monitors');
    expect(await main())
      .to.contain('post-1')
      .and.not.contain('till-1');
    await tab.go('/releases');
    expect(await main()).not.to.contain('1.4.0');
    await tab.go('/bugs?project=shop');
    expect(await main(), 'an address keeps what it names')
      .to.contain('A voucher')
      .and.not.contain('A letter');
    await tab.go('/bugs');
    await tab.page.getByRole('button', { name: 'Show all projects' }).click();
    await tab.page.getByText('A voucher').waitFor();
    expect(await main()).to.contain('A letter');
  });

  it('nothing but a slug that exists is remembered, and the way back leads to this service alone', async () => {
    await tab.go('/bugs');
    const csrf = await tab.page.locator('.project-bar input[name="csrf_token"]').inputValue();
    for (const [project, back] of [
      ['gone', '/bugs'],
      ['../x', '//evil.example.org/'],
    ] as const) {
      const answer = await tab.page.request.post(`${service.url}/project-choice`, {
        form: { csrf_token: csrf, project, back },
        maxRedirects: 0,
      });
      expect(answer.status()).to.equal(303);
      expect(answer.headers()['location']).to.equal(back === '/bugs' ? '/bugs' : '/');
      expect(answer.headers()['set-cookie']).to.match(/^svc_project=; Path=\/; Max-Age=0/);
    }
  });
});
