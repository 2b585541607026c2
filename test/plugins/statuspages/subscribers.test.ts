/**
 * Subscribers of status pages, with a real mail server: entered, confirmed, told, unsubscribed,
 * seen and removed.
 */
import { expect } from 'chai';
import { waitUntil } from '../../harness.js';
import { WebSession } from '../../pages/web-session.js';
import { buildMailSettings, MailServer } from '../../support/mail-server.js';
import { ADMIN_ACCOUNT, TestService } from '../../support/service.js';

const PAGES = '/api/watchdog/v1/status-pages';

describe('status page subscribers', function () {
  const mail = new MailServer();
  let service: TestService;
  let token: string;

  before(async () => {
    service = await TestService.createInProcess({
      ...buildMailSettings(await mail.start()),
      SVC_BASE_URL: 'http://aos.example',
    });
    token = await service.createToken('watchdog:manage,watchdog:read');
    await make('shop', 'Shop status');
  });
  after(async () => {
    await service?.dispose();
    await mail.close();
  });
  beforeEach(() => {
    mail.raw.length = 0;
    mail.recipients.length = 0;
    mail.reject = () => null;
  });

  const api = (method: string, path: string, body?: object) => service.request(method, `${PAGES}${path}`, token, body);
  const make = async (slug: string, title: string, more: object = {}): Promise<void> => {
    const made = await api('POST', '', { slug, title, published: true, subscriptions: true, ...more });
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
  };
  const subscribe = async (email: string, slug = 'shop') =>
    new WebSession(service.url).post(`/status-page/${slug}/subscribe`, { email });
  const sentTo = async (address: string) =>
    (await mail.parseMails()).filter(({ to }) => to?.some((one) => one.address === address));
  /** The path of a link in the newest mail to an address. */
  const linkTo = async (address: string, path: RegExp): Promise<string> => {
    await waitUntil(`a mail to ${address}`, async () => (await sentTo(address)).length > 0);
    const { text = '' } = (await sentTo(address)).at(-1) ?? {};
    const [link = ''] = path.exec(text) ?? [];
    expect(link, text).not.to.equal('');
    return new URL(link).pathname;
  };
  const CONFIRM = /http\S+\/subscribe\/confirm\/\S+/;
  const UNSUBSCRIBE = /http\S+\/unsubscribe\/\S+/;
  /** Subscribes and confirms. The throttle takes five of all subscriptions from here at once. */
  const enter = async (email: string, slug = 'shop'): Promise<void> => {
    expect((await subscribe(email, slug)).status).to.equal(200);
    const path = await linkTo(email, CONFIRM);
    const confirmed = await new WebSession(service.url).post(path, {});
    expect([confirmed.status, confirmed.text.includes('You are subscribed')]).to.deep.equal([200, true]);
  };
  const announce = async (body: object, slug = 'shop'): Promise<string> => {
    const made = await api('POST', `/${slug}/announcements`, { kind: 'incident', ...body });
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    return (made.body['announcement'] as { id: string }).id;
  };
  const list = async (slug = 'shop') =>
    (await api('GET', `/${slug}/subscribers`)).body['items'] as { id: string; email: string; confirmed: boolean }[];

  it('confirm an address by a form behind the link, not by the link alone', async () => {
    const requested = await subscribe('Ada@example.com');
    expect(requested.text).to.include('Check your inbox').and.not.include('Ada@');
    const path = await linkTo('Ada@example.com', CONFIRM);
    const scanner = new WebSession(service.url);
    for (let i = 0; i < 3; i++) expect((await scanner.get(path)).text).to.include('Confirm your address');
    expect((await list()).map(({ confirmed }) => confirmed)).to.deep.equal([false]);
    expect((await scanner.post(path, {})).status).to.equal(200);
    expect((await list()).map(({ email, confirmed }) => [email, confirmed])).to.deep.equal([['Ada@example.com', true]]);
    expect((await scanner.get(path)).status, 'the link counts once').to.equal(410);
    const [sent] = await sentTo('Ada@example.com');
    expect(sent?.subject).to.equal('Confirm your subscription to Shop status');
    const stored = JSON.stringify(await list());
    expect(stored).not.to.include(path.split('/').at(-1));
  });

  it('get the same response for existing, new and too frequent addresses', async () => {
    const texts = new Set<string>();
    const plain = (text: string): string => text.replaceAll(/value="[^"]*"/g, '');
    for (const email of ['ada@EXAMPLE.com', 'nobody@example.com']) texts.add(plain((await subscribe(email)).text));
    expect(texts.size).to.equal(1);
    for (const address of ['Ada@example.com', 'nobody@example.com'])
      await waitUntil(`a mail to ${address}`, async () => (await sentTo(address)).length > 0);
    const [again] = await sentTo('Ada@example.com');
    expect(again?.subject).to.equal('You are already subscribed to Shop status');
    expect((await subscribe('no address')).status).to.equal(422);
  });

  it('receive one mail per incident step, with one-click unsubscribe', async () => {
    const id = await announce({ title: 'Payments fail', text: 'Cards are <b>refused</b>.\nWe look.' });
    await waitUntil('the first mail', () => mail.raw.length === 1);
    for (const [state, text] of [
      ['identified', 'A certificate has expired.'],
      ['resolved', 'Cards are taken again.'],
    ])
      expect((await api('POST', `/shop/announcements/${id}/updates`, { state, text })).status).to.equal(201);
    await waitUntil('all mails', () => mail.raw.length === 3);
    const mails = await sentTo('Ada@example.com');
    expect(mails.map(({ subject }) => subject)).to.deep.equal([
      '[Shop status] Payments fail: investigating',
      '[Shop status] Payments fail: identified',
      '[Shop status] Payments fail: resolved',
    ]);
    expect(mails[0]?.html).to.include('Cards are &lt;b&gt;refused&lt;/b&gt;.<br>We look.');
    const header = (name: string): string => mails[0]?.headers.find(({ key }) => key === name)?.value ?? '';
    expect(header('list-unsubscribe-post')).to.equal('List-Unsubscribe=One-Click');
    const [, url = ''] = /^<(http\S+)>$/.exec(header('list-unsubscribe')) ?? [];
    const at = `${service.url}${new URL(url).pathname}`;
    const opened = await fetch(at, { redirect: 'manual' });
    expect([opened.status, (await list()).length]).to.deep.equal([303, 2]);
    expect(opened.headers.get('location')).to.equal(new URL(url).pathname.replace('/one-click', ''));
    const oneClick = await fetch(at, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'List-Unsubscribe=One-Click',
    });
    expect(oneClick.status).to.equal(200);
    expect((await list()).map(({ email }) => email)).to.deep.equal(['nobody@example.com']);
    expect((await fetch(at.replace(/.{3}\/one-click$/, 'xxx/one-click'), { method: 'POST' })).status).to.equal(404);
    const view = (await api('GET', '/shop/announcements')).body['items'] as object[];
    expect(view[0]).not.to.have.any.keys('mails', 'mails_at', 'mail_due_at');
  });

  it('are notified of planned work when announced, started and ended, with an unsubscribe link', async () => {
    await make('disks', 'Disks', { timezone: 'Europe/Zurich' });
    await enter('bob@example.com', 'disks');
    const soon = (ms: number): string => new Date(Date.now() + ms).toISOString();
    const id = await announce(
      { kind: 'maintenance', title: 'New disks', text: 'Slow.', starts_at: soon(3_000), ends_at: soon(6_000) },
      'disks',
    );
    const subjects = async () => (await sentTo('bob@example.com')).slice(1).map(({ subject }) => subject);
    const reported = async (n: number): Promise<void> =>
      waitUntil(`mail ${n}`, async () => {
        await service.runJob('statuspages.news');
        return (await subjects()).length >= n;
      });
    await reported(1);
    expect((await sentTo('bob@example.com')).at(-1)?.text).to.match(/From \S+ \S+ \(Europe\/Zurich\) until/);
    await reported(3);
    expect(await subjects()).to.deep.equal([
      '[Disks] New disks: planned',
      '[Disks] New disks: in progress',
      '[Disks] New disks: completed',
    ]);
    const leave = await linkTo('bob@example.com', UNSUBSCRIBE);
    const reader = new WebSession(service.url);
    expect((await reader.get(leave)).text).to.include('Unsubscribe');
    expect(await list('disks')).to.have.length(1);
    expect((await reader.post(leave, {})).text).to.include('You are unsubscribed');
    expect(await list('disks')).to.deep.equal([]);
    expect((await reader.post(leave, {})).status, 'twice').to.equal(200);
    expect((await api('DELETE', `/disks/announcements/${id}`)).status).to.equal(200);
  });

  it('receive nothing from a page that is withdrawn or has subscriptions disabled', async () => {
    await make('quiet', 'Quiet');
    await enter('cy@example.com', 'quiet');
    await api('PATCH', '/quiet', { published: false });
    await announce({ title: 'Nobody sees it', text: 'x' }, 'quiet');
    await service.runJob('statuspages.news');
    await api('PATCH', '/quiet', { published: true, subscriptions: false });
    await announce({ title: 'Nobody asked', text: 'x' }, 'quiet');
    await service.runJob('statuspages.news');
    await api('PATCH', '/quiet', { subscriptions: true });
    await announce({ title: 'Seen', text: 'x' }, 'quiet');
    await waitUntil('the mail', async () => (await sentTo('cy@example.com')).length === 2);
    expect((await sentTo('cy@example.com')).map(({ subject }) => subject)).to.deep.equal([
      'Confirm your subscription to Quiet',
      '[Quiet] Seen: investigating',
    ]);
    for (const path of ['/subscribe', '/subscribe/confirm/x']) {
      await api('PATCH', '/quiet', { subscriptions: false });
      expect((await fetch(`${service.url}/status-page/quiet${path}`)).status, path).to.be.oneOf([404]);
    }
  });

  it('reach the form only with the password of the page', async () => {
    await make('closed', 'Closed page', { password: 'only for customers' });
    const got = await fetch(`${service.url}/status-page/closed/subscribe`, { redirect: 'manual' });
    expect([got.status, got.headers.get('location')]).to.deep.equal([303, '/status-page/closed']);
    const visitor = new WebSession(service.url);
    const sent = await visitor.post(
      '/status-page/closed/subscribe',
      { email: 'dora@example.com' },
      '/status-page/closed',
    );
    expect([sent.status, sent.text.includes('Closed page')]).to.deep.equal([401, false]);
    expect(await list('closed')).to.deep.equal([]);
    await visitor.post('/status-page/closed/password', { password: 'only for customers' }, '/status-page/closed');
    expect((await visitor.get('/status-page/closed')).text).to.include('/status-page/closed/subscribe');
    expect((await visitor.get('/status-page/closed/subscribe')).text).to.include('type="email"');
  });

  it('are throttled per address that subscribes repeatedly', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 12 && !statuses.includes(429); i++)
      statuses.push((await subscribe(`many-${i}@example.com`)).status);
    expect(statuses.at(-1)).to.equal(429);
  });

  it('are shown to managers of the page only, and are removed and exported without formulas', async () => {
    const reader = await service.createToken('watchdog:read');
    expect((await service.request('GET', `${PAGES}/shop/subscribers`, reader)).status).to.equal(403);
    await service.createProject('other');
    const bound = await service.createToken('watchdog:manage', 'other');
    expect((await service.request('GET', `${PAGES}/shop/subscribers`, bound)).status).to.equal(404);
    const { body } = await api('GET', '/shop');
    const at = `/status-pages/${(body['page'] as { id: string }).id}/subscribers`;
    expect((await fetch(`${service.url}${at}.csv`, { redirect: 'manual' })).status).to.equal(303);
    const admin = new WebSession(service.url);
    expect(await admin.signIn(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password)).to.equal(303);
    expect((await admin.get(at)).text)
      .to.include('nobody@example.com')
      .and.include('Unconfirmed');
    const csv = await admin.get(`${at}.csv`);
    expect(csv.headers.get('content-type')).to.equal('text/csv; charset=utf-8');
    expect(csv.text)
      .to.match(/^email,confirmed_at,created_at\r\n/)
      .and.include('"nobody@example.com",""');
    const [one] = await list();
    expect((await admin.post(`${at}/${one?.id}/remove`, {}, at)).status).to.equal(303);
    expect((await list()).map(({ id }) => id)).not.to.include(one?.id);
    expect((await admin.get('/audit')).text).to.not.include('nobody@example.com');
  });

  it('are deleted with the page, together with unsent mails', async () => {
    await make('gone', 'Gone');
    await api('DELETE', '/gone');
    expect((await api('GET', '/gone/subscribers')).status).to.equal(404);
  });
});

describe('status page subscribers without a mail server', function () {
  it('cannot be enabled, and the error names the missing configuration', async () => {
    const service = await TestService.createInProcess({});
    try {
      const token = await service.createToken('watchdog:manage');
      const body = { slug: 'shop', title: 'Shop', subscriptions: true };
      const rejected = await service.request('POST', PAGES, token, body);
      expect(rejected.status).to.equal(422);
      expect((rejected.body['error'] as { fields: object }).fields).to.deep.equal({
        subscriptions: 'requires e-mail: set notifications.smtp_host',
      });
      expect((await service.request('POST', PAGES, token, { ...body, subscriptions: false })).status).to.equal(201);
    } finally {
      await service.dispose();
    }
  });
});
