/** Status pages as visitors use them, in a browser without scripts and with a real mail server. */
import { expect } from 'chai';
import { waitUntil } from '../../harness.js';
import { buildMailSettings, MailServer } from '../../support/mail-server.js';
import { useBrowser } from './use-browser.js';

const PAGES = '/api/watchdog/v1/status-pages';
const PASSWORD = 'only for customers';

describe('web: public status pages in a real browser', () => {
  const mail = new MailServer();
  const settings: Record<string, string> = {};
  before(async () => void Object.assign(settings, buildMailSettings(await mail.start())));
  after(() => mail.close());
  const web = useBrowser({
    settings,
    scopes: 'watchdog:manage',
    prepare: () =>
      web.post<void>(PAGES, {
        slug: 'shop',
        title: 'Shop status',
        published: true,
        subscriptions: true,
        password: PASSWORD,
      }),
  });
  const linkIn = async (n: number, path: RegExp): Promise<string> => {
    await waitUntil(`mail ${n}`, () => mail.raw.length >= n);
    const { text = '' } = (await mail.parseMails())[n - 1] ?? {};
    return new URL(path.exec(text)?.[0] ?? '').pathname;
  };

  it('opens with the password, and subscribes and unsubscribes a visitor', async () => {
    await web.openTab({ scripts: false, username: null });
    const { page } = web;
    await page.goto(`${web.url}/status-page/shop`);
    expect(await page.title()).to.equal('Status page');
    const enter = async (password: string): Promise<void> => {
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'View page' }).click();
    };
    await enter('wrong password');
    expect(await page.getByRole('alert').innerText()).to.equal('Incorrect password.');
    await enter(PASSWORD);
    await page.waitForURL(`${web.url}/status-page/shop`);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).to.equal('Shop status');

    await page.getByRole('link', { name: 'Get updates by e-mail' }).click();
    await page.getByLabel('E-mail address').fill('ada@example.com');
    await page.getByRole('button', { name: 'Subscribe' }).click();
    await page.getByRole('heading', { name: 'Check your inbox' }).waitFor();
    await page.goto(web.url + (await linkIn(1, /http\S+\/confirm\/\S+/)));
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('heading', { name: 'You are subscribed' }).waitFor();

    await web.post(`${PAGES}/shop/announcements`, { kind: 'incident', title: 'Payments fail', text: 'We look.' });
    await page.goto(web.url + (await linkIn(2, /http\S+\/unsubscribe\/\S+/)));
    expect((await mail.parseMails())[1]?.subject).to.equal('[Shop status] Payments fail: investigating');
    await page.getByRole('button', { name: 'Unsubscribe' }).click();
    await page.getByRole('heading', { name: 'You are unsubscribed' }).waitFor();
    expect((await web.get<{ items: object[] }>(`${PAGES}/shop/subscribers`)).items).to.deep.equal([]);
  });
});
