/**
 * Status pages of the whole service, as visitors meet them: by their address and by a host of their
 * own, with their feeds, badge and logo; and what none of them ever shows (contract 30, badges and
 * status pages).
 */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { SaxesParser } from 'saxes';
import { waitUntil } from '../../harness.js';
import { durableEngines } from '../../support/durable-engines.js';
import { ADMIN_ACCOUNT, TestService } from '../../support/service.js';
import { WebSession } from '../../pages/web-session.js';

const PAGES = '/api/watchdog/v1/status-pages';
const HOST = 'status.example.org';
/** Another name of the service, of which it does not know. */
const STOLEN = 'aos-2.example.org';
const SECRETS = ['web-1', 'db-9', 'Database nine', 'connection to 10.0.0.7 refused', 'Intern web'];
/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

interface Got {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  text: string;
}

/** A request with any `Host`, as a proxy sends it on. */
const get = (url: string, headers: Record<string, string> = {}, method = 'GET', path?: string): Promise<Got> =>
  new Promise((resolve, reject) => {
    const sent = httpRequest(url, { headers, method, ...(path !== undefined && { path }) }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', () => {
        const bytes = Buffer.concat(parts);
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes, text: bytes.toString() });
      });
    });
    sent.on('error', reject).end();
  });

for (const engine of durableEngines) {
  describe(`status pages on ${engine.name}`, function () {
    let service: TestService;
    let token: string;
    before(async function () {
      const settings = await engine.settings();
      if (settings === null) this.skip();
      service = await TestService.createInProcess({ ...settings, SVC_STATUSPAGES__HOSTS: JSON.stringify([HOST]) });
      token = await service.createToken('watchdog:manage,watchdog:read,watchdog:ping');
      const beat = (source: string, more: object = {}) =>
        service.request('POST', '/api/watchdog/v1/ping', token, { source, interval: 3_600, ...more });
      await beat('web-1', { message: 'connection to 10.0.0.7 refused' });
      await beat('db-9');
      await beat('open-1');
      const patch = (source: string, body: object) =>
        service.request('PATCH', `/api/watchdog/v1/monitors/${source}`, token, body);
      await patch('web-1', { name: 'Intern web' });
      await patch('db-9', { name: 'Database nine', parent_source: 'web-1' });
      await patch('open-1', { name: 'Public part', parent_source: 'web-1', public: true });
    });
    after(() => service?.dispose());

    const api = (method: string, path: string, body?: object) =>
      service.request(method, `${PAGES}${path}`, token, body);
    const page = (path = '', headers: Record<string, string> = {}) =>
      get(`${service.url}/status-page/shop${path}`, headers);
    const shows = (what: string, path = ''): Promise<unknown> =>
      waitUntil(`the page shows ${what}`, async () => (await page(path)).text.includes(what));

    it('are visible once published, under the configured names only', async () => {
      const made = await api('POST', '', {
        slug: 'shop',
        title: 'Shop <status>',
        seller: 'Shop Ltd',
        colour: '#0a6640',
        text: 'What we run.',
        typo: 1,
        components: [
          { name: 'Web shop', subtree: 'web-1', details: true },
          { name: 'Search', sources: ['db-9'] },
        ],
      });
      expect(made.status).to.equal(201);
      expect(made.body['warnings']).to.deep.equal(['typo is no field of this call']);
      const view = made.body['page'] as Record<string, string>;
      expect(view).to.include({ slug: 'shop', published: false, indexed: false, host: null });

      const unknown = await get(`${service.url}/status-page/nowhere`, { accept: 'text/html' });
      const draft = await page('', { accept: 'text/html' });
      expect([draft.status, unknown.status]).to.deep.equal([404, 404]);
      const reported = ({ headers, text }: Got) => [
        Object.keys(headers).toSorted(),
        text.replaceAll(/[0-9a-f-]{36}|nowhere|shop/g, ''),
      ];
      expect(reported(draft)).to.deep.equal(reported(unknown));
      for (const path of [
        '/feed.xml',
        '/feed.atom',
        '/badge.svg',
        '/badge.json',
        '/brand.css',
        '/logo',
        '/preview/nonsense',
      ])
        expect((await page(path)).status, path).to.equal(404);
      const preview = await get(view['preview_url'] ?? '');
      expect(preview.status).to.equal(200);
      expect(preview.text).to.include('Preview. This page is not published.').and.include('noindex');

      expect((await api('PATCH', '/shop', { published: true })).status).to.equal(200);
      await shows('All systems are operational');
      const { headers, text } = await page();
      expect(text).to.include('Shop &lt;status&gt;').and.include('Web shop').and.include('Public part');
      for (const secret of SECRETS) expect(text, secret).not.to.include(secret);
      const columns = [...text.matchAll(/<path class="tone-[a-z]+" d="M\d+ 24h(\d+)">/g)].map(
        ([, length]) => (Number(length) + 2) / 8,
      );
      expect(
        columns.reduce((sum, n) => sum + n, 0),
        'ninety days of each of two parts',
      ).to.equal(180);
      expect(headers['x-robots-tag']).to.equal('noindex');
      expect(text, 'no browser asks for a picture that is not there').to.include('<link rel="icon" href="data:,">');
      expect(text).to.include('<meta name="robots" content="noindex">');
      expect(headers['set-cookie']).to.equal(undefined);
      expect(headers['content-security-policy']).to.include("default-src 'none'");
      expect((await page('/brand.css')).text).to.equal(':root{--brand:#0a6640;--brand-ink:#ffffff}');
    });

    it('return the same compressed bytes to everyone, and 304 for a current ETag', async () => {
      // Within its first half second a monitor counts as not watched: the page changes once more by
      // itself.
      const watched = async (): Promise<boolean> => (await page()).text.split('100% up').length === 3;
      await waitUntil('both components were watched', watched);
      const plain = await page();
      const etag = plain.headers.etag ?? '';
      expect(etag).to.match(/^"[\w-]{22}"$/);
      const known = await page('', { 'if-none-match': etag });
      expect([known.status, known.text, known.headers.etag]).to.deep.equal([304, '', etag]);
      const zipped = await page('', { 'accept-encoding': 'gzip' });
      expect(zipped.headers['content-encoding']).to.equal('gzip');
      expect(gunzipSync(zipped.bytes).toString()).to.equal(plain.text);
      const whole = await get(`${service.url}/status-page/shop`, {}, 'HEAD');
      expect([whole.status, whole.text]).to.deep.equal([200, '']);
      expect((await page('?anything=1')).text).to.equal(plain.text);
      expect((await get(`${service.url}/status-page/shop`, {}, 'POST')).status).to.equal(405);
      expect(plain.headers['x-request-id']).not.to.equal(known.headers['x-request-id']);
    });

    it('show incidents and planned work in plain language', async () => {
      const incident = await api('POST', '/shop/announcements', {
        kind: 'incident',
        title: 'Payments fail & wait',
        text: 'Cards are refused.\nWe look for the cause ]]> <b>.',
        components: ['Web shop'],
      });
      expect(incident.status).to.equal(201);
      const { id } = incident.body['announcement'] as { id: string };
      await shows('Payments fail &amp; wait');
      expect((await page()).text)
        .to.include('We are working on an incident')
        .and.not.include('token test');
      const wrong = await api('POST', `/shop/announcements/${id}/updates`, { state: 'completed', text: 'x' });
      expect(wrong.status).to.equal(422);
      expect((wrong.body['error'] as { fields: object }).fields).to.have.keys('state');
      const feed = async (name: string): Promise<Got> => {
        const got = await page(name);
        const parser = new SaxesParser({ xmlns: true });
        parser.on('error', (error) => expect.fail(String(error)));
        parser.write(got.text).close();
        return got;
      };
      await waitUntil('the feed tells of it', async () => (await feed('/feed.xml')).text.includes('Payments'));
      const first = await feed('/feed.xml');
      expect(first.headers['content-type']).to.equal('application/rss+xml; charset=utf-8');
      const guid = /<guid isPermaLink="false">(urn:uuid:[0-9a-f-]{36})<\/guid>/.exec(first.text)?.[1] ?? '';
      expect(guid).not.to.equal('');
      await api('POST', `/shop/announcements/${id}/updates`, { state: 'resolved', text: 'Cards are taken again.' });
      await shows('Cards are taken again.', '/feed.xml');
      const second = await feed('/feed.xml');
      expect(second.text).to.include(guid);
      expect(second.text.match(/<item>/g)).to.have.length(2);
      expect((await feed('/feed.atom')).text)
        .to.include(guid)
        .and.include('Payments fail &amp; wait: resolved');
      const planned = await api('POST', '/shop/announcements', {
        kind: 'maintenance',
        title: 'New disks',
        text: 'Slow for an hour.',
        starts_at: '2199-01-01T00:00:00Z',
        ends_at: '2199-01-01T01:00:00Z',
      });
      expect(planned.body['announcement']).to.include({ state: 'planned' });
      await shows('New disks');
      const endless = { kind: 'maintenance', title: 'x', text: 'x' };
      expect((await api('POST', '/shop/announcements', endless)).status).to.equal(422);
      const list = await api('GET', '/shop/announcements?limit=1');
      expect([(list.body['items'] as object[]).length, list.body['has_more']]).to.deep.equal([1, true]);
    });

    it('show the worst monitor state on the page, the badge and a custom domain', async () => {
      await service.request('POST', '/api/watchdog/v1/ping', token, { source: 'db-9', status: 'warning' });
      await shows('Degraded');
      await waitUntil('the badge follows', async () => (await page('/badge.svg')).text.includes('degraded'));
      const badge = await page('/badge.svg');
      expect(badge.headers['content-type']).to.equal('image/svg+xml; charset=utf-8');
      expect(badge.headers['cross-origin-resource-policy']).to.equal('cross-origin');
      for (const secret of SECRETS) expect(badge.text, secret).not.to.include(secret);

      const shields = await page('/badge.json');
      expect(JSON.parse(shields.text)).to.include({ schemaVersion: 1, message: 'degraded', color: '8a6100' });
      expect(shields.headers['access-control-allow-origin']).to.equal('*');

      const at = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
        get(service.url, { host: HOST, ...headers }, method, path);
      expect((await at('/login')).status).to.equal(200);
      // A host that shows a page shows nothing else: nobody takes over another name of the service
      // with a token.
      await service.createProject('mine');
      const bound = await service.createToken('watchdog:manage', 'mine');
      const own = { slug: 'mine', title: 'Mine' };
      const rejected = await service.request('POST', PAGES, bound, { ...own, host: STOLEN });
      expect([rejected.status, (rejected.body['error'] as { code: string }).code]).to.deep.equal([
        403,
        'insufficient_scope',
      ]);
      expect((await service.request('POST', PAGES, bound, own)).status).to.equal(201);
      expect((await service.request('PATCH', `${PAGES}/mine`, bound, { host: STOLEN })).status).to.equal(403);
      expect((await service.request('PATCH', `${PAGES}/mine`, bound, { title: 'Ours', host: null })).status).to.equal(
        200,
      );
      const stolen = await api('PATCH', '/shop', { host: STOLEN });
      expect([stolen.status, (stolen.body['error'] as { code: string }).code]).to.deep.equal([
        403,
        'insufficient_scope',
      ]);
      expect((await get(service.url, { host: STOLEN }, 'GET', '/login')).status).to.equal(200);
      expect((await api('PATCH', '/shop', { host: 'localhost' })).status).to.equal(422);
      expect((await api('PATCH', '/shop', { host: HOST })).status).to.equal(200);
      await waitUntil('the host shows the page', async () => (await at('/')).text.includes('Web shop'));
      for (const path of [
        '/',
        '/feed.xml',
        '/feed.atom',
        '/badge.svg',
        '/brand.css',
        '/status-page/shop',
        '/status-page/shop/feed.xml',
      ])
        expect((await at(path)).status, path).to.equal(200);
      const { text } = await at('/');
      const [, css = ''] = /href="(\/assets\/statuspages\/page\.css[^"]*)"/.exec(text) ?? [];
      expect((await at(css)).status).to.equal(200);
      expect((await at('/feed.xml')).text).to.include(`<link>https://${HOST}/</link>`);
      for (const path of [
        '/login',
        '/monitors',
        '/health',
        '/metrics',
        '/assets/aos.css',
        '/assets/statuspages/../aos.css',
        '/assets/statuspages/%2e%2e/aos.css',
        '/status-page/other',
        '/api/watchdog/v1/status',
        '//login',
        `http://${HOST}/login`,
      ]) {
        const got = await at(path, { authorization: `Bearer ${token}` });
        expect(got.status, path).to.equal(404);
      }
      // Which of the two hosts is meant a proxy in front might see otherwise.
      expect((await at(`${service.url}/login`)).status).to.equal(400);
      expect((await at('/api/watchdog/v1/ping', { authorization: `Bearer ${token}` }, 'POST')).status).to.equal(404);
      expect((await at('/login', { host: `${HOST.toUpperCase()}:443` })).status).to.equal(404);
      expect((await get(`${service.url}/login`)).status).to.equal(200);
      const taken = await api('POST', '', { slug: 'second', title: 'Second', host: HOST });
      expect(taken.status).to.equal(409);
      expect((taken.body['error'] as { fields: object }).fields).to.have.keys('host');
    });

    it('accept images as a logo, and reject active content', async () => {
      const put = (bytes: Buffer, type = 'application/octet-stream') =>
        fetch(`${service.url}${PAGES}/shop/logo`, {
          method: 'PUT',
          body: new Uint8Array(bytes),
          headers: { authorization: `Bearer ${token}`, 'content-type': type },
        });
      expect((await put(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml')).status).to.equal(
        422,
      );
      expect((await put(Buffer.alloc(129 * 1024, 1))).status).to.equal(413);
      expect((await put(PNG)).status).to.equal(200);
      await shows('/status-page/shop/logo');
      const logo = await page('/logo');
      expect(logo.headers['content-type']).to.equal('image/png');
      expect(logo.headers['content-security-policy']).to.equal("default-src 'none'; sandbox");
      expect(logo.headers['x-content-type-options']).to.equal('nosniff');
      expect(logo.bytes.equals(PNG)).to.equal(true);
    });

    it('can be created and published in the UI, with a logo upload', async () => {
      const admin = new WebSession(service.url);
      expect(await admin.signIn(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password)).to.equal(303);
      const made = await admin.post('/status-pages/new', {
        title: 'By hand',
        slug: 'hand',
        timezone: 'Europe/Zurich',
        host: 'hand.example.org',
      });
      expect(made.status).to.equal(303);
      const at = made.location ?? '';
      const rejected = await admin.post(`${at}/components`, { name: 'All', sources: 'nothing-1' }, at);
      expect(rejected.status).to.equal(422);
      expect(rejected.text).to.include('nothing-1');
      expect(
        (await admin.post(`${at}/components`, { name: 'All', sources: 'web-1', below: 'true' }, at)).status,
      ).to.equal(303);
      expect((await admin.post(`${at}/publish`, {}, at)).status).to.equal(303);
      expect((await get(`${service.url}/status-page/hand`)).text).to.include('By hand');
      // An administrator names a host that is in no list.
      const byHost = () => get(service.url, { host: 'hand.example.org' }, 'GET', '/');
      await waitUntil('its host shows it', async () => (await byHost()).text.includes('By hand'));
      const detail = (await admin.get(at)).text;
      expect(detail).to.include('/feed.xml').and.include('Unpublish');
      expect((await admin.post(`${at}/withdraw`, {}, at)).status).to.equal(303);
      await waitUntil('it is withdrawn', async () => (await get(`${service.url}/status-page/hand`)).status === 404);
      const form = new FormData();
      form.set('csrf_token', /name="csrf_token" value="([^"]+)"/.exec(detail)?.[1] ?? '');
      form.set('logo', new Blob([PNG], { type: 'image/png' }), 'logo.png');
      const uploaded = await admin.sendForm(`${at}/logo`, form);
      expect([uploaded.status, uploaded.location]).to.deep.equal([303, at]);
      expect((await admin.get(at)).text).to.include('Remove logo');
      const none = new FormData();
      none.set('csrf_token', form.get('csrf_token') ?? '');
      const refusedLogo = await admin.sendForm(`${at}/logo`, none);
      expect([refusedLogo.status, /<\/svg> Required/.test(refusedLogo.text)]).to.deep.equal([422, true]);
      expect((await admin.sendForm(`${at}/publish`, form)).status, 'a form without files').to.equal(403);
      const audit = (await admin.get('/audit')).text;
      for (const what of [
        'status_page.created',
        'status_page.published',
        'status_page.withdrawn',
        'announcement.created',
      ])
        expect(audit, what).to.include(what);
    });

    it('are limited to the project of a project token', async () => {
      await service.createProject('other');
      const bound = await service.createToken('watchdog:manage', 'other');
      const list = await service.request('GET', PAGES, bound);
      expect(list.body['items']).to.deep.equal([]);
      expect((await service.request('PATCH', `${PAGES}/shop`, bound, { title: 'Mine' })).status).to.equal(404);
      const foreign = { slug: 'mine', title: 'Mine', components: [{ name: 'A', sources: ['web-1'] }] };
      expect((await service.request('POST', PAGES, bound, foreign)).status).to.equal(422);
      const reader = await service.createToken('watchdog:read');
      expect((await service.request('POST', PAGES, reader, foreign)).status).to.equal(403);
    });

    it('are deleted with their announcements', async () => {
      expect((await api('DELETE', '/shop')).body).to.deep.include({ deleted: true });
      await waitUntil('the page is gone', async () => (await page()).status === 404);
      expect((await api('GET', '/shop')).status).to.equal(404);
    });
  });
}
