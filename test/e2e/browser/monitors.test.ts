/**
 * Monitors in a real browser: charts are read out under the pointer and by keyboard. Skipped where
 * there is no Chromium.
 */
import { expect } from 'chai';
import { useBrowser } from './use-browser.js';

describe('web: monitors in a real browser', () => {
  const web = useBrowser({
    scopes: 'watchdog:ping',
    prepare: async () => {
      for (const response_ms of [12.3456, 45])
        await web.post('/api/watchdog/v1/ping', { source: 'web', interval: 1, metrics: { response_ms } });
    },
  });

  for (const width of [360, 1440]) {
    it(`reads out chart values under the pointer and by arrow keys, at ${width} pixels`, async () => {
      await web.openTab({ width, path: '/monitors/web' });
      const chart = web.page.getByRole('slider', { name: /^Response time/ });
      const read = web.page.locator('.series-read');
      expect(await read.isVisible()).to.equal(false);
      await chart.hover();
      expect(await read.innerText()).to.match(/^\d+ [A-Z][a-z]{2}, \d\d:\d\d UTC: 28\.7 ms \(12\.3 to 45 ms\)$/);
      expect(await web.tab.overflow()).to.equal(0);
      await web.page.mouse.move(0, 0);
      expect(await read.isVisible()).to.equal(false);
      await chart.focus();
      await web.page.keyboard.press('ArrowLeft');
      expect(await chart.getAttribute('aria-valuetext')).to.include('28.7 ms');
      expect(await read.isVisible()).to.equal(true);
      expect(web.tab.faults).to.deep.equal([]);
    });
  }
});
