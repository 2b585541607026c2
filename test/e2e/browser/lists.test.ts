/**
 * Lists by a person with a browser: filters that apply when ticked and show counts, ranges with
 * Shift, views of a project.
 */
import { expect } from 'chai';
import { useBrowser } from './use-browser.js';

describe('web: lists in a real browser', () => {
  const web = useBrowser({
    projects: ['rows'],
    scopes: 'bugtracker:report',
    tab: {},
    prepare: async () => {
      for (let i = 1; i <= 6; i++) await web.reportBug('rows', `Row ${i}`, { severity: i <= 4 ? 'high' : 'low' });
      await web.reportError('rows', 'the voucher is unknown', { exception_class: 'com.acme.VoucherError' });
    },
  });

  const ticked = (): Promise<number> => web.tab.count('input[name="ids"]:checked');

  it('shows the number of matches of a filter value, and applies the value with one click', async () => {
    await web.tab.go('/bugs?project=rows&status=open&type=bug');
    await web.page.locator('summary', { hasText: 'Severity' }).click();
    const high = web.page.locator('label.dropdown-item', { hasText: 'High' });
    expect(await high.locator('.pick-count').innerText()).to.equal('4');
    await Promise.all([web.page.waitForURL(/severity=high/), high.click()]);
    expect(await web.tab.count('tr[data-ref]')).to.equal(4);
    expect(web.page.url(), 'empty fields are left out').to.not.match(/=(&|$)/);
    // The menu stays open, and the focus where it was: the next value is one click away.
    const low = web.page.getByRole('checkbox', { name: /^Low/ });
    expect(await low.isVisible()).to.equal(true);
    expect(await web.page.evaluate('document.activeElement.value')).to.equal('high');
    await Promise.all([web.page.waitForURL(/severity=low/), low.click()]);
    expect(await web.tab.count('tr[data-ref]')).to.equal(6);
    expect(web.tab.faults).to.deep.equal([]);
  });

  it('starts an error’s row with its message, followed by its class', async () => {
    for (const path of ['/errors?project=rows', '/bugs?q=voucher']) {
      await web.tab.go(path);
      const row = web.page.locator('tr[data-ref] .cell-main');
      expect(await row.locator('> a').innerText(), path).to.equal('the voucher is unknown');
      expect(await row.locator('.issue-kind').first().innerText(), path).to.include('com.acme.VoucherError');
    }
  });

  it('selects a range of rows with Shift, by mouse and by keyboard', async () => {
    await web.tab.go('/bugs?project=rows&q=Row');
    const boxes = web.page.locator('tbody input[name="ids"]');
    await boxes.nth(1).click();
    await boxes.nth(4).click({ modifiers: ['Shift'] });
    expect(await ticked()).to.equal(4);
    expect(await web.page.locator('[data-bulk-count]').innerText()).to.equal('4 selected');
    await boxes.nth(3).click();
    await boxes.nth(1).click({ modifiers: ['Shift'] });
    expect(await ticked(), 'a box that is taken away takes the range away').to.equal(1);

    await web.tab.go('/bugs?project=rows&q=Row');
    for (const key of ['j', 'x', 'j', 'j', 'X']) await web.page.keyboard.press(key);
    expect(await ticked()).to.equal(3);
    await web.page.keyboard.press('J');
    expect(await ticked()).to.equal(4);
    expect(web.tab.faults).to.deep.equal([]);
  });

  it('shows a view that is shared in a project on that project’s lists', async () => {
    await web.tab.go('/bugs?project=rows&severity=low');
    await web.page.locator('summary', { hasText: 'Views' }).click();
    await web.page.getByLabel('View name').fill('Small rows');
    await web.page.getByLabel('Visible to').selectOption('project:rows');
    await web.page.getByRole('button', { name: 'Save view' }).click();
    await web.page.getByText('View “Small rows” saved for everyone in rows').waitFor();
    const shown = web.page.locator('.saved-view', { hasText: 'Small rows' });
    await web.tab.go('/bugs?project=rows');
    expect(await shown.count()).to.equal(1);
    await web.tab.go('/bugs');
    expect(await shown.count()).to.equal(0);
  });

  it('applies the filters by button when scripts are disabled', async () => {
    const plain = await web.openPage({ javaScriptEnabled: false });
    await plain.goto(`${web.url}/bugs?project=rows&q=Row`);
    await plain.locator('summary', { hasText: 'Severity' }).click();
    await plain.getByRole('checkbox', { name: /^High/ }).check();
    await plain.getByRole('button', { name: 'Filter', exact: true }).click();
    expect(await plain.locator('tr[data-ref]').count()).to.equal(4);
  });
});
