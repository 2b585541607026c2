/**
 * An invitation from the form of an administrator over the mail to the first page of the new
 * member, in a real browser. Skipped where there is no Chromium.
 */
import { expect } from 'chai';
import { waitUntil } from '../../harness.js';
import { buildMailSettings, MailServer } from '../../support/mail-server.js';
import { ADMIN_ACCOUNT } from '../../support/service.js';
import { useBrowser } from './use-browser.js';

const EMAIL = 'lena.fox@example.org';
const PASSWORD = 'violet-harbour-lantern';

describe('web: invitations', () => {
  const mails = new MailServer();
  const settings: Record<string, string> = {};
  before(async () => void Object.assign(settings, buildMailSettings(await mails.start())));
  after(() => mails.close());
  const web = useBrowser({ settings });

  const invite = async (): Promise<string> => {
    const { page } = await web.openTab({ path: '/users' });
    await page.getByLabel('E-mail').first().fill(EMAIL);
    await page.getByRole('button', { name: 'Send invitation' }).click();
    await page.getByRole('heading', { name: 'Invitation sent' }).waitFor();
    expect(await page.getByRole('button', { name: 'Copy invitation link' }).first().isVisible()).to.equal(true);
    return page.locator('#invitation-link code').innerText();
  };
  /** The service does not know its port. */
  const toUrl = (link: string): string => web.url + new URL(link).pathname;

  it('reach the invited person by mail, who chooses a password and is signed in', async () => {
    const link = await invite();
    await waitUntil('the mail has arrived', () => Promise.resolve(mails.raw.length > 0));
    const [mail] = await mails.parseMails();
    expect(mails.recipients).to.deep.equal([[EMAIL]]);
    expect(mail?.text).to.include(link);

    const { page } = await web.openTab({ username: null, width: 360 });
    const referers: (string | undefined)[] = [];
    page.on('request', (request) => referers.push(request.headers()['referer']));
    await page.goto(toUrl(link));
    expect(await page.locator('main').innerText())
      .to.include(`${ADMIN_ACCOUNT.username} invited`)
      .and.include(EMAIL);
    expect(await web.tab.overflow()).to.equal(0);
    expect(await page.getByLabel('Username').inputValue()).to.equal('lena.fox');
    await page.getByLabel('Username').fill('lena');
    await page.getByLabel('Password').fill('password1234');
    await page.getByRole('button', { name: 'Accept and sign in' }).click();
    await page.getByText('Is too common').waitFor();
    expect(await page.getByLabel('Username').inputValue()).to.equal('lena');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Accept and sign in' }).click();
    await page.waitForURL(`${web.url}/`);
    expect(await page.getByLabel('Account of lena').count()).to.equal(1);
    expect(referers.filter((one) => one?.includes('/invitations/'))).to.deep.equal([]);
    expect(web.tab.faults.filter((fault) => !fault.includes('422'))).to.deep.equal([]);

    const { page: late } = await web.openTab({ username: null });
    const answer = await late.goto(toUrl(link));
    expect(answer?.status()).to.equal(410);
    await late.getByText('This invitation was already used.').waitFor();
  });

  it('are revoked and renewed without scripts', async () => {
    const { page } = await web.openTab({ scripts: false });
    await page.goto(`${web.url}/users`);
    await page.getByLabel('E-mail').first().fill('max@example.org');
    await page.getByRole('button', { name: 'Send invitation' }).click();
    const first = await page.locator('#invitation-link code').innerText();
    await page.getByRole('link', { name: 'Done' }).click();
    const row = page.getByRole('row').filter({ hasText: 'max@example.org' });
    await row.getByRole('button', { name: 'Resend' }).click();
    const second = await page.locator('#invitation-link code').innerText();
    const { page: visitor } = await web.openTab({ username: null });
    expect((await visitor.goto(toUrl(first)))?.status()).to.equal(410);
    expect((await visitor.goto(toUrl(second)))?.status()).to.equal(200);
    await page.getByRole('link', { name: 'Done' }).click();
    await row.locator('summary', { hasText: 'Revoke' }).click();
    await row.getByRole('button', { name: 'Revoke invitation' }).click();
    expect(await row.count()).to.equal(0);
    expect((await visitor.goto(toUrl(second)))?.status()).to.equal(410);
  });
});
