/**
 * Whose product a project is, as customers see it: by the interface, on its page, and on the pages
 * that are public.
 */
import { expect } from 'chai';
import { getContrastRatio } from '../../../../lib/brand/colour.js';
import { WebSession } from '../../../pages/web-session.js';
import { durableEngines } from '../../../support/durable-engines.js';
import { ADMIN_ACCOUNT, TestService } from '../../../support/service.js';

const BRAND = '/api/projects/v1/projects/shop/brand';
/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');

for (const engine of durableEngines)
  describe(`project brands on ${engine.name}`, function () {
    let service: TestService;
    let token: string;
    let admin: WebSession;
    let key: string;

    before(async function () {
      const settings = await engine.settings();
      if (settings === null) this.skip();
      service = await TestService.createInProcess(settings);
      await service.createProject('shop');
      await service.createProject('tool');
      token = await service.createToken('projects:manage,license:manage,watchdog:manage,watchdog:ping');
      admin = new WebSession(service.url);
      await admin.signIn(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password);
      const made = await service.request('POST', '/api/license/v1/licenses', token, {
        product: 'shop',
        licensee: 'Ada',
      });
      key = String(made.body['key']);
    });
    after(() => service?.dispose());

    const change = (body: object, path = BRAND) => service.request('PATCH', path, token, body);
    const send = (bytes: Buffer, bearer = token, path = `${BRAND}/logo`): Promise<Response> =>
      fetch(service.url + path, {
        method: 'PUT',
        body: new Uint8Array(bytes),
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/octet-stream' },
      });
    const stranger = (): WebSession => new WebSession(service.url);
    /** Shared pages are believed for a second and a half. */
    const fresh = (path: string): Promise<Response> =>
      fetch(service.url + path, { headers: { 'if-none-match': 'none', range: 'bytes=0-' } });

    it('shows the service’s brand on the customer page by default', async () => {
      const { body } = await service.request('GET', BRAND, token);
      expect(body['brand']).to.deep.equal({ seller: null, colour: null, logo_type: null, logo: null });
      const page = await stranger().get('/license?product=shop');
      expect(page.status).to.equal(200);
      expect(page.text).to.include('· AOS</title>').and.not.include('seller-head');
      expect((await fetch(`${service.url}/brand/shop/brand.css`)).status).to.equal(404);
      expect((await fetch(`${service.url}/brand/shop/logo`)).status).to.equal(404);
    });

    it('stores name and colour, updates only the given fields, and writes an audit entry', async () => {
      expect((await change({ seller: 'Shop <b> Ltd', colour: '#FFE066' })).body['brand']).to.deep.equal({
        seller: 'Shop <b> Ltd',
        colour: '#FFE066',
        logo_type: null,
        logo: null,
      });
      expect((await change({ colour: '#ffe066' })).body['brand']).to.include({ seller: 'Shop <b> Ltd' });
      const audit = await admin.get('/audit?action=project.brand_changed');
      expect(audit.text).to.include('Shop &lt;b&gt; Ltd').and.include('#ffe066').and.include('href="/projects/shop"');
    });

    it('rejects an invalid colour or name, and unauthorized callers', async () => {
      for (const [body, field] of [
        [{ colour: 'red' }, 'colour'],
        [{ colour: '#ffe066;}*{display:none' }, 'colour'],
        [{ seller: 'x'.repeat(101) }, 'seller'],
        [{ seller: 'a\u0007b' }, 'seller'],
      ] as const) {
        const { status, body: answer } = await change(body);
        expect([status, (answer['error'] as { code: string }).code]).to.deep.equal([422, 'validation_failed']);
        expect((answer['error'] as { fields: object }).fields).to.have.property(field);
      }
      const reader = await service.createToken('projects:read');
      expect((await service.request('PATCH', BRAND, reader, { seller: 'x' })).status).to.equal(403);
      expect((await send(PNG, reader)).status).to.equal(403);
      expect((await change({ seller: 'x' }, BRAND.replace('shop', 'nowhere'))).status).to.equal(404);
    });

    it('validates a logo by its content, rejecting SVG and large files', async () => {
      for (const bytes of [SVG, Buffer.from('GIF89a'), Buffer.alloc(0)])
        expect((await send(bytes)).status).to.equal(422);
      expect((await send(Buffer.concat([PNG, Buffer.alloc(129 * 1024)]))).status).to.be.oneOf([413, 422]);
      const answer = (await (await send(PNG)).json()) as { brand: object };
      expect(answer.brand).to.include({ logo_type: 'image/png', logo: '/brand/shop/logo' });
      const logo = await fetch(`${service.url}/brand/shop/logo`);
      expect(Buffer.from(await logo.arrayBuffer())).to.deep.equal(PNG);
      expect(Object.fromEntries(logo.headers)).to.include({
        'content-type': 'image/png',
        'content-security-policy': "default-src 'none'; sandbox",
        'x-content-type-options': 'nosniff',
        'content-disposition': 'inline; filename="logo"',
      });
    });

    it('is shown with readable text on /license, before and after the key is entered', async () => {
      const css = await (await fetch(`${service.url}/brand/shop/brand.css`)).text();
      const [, colour = '', ink = ''] = /--brand:(#\w{6});--brand-ink:(#\w{6})/.exec(css) ?? [];
      expect(colour).to.equal('#ffe066');
      expect(getContrastRatio(colour, ink)).to.be.above(4.5);
      const customer = stranger();
      for (const page of [
        await customer.get('/license?product=shop'),
        await customer.post('/license', { license_key: key, product: 'shop' }, '/license?product=shop'),
        await customer.post('/license', { license_key: key }, '/license'),
      ]) {
        expect(page.status).to.equal(200);
        expect(page.text)
          .to.include('href="/brand/shop/brand.css"')
          .and.include('src="/brand/shop/logo"')
          .and.include('Shop &lt;b&gt; Ltd</p>')
          .and.include('· Shop &lt;b&gt; Ltd</title>')
          .and.not.include('AOS');
      }
      const wrong = await customer.post(
        '/license',
        { license_key: 'nonsense', product: 'shop' },
        '/license?product=shop',
      );
      expect(wrong.status).to.equal(401);
      expect(wrong.text).to.include('seller-head').and.include('name="product" value="shop"');
    });

    it('is used for all products of a single seller, and per product for two sellers', async () => {
      expect((await stranger().get('/license')).text).to.include('/brand/shop/logo');
      expect((await stranger().get('/license?product=tool')).text).to.include('/brand/shop/logo');
      await change({ seller: 'Tool Corp' }, BRAND.replace('shop', 'tool'));
      expect((await stranger().get('/license')).text).not.to.include('seller-head');
      expect((await stranger().get('/license?product=tool')).text)
        .to.include('Tool Corp')
        .and.not.include('/brand/shop');
      for (const odd of [
        '?product=%00',
        '?product=shop&product=tool',
        `?product=${'x'.repeat(3_000)}`,
        '?product=../../x',
      ])
        expect((await stranger().get(`/license${odd}`)).status, odd).to.equal(200);
    });

    it('is the default on status pages of the project, and shown on monitor pages', async () => {
      const path = '/api/watchdog/v1/status-pages';
      for (const [slug, own] of [
        ['bare', {}],
        ['dressed', { seller: 'Shop Status', colour: '#101010' }],
      ] as const)
        await service.request('POST', path, token, { slug, title: slug, project: 'shop', published: true, ...own });
      const bare = await (await fresh('/status-page/bare')).text();
      expect(bare).to.include('Shop &lt;b&gt; Ltd').and.include('src="/status-page/bare/logo"');
      expect(await (await fresh('/status-page/bare/brand.css')).text()).to.include('--brand:#ffe066');
      expect((await fresh('/status-page/bare/logo')).headers.get('content-type')).to.equal('image/png');
      expect(await (await fresh('/status-page/dressed')).text())
        .to.include('Shop Status')
        .and.not.include('Shop &lt;b&gt;');
      expect(await (await fresh('/status-page/dressed/brand.css')).text()).to.include('--brand:#101010');

      const made = await service.request('POST', '/api/watchdog/v1/monitors', token, {
        source: 'web-1',
        project: 'shop',
        public: true,
      });
      const { id } = made.body['monitor'] as { id: string };
      expect((await stranger().get(`/status/${id}`)).text)
        .to.include('/brand/shop/logo')
        .and.include('Shop &lt;b&gt; Ltd');
    });

    it('is edited on the project page, including the logo, by administrators', async () => {
      const page = await admin.get('/projects/tool/brand');
      const csrf_token = /name="csrf_token" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
      const form = (fields: Record<string, string>, picture?: Buffer): FormData => {
        const body = new FormData();
        for (const [name, value] of Object.entries({ csrf_token, ...fields })) body.append(name, value);
        const bytes = new Uint8Array(picture ?? Buffer.alloc(0));
        body.append('logo', new Blob([bytes], { type: 'image/png' }), picture ? 'logo.png' : '');
        return body;
      };
      const path = '/projects/tool/brand';
      expect((await admin.sendForm(path, form({ seller: 'Tool Inc', colour: '#123456' }, PNG))).status).to.equal(303);
      const view = async (): Promise<unknown> =>
        (await service.request('GET', BRAND.replace('shop', 'tool'), token)).body['brand'];
      expect(await view()).to.include({ seller: 'Tool Inc', colour: '#123456', logo_type: 'image/png' });
      // Without another picture it stays.
      expect((await admin.sendForm(path, form({ seller: 'Tool Inc', colour: '' }))).status).to.equal(303);
      expect(await view()).to.include({ colour: null, logo_type: 'image/png' });
      const rejected = await admin.sendForm(path, form({ seller: 'Kept', colour: 'blue' }, SVG));
      expect(rejected.status).to.equal(422);
      expect(rejected.text).to.include('value="Kept"').and.include('value="blue"');
      expect((await admin.sendForm(path, form({ seller: '', colour: '', no_logo: 'true' }))).status).to.equal(303);
      expect(await view()).to.deep.equal({ seller: null, colour: null, logo_type: null, logo: null });
    });

    it('is deleted with its project', async () => {
      await service.createProject('gone');
      const path = BRAND.replace('shop', 'gone');
      await change({ seller: 'Gone Ltd' }, path);
      expect((await service.request('DELETE', '/api/projects/v1/projects/gone', token)).status).to.equal(200);
      await service.createProject('gone');
      expect((await service.request('GET', path, token)).body['brand']).to.include({ seller: null });
    });
  });
