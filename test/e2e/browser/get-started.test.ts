/**
 * Get started in a real browser: a project by its name, and the page of a step that shows the
 * event as it arrives. Skipped where there is no Chromium.
 */
import { expect } from 'chai';
import { useBrowser } from './use-browser.js';

describe('web: get started', () => {
  const web = useBrowser({ projects: [], scopes: 'bugtracker:report', tab: {} });

  it('shows the steps on Home of an empty service, and creates a project from its name', async () => {
    await web.tab.go('/');
    const steps = web.page.locator('#first-steps');
    await steps.getByRole('link', { name: 'New project' }).click();
    await web.page.getByLabel('Name', { exact: true }).fill('Web Shöp');
    await web.page.getByText('Slug: web-shop').waitFor();
    await web.page.getByRole('button', { name: 'Create project' }).click();
    await web.page.waitForURL('**/projects/web-shop');
    expect(web.tab.faults).to.deep.equal([]);
  });

  it('waits for the first event and links to its issue when it arrives', async () => {
    await web.tab.go('/first-steps');
    await web.page.getByRole('button', { name: 'Create token and show command' }).first().click();
    await web.page.getByText('Waiting for your first event…').waitFor();
    await web.post('/api/errors/v1/report', {
      project: 'web-shop',
      error_level: 'error',
      exception_class: 'TypeError',
      error_message: 'price is undefined',
    });
    const link = web.page.getByRole('status').getByRole('link', { name: /web-shop-1/ });
    await link.waitFor();
    expect(await link.getAttribute('href')).to.equal('/bugs/web-shop-1');
    expect(web.tab.faults).to.deep.equal([]);
  });

  it('shows errors on Home with values on focus, and follows the project switch', async () => {
    await web.tab.go('/');
    const plot = web.page.getByRole('slider', { name: /^Errors per 10 minutes/ });
    await plot.focus();
    await web.page.keyboard.press('End');
    expect(await plot.getAttribute('aria-valuetext')).to.match(/: 1, last week 0$/);
    expect(await web.page.locator('#panel-errorstream\\.errors').innerText()).to.match(/Errors\s+1/);
    await web.tab.go('/?project=nothing');
    expect(await web.page.locator('#panel-errorstream\\.errors').innerText()).to.match(/Errors\s+0/);
  });
});
