/** What the harness does where the browser stands still. Skipped where there is no Chromium. */
import { expect } from 'chai';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRejection } from '../../harness.js';
import { Tab } from './chromium.js';
import { limits } from './limits.js';
import { useChromium } from './use-browser.js';

describe('test browser: time limits', () => {
  const chromium = useChromium();
  let site: Server;
  let origin: string;

  before(async () => {
    site = createServer((_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('<title>Anew</title><script>setTimeout(() => location.reload(), 20)</script>');
    });
    await new Promise<void>((resolve) => void site.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  });
  after(() => {
    site?.closeAllConnections();
    site?.close();
  });

  it('reports a browser step that does not finish', async () => {
    const tab = await Tab.open(chromium.browser, origin);
    const { step } = limits;
    limits.step = 300;
    try {
      for (const [name, stands] of [
        ['page.evaluate', () => tab.page.evaluate('new Promise(() => {})')],
        ['locator.evaluateAll', () => tab.page.locator('body').evaluateAll('new Promise(() => {})')],
      ] as const)
        expect((await getRejection(stands())).message).to.equal(`${name}: stands still since 0.3 s`);
    } finally {
      limits.step = step;
    }
    await tab.close();
  });

  it('closes a tab next to another tab that reloads repeatedly', async () => {
    for (let i = 0; i < 5; i++) {
      const tab = await Tab.open(chromium.browser, origin);
      const other = await tab.page.context().newPage();
      await other.goto(origin);
      await tab.close();
      expect(other.isClosed()).to.equal(true);
    }
  });
});
