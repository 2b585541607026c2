/** Monitors in a real browser: charts are read out under the pointer and by keyboard. Skipped where there is no Chromium. */
import { expect } from 'chai';
import { ADMIN, TestService } from '../../support/service.js';
import { CHROMIUM, launch, Tab, type TestBrowser } from './chromium.js';

describe('web: monitors in a real browser', function () {
  this.timeout(180_000);
  let service: TestService;
  let browser: TestBrowser;
  let tab: Tab | undefined;

  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    service = await TestService.here();
    const token = await service.token('watchdog:ping');
    for (const response_ms of [12.3456, 45]) {
      const body = { source: 'web', interval: 1, metrics: { response_ms } };
      const answer = await service.request('POST', '/api/watchdog/v1/ping', token, body);
      expect(answer.status).to.be.oneOf([200, 201]);
    }
    browser = await launch(CHROMIUM);
  });
  after(async () => {
    await browser?.close();
    await service?.dispose();
  });
  afterEach(() => tab?.close());

  for (const width of [360, 1440]) {
    it(`a chart is read out under the pointer and by arrow keys, at ${width} pixels`, async () => {
      tab = await Tab.open(browser, service.url, width);
      await tab.signIn(ADMIN.username, ADMIN.password);
      await tab.go('/monitors/web');
      const chart = tab.page.getByRole('slider', { name: /^response_ms/ });
      const read = tab.page.locator('.series-read');
      expect(await read.isVisible()).to.equal(false);
      await chart.hover();
      expect(await read.innerText()).to.match(/^\d+ [A-Z][a-z]{2}, \d\d:\d\d UTC: 28\.7 ms \(12\.3 to 45 ms\)$/);
      expect(await tab.overflow()).to.equal(0);
      await tab.page.mouse.move(0, 0);
      expect(await read.isVisible()).to.equal(false);
      await chart.focus();
      await tab.page.keyboard.press('ArrowLeft');
      expect(await chart.getAttribute('aria-valuetext')).to.include('28.7 ms');
      expect(await read.isVisible()).to.equal(true);
      expect(tab.faults).to.deep.equal([]);
    });
  }
});
