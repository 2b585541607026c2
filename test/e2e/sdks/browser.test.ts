/** A page of another origin reports with its intake key, as browser SDKs do (contract 21: CORS). */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { CHROMIUM, launch, type TestBrowser } from '../browser/chromium.js';
import { buildSentryEnvelope, buildSentryEvent } from '../../support/sentry-envelope.js';
import { TestService } from '../../support/service.js';

const suite = CHROMIUM === undefined ? describe.skip : describe;

suite('sentry intake from a browser', () => {
  let service: TestService;
  let site: Server;
  let browser: TestBrowser;
  let page: Page;
  let key: string;

  before(async () => {
    service = await TestService.createInProcess({ SVC_LIMITS__INTAKE_BURST: '4', SVC_LIMITS__INTAKE_PER_MINUTE: '1' });
    await service.createProject('shop');
    ({ key } = await service.runCommand<{ key: string }>(['project', 'intake-key', 'shop']));
    site = createServer((_, res) => res.setHeader('content-type', 'text/html').end('<title>a shop</title>'));
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    browser = await launch(CHROMIUM ?? '');
    page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
  });
  after(async () => {
    await browser.close();
    site.close();
    await service.dispose();
  });

  /** What a script of the page gets to read. */
  const post = (path: string, body: string, headers: Record<string, string>): Promise<unknown[]> => {
    const call = JSON.stringify({ url: service.url + path, body, headers });
    return page.evaluate(
      `(async ({ url, body, headers }) => {
        const response = await fetch(url, { method: 'POST', body, headers });
        return [response.status, await response.json(), response.headers.get('x-sentry-rate-limits')];
      })(${call})`,
    );
  };
  const envelope = (id: string): string => buildSentryEnvelope(buildSentryEvent(1, id.repeat(32), 2048));

  it('accepts envelopes with and without a preflight, and plain reports, with readable responses', async () => {
    // The key in the query and a plain body: no pre-flight, as the SDK does it.
    expect(await post(`/api/1/envelope/?sentry_key=${key}&sentry_version=7`, envelope('a'), {})).to.deep.equal([
      200,
      { id: 'a'.repeat(32) },
      null,
    ]);
    const requested = { 'x-sentry-auth': `Sentry sentry_key=${key}`, 'content-type': 'application/x-sentry-envelope' };
    expect(await post('/api/1/envelope/', envelope('b'), requested)).to.deep.equal([200, { id: 'b'.repeat(32) }, null]);
    const report = JSON.stringify({ project: 'shop', error_level: 'error', error_message: 'no price' });
    const bearer = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    expect((await post('/api/errors/v1/report', report, bearer))[0]).to.equal(201);
    const store = JSON.stringify(buildSentryEvent(1, 'c'.repeat(32), 2048));
    expect((await post(`/api/1/store/?sentry_key=${key}`, store, {}))[0]).to.equal(200);
  });

  it('exposes Retry-After', async () => {
    const [status, , limits] = await post(`/api/1/envelope/?sentry_key=${key}`, envelope('d'), {});
    expect(status).to.equal(429);
    expect(limits).to.match(/^\d+:error:key$/);
  });
});
