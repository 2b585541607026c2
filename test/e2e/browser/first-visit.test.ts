/**
 * What a first visit loads over the network, as Chromium counts it, headers included: with an empty
 * cache, from the login to the dashboard. Skipped where there is no Chromium.
 */
import { expect } from 'chai';
import { ADMIN_ACCOUNT } from '../../support/service.js';
import { useBrowser } from './use-browser.js';

/** With the font. */
const MOST_BYTES = 90_000;
const ITEMS = 12;

describe('web: size of a first visit', () => {
  const web = useBrowser({
    projects: ['shop'],
    scopes: 'bugtracker:report,watchdog:ping',
    prepare: async () => {
      for (let i = 0; i < ITEMS; i++) {
        await web.reportError('shop', `What went wrong the ${i}th time`, {
          error_level: 'fatal',
          exception_class: `Error${i}`,
          stack_trace: `Error${i}: x\n    at run (/srv/shop/file${i}.js:${i}:1)`,
        });
        await web.post('/api/watchdog/v1/ping', { source: `web-${i}`, metrics: { load: i } });
      }
    },
  });

  it(`is below ${MOST_BYTES / 1000} KB from the login to the dashboard`, async () => {
    await web.openTab({ username: null });
    const client = await web.page.context().newCDPSession(web.page);
    await client.send('Network.enable');
    const urls = new Map<string, string>();
    const loaded: [url: string, bytes: number][] = [];
    client.on('Network.responseReceived', ({ requestId, response }) => void urls.set(requestId, response.url));
    client.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      loaded.push([urls.get(requestId) ?? '', encodedDataLength]);
    });
    const sum = (): number => loaded.reduce((all, [, bytes]) => all + bytes, 0);
    const list = (): string => loaded.map(([url, bytes]) => `${bytes} ${new URL(url).pathname}`).join('\n');

    await web.tab.go('/login');
    await web.page.waitForLoadState('networkidle');
    const login = sum();
    expect(login, list())
      .to.be.above(10_000)
      .and.below(MOST_BYTES - 20_000);
    await web.page.getByLabel(/^User ?name/).fill(ADMIN_ACCOUNT.username);
    await web.page.getByLabel('Password').fill(ADMIN_ACCOUNT.password);
    await web.page.getByRole('button', { name: 'Sign in' }).click();
    await web.page.waitForURL(`${web.url}/`);
    // The stream of changes stays open: what is awaited is the page with all that it names.
    await web.page.waitForLoadState('load');
    expect(sum(), list()).to.be.above(login).and.below(MOST_BYTES);
    expect(web.tab.faults).to.deep.equal([]);
  });
});
