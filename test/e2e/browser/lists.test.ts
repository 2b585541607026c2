/** Lists by a person with a browser: filters that apply when ticked and show counts, ranges with Shift, views of a project. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { ADMIN, TestService } from '../../support/service.js';
import { CHROMIUM, launch, Tab, type TestBrowser } from './chromium.js';

describe('web: lists in a real browser', function () {
  let service: TestService;
  let browser: TestBrowser;
  let tab: Tab;
  let page: Page;

  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    service = await TestService.here({ SVC_LIMITS__INTAKE_PER_MINUTE: '0' });
    await service.project('rows');
    const token = await service.token('bugtracker:report');
    for (let i = 1; i <= 6; i++) {
      const answer = await service.request('POST', '/api/bugtracker/v1/report', token, {
        project: 'rows',
        title: `Row ${i}`,
        severity: i <= 4 ? 'high' : 'low',
      });
      expect(answer.status).to.equal(201);
    }
    await service.request('POST', '/api/errors/v1/report', token, {
      project: 'rows',
      error_level: 'error',
      exception_class: 'com.acme.VoucherError',
      error_message: 'the voucher is unknown',
    });
    browser = await launch(CHROMIUM);
    tab = await Tab.open(browser, service.url);
    page = tab.page;
    await tab.signIn(ADMIN.username, ADMIN.password);
  });
  after(async () => {
    await browser?.close();
    await service?.dispose();
  });

  const ticked = (): Promise<number> => tab.count('input[name="ids"]:checked');

  it('a filter says how many it would show, and applies when it is ticked, by one click more', async () => {
    await tab.go('/bugs?project=rows&status=open&type=bug');
    await page.locator('summary', { hasText: 'Severity' }).click();
    const high = page.locator('label.dropdown-item', { hasText: 'High' });
    expect(await high.locator('.pick-count').innerText()).to.equal('4');
    await Promise.all([page.waitForURL(/severity=high/), high.click()]);
    expect(await tab.count('tr[data-ref]')).to.equal(4);
    expect(page.url(), 'empty fields are left out').to.not.match(/=(&|$)/);
    // The menu stays open, and the focus where it was: the next value is one click away.
    const low = page.getByRole('checkbox', { name: /^Low/ });
    expect(await low.isVisible()).to.equal(true);
    expect(await page.evaluate('document.activeElement.value')).to.equal('high');
    await Promise.all([page.waitForURL(/severity=low/), low.click()]);
    expect(await tab.count('tr[data-ref]')).to.equal(6);
    expect(tab.faults).to.deep.equal([]);
  });

  it('an error’s line begins with what happened; its class comes after it', async () => {
    for (const path of ['/errors?project=rows', '/bugs?q=voucher']) {
      await tab.go(path);
      const row = page.locator('tr[data-ref] .cell-main');
      expect(await row.locator('> a').innerText(), path).to.equal('the voucher is unknown');
      expect(await row.locator('.cell-sub').innerText(), path).to.include('com.acme.VoucherError');
    }
  });

  it('Shift ticks all rows between two, by mouse and by keys', async () => {
    await tab.go('/bugs?project=rows&q=Row');
    const boxes = page.locator('tbody input[name="ids"]');
    await boxes.nth(1).click();
    await boxes.nth(4).click({ modifiers: ['Shift'] });
    expect(await ticked()).to.equal(4);
    expect(await page.locator('[data-bulk-count]').innerText()).to.equal('4 selected');
    await boxes.nth(3).click();
    await boxes.nth(1).click({ modifiers: ['Shift'] });
    expect(await ticked(), 'a box that is taken away takes the range away').to.equal(1);

    await tab.go('/bugs?project=rows&q=Row');
    for (const key of ['j', 'x', 'j', 'j', 'X']) await page.keyboard.press(key);
    expect(await ticked()).to.equal(3);
    await page.keyboard.press('J');
    expect(await ticked()).to.equal(4);
    expect(tab.faults).to.deep.equal([]);
  });

  it('a view that is shared in a project stands at the lists of that project', async () => {
    await tab.go('/bugs?project=rows&severity=low');
    await page.locator('summary', { hasText: 'Views' }).click();
    await page.getByLabel('Name of the view').fill('Small rows');
    await page.getByLabel('Who sees it').selectOption('project:rows');
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.getByText('View “Small rows” is saved for everybody in rows.').waitFor();
    const shown = page.locator('.saved-view', { hasText: 'Small rows' });
    await tab.go('/bugs?project=rows');
    expect(await shown.count()).to.equal(1);
    await tab.go('/bugs');
    expect(await shown.count()).to.equal(0);
  });

  it('without scripts the button applies the filters', async () => {
    const context = await browser.newContext({
      javaScriptEnabled: false,
      storageState: await page.context().storageState(),
    });
    const plain = await context.newPage();
    await plain.goto(`${service.url}/bugs?project=rows&q=Row`);
    await plain.locator('summary', { hasText: 'Severity' }).click();
    await plain.getByRole('checkbox', { name: /^High/ }).check();
    await plain.getByRole('button', { name: 'Filter', exact: true }).click();
    expect(await plain.locator('tr[data-ref]').count()).to.equal(4);
    await context.close();
  });
});
