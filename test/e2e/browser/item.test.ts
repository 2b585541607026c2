/**
 * The page of an item in a browser: what its agent does appears by itself, it is told as text, and
 * it is used by keyboard and on a phone. Skipped where there is no Chromium.
 */
import { expect } from 'chai';
import { ADMIN_ACCOUNT } from '../../support/service.js';
import { useBrowser } from './use-browser.js';

const HOSTILE = `'; touch /tmp/x; <img src=x onerror="globalThis.owned=1">`;
const REPORT = {
  project: 'shop',
  error_level: 'error',
  exception_class: 'CartError',
  error_message: 'no price',
  stack_trace: [
    'CartError: no price',
    '    at total (src/cart.js:41:1)',
    'Caused by: KeyError: price',
    '    at priceOf (src/price.js:7:2)',
  ].join('\n'),
  file: 'src/cart.js',
  line: 41,
  context: {
    source: { '40': 'function total(lines) {', '41': '  return price.total;' },
    locals: { price: null, lines: [{ sku: 'A-1', note: HOSTILE }] },
    request: {
      url: 'https://shop.example/cart',
      method: 'POST',
      headers: { Authorization: 'Bearer x', 'X-Note': HOSTILE },
    },
    threads: [
      { id: 1, name: 'main', crashed: true },
      { id: 2, name: 'worker', stack: '    at wait (src/a.js:1:1)' },
    ],
    contexts: { device: { model: HOSTILE }, own: { deep: { deeper: 'x'.repeat(2000) } } },
  },
  breadcrumbs: [{ type: 'query', category: 'sql', message: 'SELECT 1' }],
};

describe('web: item page', () => {
  let ref: string;

  const web = useBrowser({
    projects: ['shop'],
    scopes: 'bugtracker:report,bugtracker:manage',
    tab: {},
    prepare: async () => {
      ({ ref } = await web.post<{ ref: string }>('/api/errors/v1/report', REPORT));
    },
  });
  afterEach(() => {
    expect(web.tab.faults).to.deep.equal([]);
  });

  it('shows the activity of the item’s agent without a reload', async () => {
    await web.tab.go(`/bugs/${ref}`);
    await web.page.getByText('Live').waitFor();
    await web.page.evaluate('globalThis.stayed = true');
    const progress = { tokens_used: 4242, note: 'Reads the cart' };
    await web.post(`/api/bugtracker/v1/bugs/${ref}/progress`, progress);
    await web.page.getByText('4,242').waitFor();
    expect(await web.page.getByText('Reads the cart').count()).to.equal(1);
    await web.post(`/api/bugtracker/v1/bugs/${ref}/comments`, { body: '**Found** it' });
    await web.page.locator('strong', { hasText: 'Found' }).waitFor();
    expect(await web.page.evaluate('globalThis.stayed')).to.equal(true);
  });

  it('assigns the item with its keyboard shortcut, and copies it as plain text', async () => {
    await web.tab.go(`/bugs/${ref}`);
    await web.page.keyboard.press('a');
    const field = web.page.getByRole('combobox', { name: 'Assignee' });
    await field.fill(ADMIN_ACCOUNT.username);
    await web.page.getByRole('button', { name: 'Assign', exact: true }).click();
    await web.page.getByText('Issue assigned to you').waitFor();
    const answer = await web.page.request.get(`${web.url}/bugs/${ref}/trace.txt`);
    expect(answer.headers()).to.include({
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
    expect(await answer.text()).to.include('priceOf (src/price.js:7:2)');
  });

  it('filters the events by a range that is dragged on the chart, selected by keys, or written', async () => {
    const day = (n: number): string => new Date(Date.now() - n * 86_400_000).toISOString().slice(0, 10);
    for (const n of [2, 2, 4])
      await web.post('/api/errors/v1/report', { ...REPORT, occurred_at: `${day(n)}T12:00:00.000Z` });
    const { page } = web;
    const getRange = (): (string | null)[] => ['from', 'to'].map((name) => new URL(page.url()).searchParams.get(name));

    await web.tab.go(`/bugs/${ref}`);
    const box = await page.locator('.event-chart').boundingBox();
    if (box === null) throw new Error('the chart is not visible');
    const at = (n: number): number => box.x + ((30 - n - 0.5) / 30) * box.width;
    await page.mouse.move(at(5), box.y + 80);
    await page.mouse.down();
    await page.mouse.move(at(4), box.y + 80);
    await page.mouse.move(at(3), box.y + 80, { steps: 3 });
    expect(await page.locator('.event-plot [role="status"]').innerText()).to.match(/^From .+ to .+/);
    await page.mouse.up();
    await page.waitForURL(/from=/);
    expect(getRange()).to.deep.equal([day(5), day(3)]);
    await page.getByText('Event 1 of 1', { exact: true }).waitFor();

    await web.tab.go(`/bugs/${ref}`);
    await page.locator(`a.event-column[href*="at=${day(2)}"]`).focus();
    for (const key of ['Shift+ArrowLeft', 'Shift+ArrowLeft', 'Escape', 'Shift+ArrowRight', 'Enter'])
      await page.keyboard.press(key);
    await page.waitForURL(/from=/);
    expect(getRange()).to.deep.equal([day(2), day(1)]);
    await page.getByText('Event 1 of 2', { exact: true }).waitFor();

    await page.locator('.event-custom > summary').click();
    expect(await page.getByLabel('From').inputValue()).to.equal(day(2));
    await page.getByLabel('From').fill(day(4));
    await page.getByLabel('To', { exact: true }).fill('');
    await page.getByRole('button', { name: 'Filter events' }).click();
    await page.getByText('Event 1 of 4', { exact: true }).waitFor();
    await web.tab.go(`/bugs/${ref}`);
    await page.locator(`a.event-column[href*="at=${day(4)}"]`).click();
    await page.getByText('Event 1 of 1', { exact: true }).waitFor();
    expect(getRange(), 'a click is no range').to.deep.equal([null, null]);
  });

  it('executes no reported content, and fits a phone screen', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await web.page.emulateMedia({ colorScheme });
      await web.page.setViewportSize({ width: 360, height: 800 });
      await web.tab.go(`/bugs/${ref}`);
      for (const summary of await web.page.locator('main details > summary').all()) {
        if (!(await summary.isVisible())) continue;
        await summary.click();
        // An open menu may cover the next one.
        if (await summary.evaluate((one) => one.parentElement?.matches('[data-menu]'))) {
          expect(await web.tab.overflow()).to.equal(0);
          await summary.click();
        }
      }
      expect(await web.tab.overflow()).to.equal(0);
    }
    expect(await web.page.evaluate('globalThis.owned')).to.equal(undefined);
    expect(await web.tab.count('.trace-inner .trace-title')).to.equal(1);
  });
});
