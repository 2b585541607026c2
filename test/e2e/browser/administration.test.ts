/**
 * Pages of administration as people meet them in a real browser: presets of tokens, names of
 * projects, confirmations with their number, webhooks for a member, and what comes of a redelivery
 * without reload. Skipped where there is no Chromium.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { waitUntil } from '../../harness.js';
import { useBrowser } from './use-browser.js';

const MIA = 'mia';

describe('web: administration in a real browser', () => {
  let receiver: Server;
  /** What the receiver answers. */
  let answer = 500;
  let webhook: string;

  const web = useBrowser({
    scopes: 'bugtracker:report,bugtracker:manage,projects:manage,webhooks:manage,watchdog:ping,license:manage',
    prepare: async () => {
      receiver = createServer((request, response) => {
        request.resume().on('end', () => response.writeHead(answer).end());
      });
      await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', resolve));
      await web.post('/api/projects/v1/projects', { slug: 'shop', name: 'Online shop' });
      const { port } = receiver.address() as AddressInfo;
      const url = `http://127.0.0.1:${port}/hook/secret-path`;
      const made = { name: 'Chat', url, events: 'bug.created', project_slug: 'shop' };
      const { webhook: kept, id } = await web.post('/api/webhooks/v1/webhooks', made);
      webhook = String((kept as { id?: string } | undefined)?.id ?? id);
      await web.createMember(MIA);
    },
  });
  after(() => {
    receiver?.closeAllConnections();
    receiver?.close();
  });

  const report = (title: string): Promise<string> => web.reportBug('shop', title, { severity: 'low' });
  const deliveries = async (): Promise<{ id: string; attempt_count: number; state: string }[]> => {
    const { items } = await web.get(`/api/webhooks/v1/webhooks/${webhook}/deliveries`);
    return items as { id: string; attempt_count: number; state: string }[];
  };

  it('offers token presets by purpose, with their scopes selected and explained', async () => {
    const { page } = await web.openTab();
    const presets: [string, string[]][] = [
      ['Application', ['bugtracker:report', 'watchdog:ping']],
      ['Coding agent', ['bugtracker:manage', 'bugtracker:report', 'projects:read']],
      ['CI', ['updateservice:publish', 'bugtracker:report', 'projects:read']],
      ['Monitoring', ['watchdog:ping', 'watchdog:read', 'bugtracker:read', 'system:read']],
    ];
    for (const [name, scopes] of presets) {
      await web.tab.go('/tokens/new');
      await page
        .getByRole('navigation', { name: 'Presets' })
        .getByRole('link', { name: new RegExp(`^${name}`) })
        .click();
      await page.waitForURL(/preset=/);
      const ticked = await page
        .locator('input[name="scopes"]:checked')
        .evaluateAll((all) => all.map((one) => one.getAttribute('value') ?? ''));
      expect(ticked, name).to.have.members(scopes);
    }
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).to.match(/^monitoring/);
    expect(await page.locator('input[name="scopes"]').first().isVisible(), 'scopes are folded').to.equal(false);
    await page.getByLabel('Name', { exact: true }).fill('grafana');
    await page.getByRole('combobox', { name: 'Project', exact: true }).selectOption({ label: 'Online shop' });
    await page.getByRole('button', { name: /^Create/ }).click();
    await page
      .getByText(/^svc_live_/)
      .first()
      .waitFor();
    expect(await page.getByRole('main').innerText()).to.match(/scrape_configs:[^]*credentials: svc_live_/);
    await web.tab.go('/tokens');
    const row = page.locator('tr', { hasText: 'grafana' });
    expect(await row.locator('[data-label="Project"]').innerText()).to.equal('Online shop');
    expect(await row.locator('[data-label="Scopes"]').textContent()).to.include('watchdog:read');
  });

  it('shows names of projects in lists and filters', async () => {
    await report('Prices are rounded twice');
    const { page } = await web.openTab();
    await web.tab.go('/webhooks');
    expect(await page.locator('tr', { hasText: 'Chat' }).locator('[data-label="Project"]').innerText()).to.equal(
      'Online shop',
    );
    for (const path of ['/bugs?project=shop', '/errors?project=shop']) {
      await web.tab.go(path);
      const chips = page.getByRole('group', { name: 'Active filters' });
      expect(await chips.innerText(), path).to.include('Online shop');
    }
  });

  it('shows the result of a redelivery without a reload, on every open page with the delivery', async () => {
    answer = 500;
    await report('The receiver is broken');
    await waitUntil('the first attempt failed', async () =>
      (await deliveries()).some(({ state }) => state === 'retrying'),
    );
    const id = (await deliveries()).find(({ state }) => state === 'retrying')?.id ?? '';
    const { page } = await web.openTab();
    const other = await page.context().newPage();
    await other.goto(`${web.url}/webhooks/${webhook}`);
    await other.locator('[data-follow="on"]').waitFor();
    await web.tab.go(`/webhooks/${webhook}/deliveries/${id}`);
    await page.locator('[data-follow="on"]').waitFor();
    await page.evaluate('window.kept = true');
    answer = 204;
    // By the interface, as another process would.
    await web.post(`/api/webhooks/v1/deliveries/${id}/redeliver`);
    await page.getByText('Delivered: HTTP 204').waitFor({ timeout: 60_000 });
    expect(await page.evaluate('window.kept')).to.equal(true);
    await other.locator('tr', { hasText: 'HTTP 204' }).first().waitFor({ timeout: 60_000 });
  });

  it('shows members webhook names, events, states, deliveries and hosts, but no actions', async () => {
    const { page } = await web.openTab({ username: MIA });
    await web.tab.go('/webhooks');
    const row = page.locator('tr', { hasText: 'Chat' });
    expect(await row.innerText())
      .to.include('bug.created')
      .and.match(/Enabled|Failing/);
    expect(await page.getByRole('link', { name: 'New webhook' }).count()).to.equal(0);
    await row.getByRole('link', { name: 'Chat' }).click();
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
    const text = await page.locator('main').innerText();
    expect(text).to.include('127.0.0.1').and.not.include('secret-path');
    expect(await page.locator('main form[method="post"]').count()).to.equal(0);
    await page.locator('td.cell-main a').first().click();
    await page.getByRole('heading', { name: 'Payload' }).waitFor();
    expect(await page.locator('main form[method="post"]').count()).to.equal(0);
    expect(await page.locator('main').innerText()).to.include('Only administrators see responses.');
    expect(await web.tab.go('/webhooks/new')).to.equal(403);
    expect(await page.locator('main').innerText()).to.match(/admin/i);
    for (const path of ['/users', '/tokens']) expect(await web.tab.go(path), path).to.equal(403);
  });

  it('shows in a confirmation how many activations or tokens it ends', async () => {
    const made = await web.post('/api/license/v1/licenses', { product: 'shop', licensee: 'K', max_activations: 3 });
    for (const machine_id of ['m-1', 'm-2']) {
      const body = { license_key: made['key'], product: 'shop', machine_id };
      expect((await web.service.request('POST', '/api/license/v1/validate', null, body)).status).to.equal(200);
    }
    await web.post('/api/watchdog/v1/ping', { source: 'queue' });
    await web.service.runCommand(['token', 'create', '--name', 'q', '--scopes', 'watchdog:ping', '--source', 'queue']);
    const { page } = await web.openTab();
    const requested = async (path: string, menu: string): Promise<string> => {
      await web.tab.go(path);
      const confirm = page.locator('details.confirm').filter({ has: page.locator('summary', { hasText: menu }) });
      await confirm.first().locator('summary').click();
      return confirm.first().locator('button[type="submit"]').innerText();
    };
    const { id } = made['license'] as { id: string };
    const total = (await deliveries()).length;
    expect(await requested(`/licenses/${id}`, 'Revoke')).to.equal('Revoke for 2 machines');
    expect(await requested(`/licenses/${id}`, 'Deactivate license')).to.equal('Deactivate for 2 machines');
    expect(await requested('/monitors/queue/edit', 'Delete')).to.equal('Delete and revoke 1 token');
    expect(await requested(`/webhooks/${webhook}`, 'Delete')).to.equal(
      `Delete with ${total} ${total === 1 ? 'delivery' : 'deliveries'}`,
    );
    await web.tab.go('/users');
    await page.getByRole('link', { name: MIA }).click();
    await page.waitForURL(/\/users\/[0-9a-f-]+$/);
    const user = new URL(page.url()).pathname;
    expect(await requested(user, 'Disable account')).to.match(/^Disable and end 1 session$/);
    expect(await requested(user, 'Delete account')).to.match(/^Delete and end 1 session$/);
  });

  it('applies undoable bulk changes without confirmation, and offers undo for a minute', async () => {
    for (const title of ['One thing', 'Another thing']) await report(title);
    const { page } = await web.openTab();
    await web.tab.go('/bugs?q=thing');
    await page.locator('tbody input[name="ids"]').first().check();
    await page.locator('tbody input[name="ids"]').nth(1).check();
    await page.getByLabel('Action', { exact: true }).selectOption('status:closed');
    // What can be taken back is not asked for.
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('2 issues closed').waitFor();
    expect(await page.locator('tbody tr', { hasText: 'thing' }).first().innerText()).to.include('Closed');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('2 issues restored').waitFor({ timeout: 60_000 });
    await page.getByRole('link', { name: 'Back' }).click();
    expect(await page.locator('tbody tr', { hasText: 'thing' }).first().innerText()).to.include('Open');
  });
});
