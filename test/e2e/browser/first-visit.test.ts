/**
 * What a first visit loads over the network, as Chromium counts it, headers included: with an empty cache, from the login to
 * the dashboard. Skipped where there is no Chromium.
 */
import { expect } from 'chai';
import { ADMIN, TestService } from '../../support/service.js';
import { CHROMIUM, launch, Tab, type TestBrowser } from './chromium.js';

/** 60 KB, of which a page with much on it may need a part. */
const MOST_BYTES = 60_000;
const ITEMS = 12;

describe('web: the weight of a first visit', function () {
  let service: TestService;
  let browser: TestBrowser;
  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    service = await TestService.here({ SVC_LIMITS__INTAKE_PER_MINUTE: '0' });
    await service.project('shop');
    const token = await service.token('bugtracker:report,watchdog:ping');
    for (let i = 0; i < ITEMS; i++) {
      await service.request('POST', '/api/errors/v1/report', token, {
        project: 'shop',
        error_level: 'fatal',
        exception_class: `Error${i}`,
        error_message: `What went wrong the ${i}th time`,
        stack_trace: `Error${i}: x\n    at run (/srv/shop/file${i}.js:${i}:1)`,
      });
      await service.request('POST', '/api/watchdog/v1/ping', token, { source: `web-${i}`, metrics: { load: i } });
    }
    browser = await launch(CHROMIUM);
  });
  after(async () => {
    await browser?.close();
    await service?.dispose();
  });

  it(`is below ${MOST_BYTES / 1000} KB from the login to the dashboard`, async () => {
    const tab = await Tab.open(browser, service.url);
    const client = await tab.page.context().newCDPSession(tab.page);
    await client.send('Network.enable');
    const urls = new Map<string, string>();
    const loaded: [url: string, bytes: number][] = [];
    client.on('Network.responseReceived', ({ requestId, response }) => void urls.set(requestId, response.url));
    client.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      loaded.push([urls.get(requestId) ?? '', encodedDataLength]);
    });
    const sum = (): number => loaded.reduce((all, [, bytes]) => all + bytes, 0);
    const list = (): string => loaded.map(([url, bytes]) => `${bytes} ${new URL(url).pathname}`).join('\n');

    await tab.go('/login');
    await tab.page.waitForLoadState('networkidle');
    const login = sum();
    expect(login, list())
      .to.be.above(10_000)
      .and.below(MOST_BYTES / 2 + 10_000);
    await tab.page.getByLabel('User name').fill(ADMIN.username);
    await tab.page.getByLabel('Password').fill(ADMIN.password);
    await tab.page.getByRole('button', { name: 'Sign in' }).click();
    await tab.page.waitForURL(`${service.url}/`);
    // The stream of changes stays open: what is awaited is the page with all that it names.
    await tab.page.waitForLoadState('load');
    expect(sum(), list()).to.be.above(login).and.below(MOST_BYTES);
    expect(tab.faults).to.deep.equal([]);
    await tab.close();
  });
});
