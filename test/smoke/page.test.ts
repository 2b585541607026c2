/** One page in a real browser, where there is one; test/e2e/browser has the rest. */
import { expect } from 'chai';
import { CHROMIUM, launch, Tab, type TestBrowser } from '../e2e/browser/chromium.js';
import { ADMIN_ACCOUNT, TestService } from '../support/service.js';

describe('smoke: a page in a browser', () => {
  let service: TestService;
  let browser: TestBrowser;
  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    browser = await launch(CHROMIUM);
    service = await TestService.createInProcess();
  });
  after(async () => {
    await browser?.close();
    await service?.dispose();
  });

  it('signs in and shows the dashboard without an error', async () => {
    const tab = await Tab.open(browser, service.url);
    await tab.signInByHand(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password);
    expect(await tab.count('h1')).to.equal(1);
    expect(tab.faults).to.deep.equal([]);
    await tab.close();
  });
});
