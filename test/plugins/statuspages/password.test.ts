/**
 * Status pages with a password: every address of one asks for it, and nothing of the page is
 * answered without it.
 */
import { expect } from 'chai';
import { waitUntil } from '../../harness.js';
import { WebSession } from '../../pages/web-session.js';
import { ADMIN_ACCOUNT, TestService } from '../../support/service.js';
import { requestAt } from './request-at.js';

const PAGES = '/api/watchdog/v1/status-pages';
const HOST = 'status.example.org';
const PASSWORD = 'only for käufer';
const SECRETS = ['Shop status', 'Web shop', 'We are on it', 'Payments fail', 'Shop Ltd', '#0a6640'];
const ADDRESSES = ['', '/feed.xml', '/feed.atom', '/badge.json', '/badge.svg', '/logo', '/brand.css'];
/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe('password-protected status pages', function () {
  let service: TestService;
  let token: string;
  let preview: string;

  before(async () => {
    // The throttle of guesses is tested here, and not the limit of refused credentials.
    const limits = { SVC_LIMITS__AUTH_FAILURES_PER_MINUTE: '0' };
    service = await TestService.createInProcess({ SVC_STATUSPAGES__HOSTS: JSON.stringify([HOST]), ...limits });
    token = await service.createToken('watchdog:manage,watchdog:read,watchdog:ping');
    await service.request('POST', '/api/watchdog/v1/ping', token, { source: 'web-1', interval: 3_600 });
    const made = await api('POST', '', {
      slug: 'shop',
      title: 'Shop status',
      seller: 'Shop Ltd',
      colour: '#0a6640',
      host: HOST,
      indexed: true,
      published: true,
      components: [{ name: 'Web shop', sources: ['web-1'] }],
    });
    expect(made.status).to.equal(201);
    preview = new URL((made.body['page'] as { preview_url: string }).preview_url).pathname;
    await fetch(`${service.url}${PAGES}/shop/logo`, {
      method: 'PUT',
      body: new Uint8Array(PNG),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' },
    });
    await api('POST', '/shop/announcements', { kind: 'incident', title: 'Payments fail', text: 'We are on it' });
  });
  after(() => service?.dispose());

  const api = (method: string, path: string, body?: object) => service.request(method, `${PAGES}${path}`, token, body);
  const viewOf = async (): Promise<Record<string, unknown>> =>
    (await api('GET', '/shop')).body['page'] as Record<string, unknown>;
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    requestAt(service.url, path, { host: new URL(service.url).host, ...headers }, method);
  const basic = (password: string, user = 'reader') => ({
    authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
  });
  const protect = async (password: string | null): Promise<void> => {
    expect((await api('PATCH', '/shop', { password })).status).to.equal(200);
    const status = password === null ? 200 : 401;
    for (const path of ADDRESSES)
      await waitUntil(
        `${path} answers ${status}`,
        async () => (await get(`/status-page/shop${path}`)).status === status,
      );
  };

  it('validate the password and never return it', async () => {
    for (const [password, part] of [
      ['short-1', 'password'],
      ['x'.repeat(201), 'password'],
      ['ä'.repeat(37), '72 bytes'],
      ['with\u0000control', 'control'],
      ['', 'password'],
    ] as const) {
      const rejected = await api('PATCH', '/shop', { password });
      expect(rejected.status, password).to.equal(422);
      const { fields } = rejected.body['error'] as { fields: Record<string, string> };
      expect(`password ${fields['password']}`).to.include(part);
    }
    expect((await viewOf())['has_password']).to.equal(false);
    await protect(PASSWORD);
    const view = await viewOf();
    expect(view['has_password']).to.equal(true);
    expect(view).not.to.have.property('password');
    const list = await service.request('GET', PAGES, token);
    expect(JSON.stringify(list.body)).not.to.match(/\$2[aby]\$|käufer/);
    const admin = new WebSession(service.url);
    expect(await admin.signIn(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password)).to.equal(303);
    for (const path of ['/audit', `/status-pages/${String(view['id'])}`, `/status-pages/${String(view['id'])}/edit`])
      expect((await admin.get(path)).text, path).not.to.match(/\$2[aby]\$|käufer/);
    await protect(null);
  });

  it('return nothing of the page for any URL, header or method', async () => {
    const before = await get('/status-page/shop');
    const etag = String(before.headers['etag']);
    expect(before.text).to.include('Payments fail');
    await protect(PASSWORD);
    const shown = ADDRESSES.flatMap((path) => [
      [service.url, `/status-page/shop${path}`, new URL(service.url).host],
      [service.url, `/status-page/shop${path}`, HOST],
      [service.url, path === '' ? '/' : path, HOST],
    ]);
    const previews = ['', '/logo', '/brand.css'].map((path) => [
      service.url,
      `${preview}${path}`,
      new URL(service.url).host,
    ]);
    const variants: [method: string, headers: Record<string, string>][] = [
      ['GET', {}],
      ['HEAD', {}],
      ['GET', { 'if-none-match': etag }],
      ['GET', { 'if-none-match': '*' }],
      ['GET', { range: 'bytes=0-10' }],
      ['GET', { accept: 'application/json' }],
      ['GET', { cookie: 'svc_status_shop=AAAA' }],
      ['GET', { authorization: `Bearer ${token}` }],
    ];
    for (const [url = '', path = '', host = ''] of [...shown, ...previews])
      for (const [method, headers] of variants) {
        const got = await requestAt(url, path, { host, ...headers }, method);
        const label = `${method} ${host}${path} ${JSON.stringify(headers)}`;
        expect(got.status, label).to.equal(401);
        expect(got.headers['etag'], label).to.equal(undefined);
        expect(got.headers['cache-control'], label).to.include('no-store').and.not.include('public');
        for (const secret of SECRETS) expect(got.text, label).not.to.include(secret);
        expect(got.bytes.includes(PNG), label).to.equal(false);
      }
    const form = await get('/status-page/shop', { accept: 'text/html' });
    expect(form.text).to.include('type="password"').and.include('action="/status-page/shop/password"');
    expect(form.text).not.to.include('<script');
    expect(form.headers['www-authenticate'], 'browsers show the form, not their dialog').to.equal(undefined);
    for (const path of ['/feed.xml', '/feed.atom', '/badge.json'])
      expect((await get(`/status-page/shop${path}`)).headers['www-authenticate'], path).to.match(/^Basic realm=/);
    await protect(null);
  });

  it('open after the password was entered, until it changes, and for this page only', async () => {
    await protect(PASSWORD);
    const other = { slug: 'other', title: 'Other', published: true, password: PASSWORD };
    expect((await api('POST', '', other)).status).to.equal(201);
    const visitor = new WebSession(service.url);
    const wrong = await visitor.post('/status-page/shop/password', { password: 'not the one' }, '/status-page/shop');
    expect(wrong.status).to.equal(401);
    expect(wrong.text).to.include('Incorrect password.').and.not.include('Shop status');
    const right = await visitor.post('/status-page/shop/password', { password: PASSWORD }, '/status-page/shop');
    expect([right.status, right.location]).to.deep.equal([303, '/status-page/shop']);
    const cookie = right.headers.getSetCookie().find((line) => line.startsWith('svc_status_shop=')) ?? '';
    expect(cookie)
      .to.match(/; HttpOnly; SameSite=Lax/)
      .and.match(/Max-Age=\d+/);
    for (const path of ADDRESSES) {
      const got = await visitor.get(`/status-page/shop${path}`);
      expect(got.status, path).to.equal(200);
      expect(got.headers.get('cache-control'), path).to.equal('private, no-store');
      expect(got.headers.get('x-robots-tag'), path).to.equal('noindex');
    }
    expect((await visitor.get('/status-page/shop')).text).to.include('Payments fail');
    expect((await visitor.get(preview)).status).to.equal(200);
    // The cookie of one page under the name of another opens nothing.
    const [, value = ''] = /svc_status_shop=([^;]+)/.exec(cookie) ?? [];
    expect((await get('/status-page/other', { cookie: `svc_status_other=${value}` })).status).to.equal(401);
    expect((await get('/status-page/shop')).status, 'another visitor at the same time').to.equal(401);

    await protect('another password');
    expect((await visitor.get('/status-page/shop')).status).to.equal(401);
    await protect(PASSWORD);
    expect((await visitor.get('/status-page/shop')).status, 'the same password, set again').to.equal(401);
    await protect(null);
    expect((await visitor.get('/status-page/shop')).headers.get('x-robots-tag')).to.equal(null);
  });

  it('accept the form on a custom domain, with a token of that domain', async () => {
    await protect(PASSWORD);
    const at = (path: string, headers: Record<string, string> = {}, method = 'GET', body?: string) =>
      requestAt(service.url, path, { host: HOST, ...headers }, method, body);
    const form = await at('/');
    const csrf = /name="csrf_token" value="([^"]+)"/.exec(form.text)?.[1] ?? '';
    const anon = String(form.headers['set-cookie']).split(';', 1)[0] ?? '';
    const send = (cookie: string) =>
      at(
        '/status-page/shop/password',
        { cookie, 'content-type': 'application/x-www-form-urlencoded' },
        'POST',
        new URLSearchParams({ csrf_token: csrf, password: PASSWORD }).toString(),
      );
    const stale = await send('');
    expect(stale.status).to.equal(403);
    expect(stale.text, 'the form again').to.include('type="password"');
    const sent = await send(anon);
    expect([sent.status, sent.headers.location]).to.deep.equal([303, '/']);
    const cookie = String(sent.headers['set-cookie']).split(';', 1)[0] ?? '';
    expect((await at('/', { cookie })).text).to.include('Payments fail');
    expect((await at('/login')).status).to.equal(404);
    await protect(null);
  });

  it('accept HTTP Basic with any user name for feeds and badge, and throttle guesses', async () => {
    await protect(PASSWORD);
    for (const path of ADDRESSES)
      for (const user of ['reader', ''])
        expect((await get(`/status-page/shop${path}`, basic(PASSWORD, user))).status, path).to.equal(200);
    const statuses = new Set<number>();
    for (let i = 0; i < 7; i++) statuses.add((await get('/status-page/shop/feed.xml', basic(`guess ${i}`))).status);
    expect([...statuses]).to.deep.equal([401, 429]);
    const slowed = await get('/status-page/shop/feed.xml', basic(PASSWORD));
    expect(slowed.status).to.equal(429);
    expect(Number(slowed.headers['retry-after'])).to.be.greaterThan(0);
    expect((await get('/status-page/shop')).status, 'the form is still shown').to.equal(401);
    await protect(null);
  });

  it('have their password set and removed in the page form', async () => {
    const admin = new WebSession(service.url);
    expect(await admin.signIn(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password)).to.equal(303);
    const made = await admin.post('/status-pages/new', {
      title: 'By hand',
      slug: 'hand',
      timezone: 'Europe/Zurich',
      password: PASSWORD,
    });
    const at = made.location ?? '';
    const fields = { title: 'By hand', slug: 'hand', timezone: 'Europe/Zurich', password: '' };
    const has = async (): Promise<unknown> =>
      ((await api('GET', '/hand')).body['page'] as Record<string, unknown>)['has_password'];
    expect(await has()).to.equal(true);
    const short = await admin.post(`${at}/edit`, { ...fields, password: 'short' });
    expect(short.status).to.equal(422);
    expect(short.text).to.include('Must have at least 8 characters').and.not.include('value="short"');
    expect((await admin.post(`${at}/edit`, fields)).status).to.equal(303);
    expect(await has(), 'an empty field keeps it').to.equal(true);
    expect((await admin.post(`${at}/edit`, { ...fields, remove_password: 'true' })).status).to.equal(303);
    expect(await has()).to.equal(false);
  });
});
