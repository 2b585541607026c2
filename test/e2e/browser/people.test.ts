/**
 * The pages of bugs, errors, ignore rules and notifications as people meet them in a real browser:
 * planted texts that move no layout, phones, confirmations and forms without scripts. Skipped where
 * there is no Chromium.
 */
import { expect } from 'chai';
import { ADMIN_ACCOUNT } from '../../support/service.js';
import { useBrowser } from './use-browser.js';

const LETTERS = 'W'.repeat(8192);
const SCRIPT = '<script>document.title = "owned"</script><img src=x onerror=alert(1)>';
/** Unbroken, as long as the field takes it, with a script at its end. */
const planted = (most: number): string => `${LETTERS.slice(0, most - SCRIPT.length)}${SCRIPT}`;

describe('web: error and bug pages with realistic input', () => {
  const web = useBrowser({ projects: ['shop', 'planted', 'phone'], scopes: 'bugtracker:report,bugtracker:manage' });

  /** An error with such a text in every field, worked on by people and agents with such texts. */
  async function plant(): Promise<{ ref: string; rule: string; channel: string }> {
    const text = planted(8192);
    const body = {
      project: 'planted',
      error_level: 'error',
      error_message: text,
      exception_class: planted(200),
      file: planted(1000),
      line: 7,
      stack_trace: `${text}\n    at ${planted(4000)} (/srv/${LETTERS.slice(0, 900)}.js:1:2)\n    at run (/srv/a.js:3:4)`,
      environment: planted(200),
      app_version: planted(200),
      commit_sha: planted(200),
      repo_url: `https://${LETTERS.slice(0, 400)}`,
      host: planted(200),
      tags: Array.from({ length: 32 }, (_, i) => `${i}${planted(190)}`),
      context: { [text.slice(0, 4000)]: text, deep: { deeper: { [planted(300)]: [text] } } },
      breadcrumbs: [{ category: planted(500), level: 'error', message: text, data: { [planted(200)]: text } }],
    };
    const ref = String((await web.post('/api/errors/v1/report', body))['ref']);
    await web.post('/api/errors/v1/report', { ...body, error_message: text, host: 'w' });
    const path = `/api/bugtracker/v1/bugs/${ref}`;
    await web.call('PATCH', path, {
      description: text,
      target_agent: planted(200),
      reason: planted(4000),
      pr_url: `https://x.example/${LETTERS.slice(0, 400)}`,
    });
    await web.post(`${path}/comments`, { body: planted(16_000) });
    await web.post(`${path}/claim`, { agent: planted(200) });
    const rule = (
      await web.post('/api/errors/v1/ignore-rules', {
        name: planted(200),
        match_type: 'contains',
        pattern: planted(500),
        reason: planted(1000),
        environment: planted(200),
        project: 'planted',
      })
    )['rule'] as { id: string };
    const { page } = await web.openTab({ scripts: false });
    await page.goto(`${web.url}/notifications/new`);
    await page.getByRole('link', { name: 'Slack, Mattermost or Discord' }).click();
    await page.getByLabel('Name', { exact: true }).fill(planted(100));
    await page.getByLabel('Webhook URL').fill(`https://hooks.example/${LETTERS.slice(0, 1500)}`);
    await page.getByRole('button', { name: 'Send test and save' }).click();
    await page.getByRole('button', { name: 'Save anyway' }).click();
    const channel = page.url().split('/').at(-1) ?? '';
    expect(channel, await page.locator('main').innerText()).to.match(/^[0-9a-f-]{36}$/);
    await page.goto(`${web.url}/bugs?project=planted`);
    await page.locator('summary', { hasText: 'Views' }).click();
    await page.getByLabel('View name').fill(planted(80));
    await page.getByRole('button', { name: 'Save view' }).click();
    return { ref, rule: rule.id, channel };
  }

  it('preserves the layout with any external text, and executes none of it', async () => {
    const { ref, rule, channel } = await plant();
    const paths = [
      '/bugs?view=all',
      `/bugs?q=${LETTERS.slice(0, 450)}&tag=${LETTERS.slice(0, 150)}&view=all`,
      `/bugs/${ref}`,
      `/bugs/${ref}?find=${LETTERS.slice(0, 400)}`,
      `/bugs/${ref}/alike`,
      '/bugs/new',
      '/errors?muted=any',
      '/ignore-rules',
      `/ignore-rules/${rule}`,
      `/ignore-rules/${rule}?apply=ask`,
      `/ignore-rules/${rule}/edit`,
      `/ignore-rules/new?match_type=contains&pattern=${LETTERS.slice(0, 500)}&name=${LETTERS.slice(0, 200)}`,
      '/notifications',
      `/notifications/${channel}`,
      `/notifications/${channel}/edit`,
    ];
    for (const width of [360, 1440]) {
      const { page } = await web.openTab({ width });
      for (const path of paths) {
        expect(await web.tab.go(path), path).to.equal(200);
        // What is folded is part of the page too.
        await page.evaluate("document.querySelectorAll('main details').forEach((one) => (one.open = true))");
        expect(await web.tab.overflow(), `${path} at ${width}`).to.equal(0);
        expect(await page.title(), path).to.not.equal('owned');
      }
      expect(web.tab.faults).to.deep.equal([]);
    }
  });

  it('collapses the filters on a phone, and leaves the status button visible', async () => {
    const error_message = 'cache timed out while it was asked for the basket';
    await web.post('/api/errors/v1/report', { project: 'phone', error_level: 'error', error_message });
    const { page } = await web.openTab({ width: 360 });
    await page.setViewportSize({ width: 360, height: 640 });
    await web.tab.go('/bugs');
    expect(await page.locator('.toolbar-folds').isVisible()).to.equal(false);
    await page.locator('.toolbar-label').click();
    expect(await page.locator('.toolbar-folds').isVisible()).to.equal(true);

    await web.tab.go('/bugs/phone-1');
    const button = page.locator('.item-bar').getByRole('button', { name: 'Resolve' });
    for (const top of [0, 400, 100_000]) {
      await page.evaluate(`scrollTo(0, ${top})`);
      expect(await button.isVisible()).to.equal(true);
      const box = await button.boundingBox();
      expect((box?.y ?? 0) + (box?.height ?? 0), `scrolled to ${top}`).to.be.at.most(640);
    }
    await button.click();
    await page.getByText('Issue resolved').first().waitFor();
    expect((await web.getItem('phone-1'))['status']).to.equal('resolved');
  });

  it('shows a confirmation with a working Cancel button, with scripts and without', async () => {
    const made = (
      await web.post('/api/errors/v1/ignore-rules', { match_type: 'contains', pattern: 'x y z', reason: 'r' })
    )['rule'] as { id: string };
    const path = `/ignore-rules/${made.id}`;
    const { page } = await web.openTab();
    await web.tab.go(path);
    const menu = page.locator('details.confirm').filter({ hasText: 'Delete' });
    await menu.locator('summary').click();
    await menu.getByRole('link', { name: 'Cancel' }).click();
    expect(await menu.getAttribute('open')).to.equal(null);
    expect(await menu.locator('summary').evaluate((one) => one === one.ownerDocument.activeElement)).to.equal(true);

    const { page: plain } = await web.openTab({ scripts: false });
    await plain.goto(web.url + path);
    const folded = plain.locator('details.confirm').filter({ hasText: 'Delete' });
    await folded.locator('summary').click();
    await folded.getByRole('link', { name: 'Cancel' }).click();
    expect(await folded.getAttribute('open')).to.equal(null);
    expect(plain.url()).to.equal(web.url + path);
  });

  it('creates, assigns and closes an item, undoes the close and opens the next item, without scripts', async () => {
    const older = await web.reportBug('shop', 'The older one');
    const { page } = await web.openTab({ scripts: false });
    await page.goto(`${web.url}/bugs`);
    await page.getByRole('link', { name: 'New issue' }).click();
    await page.locator('#f-project').selectOption('shop');
    await page.getByLabel('Title').fill('Prices are rounded twice');
    await page.getByLabel('Description').fill('Buy three of one.');
    await page.locator('summary', { hasText: 'Advanced' }).click();
    await page.getByLabel('Tags').fill('prices, cart');
    await page.getByRole('button', { name: 'Create issue' }).click();
    const ref = page.url().split('/').at(-1) ?? '';
    expect(await web.getItem(ref)).to.deep.include({
      source: 'ui',
      status: 'open',
      tags: ['prices', 'cart'],
      assignee: null,
    });
    await page.getByRole('button', { name: 'Assign to me' }).click();
    expect((await web.getItem(ref))['assignee']).to.equal(ADMIN_ACCOUNT.username);
    await page.locator('#move > summary').click();
    await page.locator('#move summary', { hasText: 'Close' }).click();
    await page.locator('#move').getByRole('button', { name: 'Close' }).click();
    expect((await web.getItem(ref))['status']).to.equal('closed');
    await page.getByRole('button', { name: 'Undo' }).click();
    expect(await web.getItem(ref)).to.include({ status: 'open', closed_at: null });
    await page.getByRole('button', { name: 'Unassign' }).click();
    expect((await web.getItem(ref))['assignee']).to.equal(null);
    await page.getByRole('link', { name: 'Next issue' }).click();
    expect(page.url()).to.equal(`${web.url}/bugs/${older}`);
  });

  it('shows all errors of a form at their fields, and preserves the input, without scripts', async () => {
    const { page } = await web.openTab({ scripts: false });
    const send = async (): Promise<void> => {
      // What the browser itself would hold back reaches the service from elsewhere.
      await page
        .locator('main form[method=post]')
        .last()
        .evaluate((form) => form.setAttribute('novalidate', ''));
    };
    await page.goto(`${web.url}/bugs/new`);
    await send();
    await page.getByLabel('Title').fill('x'.repeat(300));
    await page.locator('summary', { hasText: 'Advanced' }).click();
    await page.getByLabel('Environment').fill('kept');
    await page.getByRole('button', { name: 'Create issue' }).click();
    expect(await page.locator('[aria-invalid=true]').count()).to.equal(2);
    expect(await page.getByLabel('Environment').inputValue()).to.equal('kept');
    expect(await page.locator('.invalid-feedback').allInnerTexts()).to.satisfy((all: string[]) =>
      all.some((text) => text.includes('Must have at most 200 characters (now 300).')),
    );

    await page.goto(`${web.url}/notifications/new?kind=slack`);
    await page.locator('summary', { hasText: 'Advanced' }).click();
    await send();
    await page.getByLabel('Name', { exact: true }).fill('');
    await page.getByLabel('Time zone').fill('Nowhere/Land');
    await page.getByLabel('Group messages every').fill('2000');
    await page.getByRole('button', { name: 'Send test and save' }).click();
    const faults = await page.locator('.invalid-feedback').allInnerTexts();
    expect(faults.join('\n')).to.include('Required').and.include('Must be at most 1,440.');
    expect(faults.length).to.be.at.least(3);
    expect(faults.join('\n')).to.not.match(/must be|not allowed|less than or equal/);
    expect(await page.getByLabel('Time zone').inputValue()).to.equal('Nowhere/Land');
  });
});
