import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import joi from 'joi';
import { conflict, invalid } from '../../../../kernel/errors.js';
import { Redirect, Reply, View, type PageSpec, type PanelSpec } from '../../../../ports/http/index.js';
import { FIXTURE_VIEWS, NO_LIMITS, OTHER_VIEWS, PARTED_VIEWS, TestServer, type Asked } from '../support.js';

const page = (path: string, more: Partial<PageSpec & { views: string }> = {}): PageSpec & { views?: string } => ({
  path,
  title: 'A page',
  access: { session: 'member' },
  handle: () => new View('list', { text: '<script>alert(1)</script>' }),
  ...more,
});
const panel = (id: string, kind: PanelSpec['kind'], order: number, load: PanelSpec['load']): PanelSpec => ({
  id,
  kind,
  order,
  load,
});
const cookiesOf = (answer: Asked): string[] => ([] as string[]).concat(answer.headers['set-cookie'] ?? []);
const csrf = (cookie: string): string => Buffer.from(`csrf(${cookie})`).toString('base64url');
const FORM = 'application/x-www-form-urlencoded';
const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
const tokenIn = (html: string): string => /"([\w-]{86})"/.exec(html)?.[1] ?? '';
/** The digest behind the masked token of a page. */
function shownToken(html: string): string {
  const bytes = Buffer.from(tokenIn(html), 'base64url');
  return Buffer.from(bytes.subarray(0, 32).map((byte, i) => byte ^ bytes[32 + i]!)).toString('hex');
}

describe('hapi: pages', () => {
  let test: TestServer;
  let counted = 0;
  let waiting = 3;
  before(async () => {
    test = await TestServer.create(
      {
        routes: [
          {
            method: ['GET', 'POST'],
            path: '/install_db.php',
            summary: '',
            access: [{ sharedKey: true }, { session: 'admin' }],
            handle: ({ principal, method }) =>
              principal.kind === 'session' && method === 'GET'
                ? new Redirect('/migrations')
                : { applied: [], pending: [] },
          },
        ],
        pages: [
          page('/list', {
            nav: { section: 'work', label: 'List', icon: 'bug', order: 2, badge: async () => (counted++, waiting) },
          }),
          page('/first', {
            nav: {
              section: 'work',
              label: 'First',
              icon: 'bug',
              order: 1,
              badge: async () => Promise.reject(new Error('no')),
            },
          }),
          page('/named', { entry: '/list' }),
          page('/first/apart', { entry: null }),
          page('/long', {
            input: { query: joi.object({ secret: joi.string() }) },
            handle: ({ query }) => {
              const view = new View('list', { text: 'long text '.repeat(1_000) });
              return query['secret'] === undefined ? view : view.withSecret();
            },
          }),
          page('/other', { views: OTHER_VIEWS, handle: () => new View('list', { text: 'x' }) }),
          page('/admin', {
            access: { session: 'admin' },
            nav: { section: 'administration', label: 'Admin', icon: 'key', order: 1 },
          }),
          page('/login', { access: 'public', handle: ({ principal }) => new View('list', { text: principal.kind }) }),
          page('/login', {
            access: 'public',
            method: 'POST',
            handle: ({ body }) => new View('list', { text: JSON.stringify(body) }).withStatus(401),
          }),
          page('/save', {
            method: 'POST',
            handle: ({ body }) =>
              new Redirect('/list', {
                tone: 'success',
                message: `Saved <b>${String((body as Record<string, unknown>)['name'])}`,
              }),
          }),
          page('/admin/save', { method: 'POST', access: { session: 'admin' }, handle: () => new Redirect('/admin') }),
          page('/cookie', {
            handle: () => new View('list').cookie({ name: 'svc_session', value: 'session-admin', maxAgeSeconds: 60 }),
          }),
          page('/download', {
            handle: () =>
              new Reply(200, 'bytes').header('content-type', 'text/plain').header('content-disposition', 'attachment'),
          }),
          page('/conflict', {
            handle: () => {
              throw conflict('Taken <b>.');
            },
          }),
          page('/invalid', {
            handle: () => {
              throw invalid({ name: 'is <b>wrong' });
            },
          }),
          page('/fault', {
            handle: () => {
              throw new Error('secret text');
            },
          }),
          page('/parted', {
            views: PARTED_VIEWS,
            handle: () => new View('parted', { words: [{ word: 'one' }, { word: '<two>' }] }),
          }),
          page('/no-view', { handle: () => new View('missing') }),
          page('/item/{id}', {
            input: {
              params: joi.object({ id: joi.string().pattern(/^\d+$/) }),
              query: joi.object({ n: joi.number().default(1) }),
            },
            handle: ({ params, query }) =>
              new View('list', { text: `${params['id']} ${String(query['n'])} ${Object.keys(query).join()}` }),
          }),
          page('/dashboard', { panels: true, handle: () => new View('dashboard') }),
          page('/asset', { handle: () => new View('list', { href: true }) }),
        ],
        panels: [
          panel('b', 'attention', 2, async ({ username }) => new View('list', { text: username })),
          panel('a', 'attention', 1, async () => {
            throw new Error('down');
          }),
          panel('slow', 'trend', 1, () => new Promise(() => undefined)),
          panel('empty', 'trend', 2, async () => null),
          {
            ...panel('other', 'trend', 3, async () => new View('list', { text: 'o' })),
            views: OTHER_VIEWS,
          },
        ],
      },
      { panelTimeoutMs: 50 },
    );
  });

  const as = (role: string, headers: Record<string, string> = {}): { headers: Record<string, string> } => ({
    headers: { accept: 'text/html', cookie: `svc_session=session-${role}`, ...headers },
  });
  const form = (role: string, fields: Record<string, string>) => ({
    ...as(role, { 'content-type': FORM }),
    payload: new URLSearchParams(fields).toString(),
  });

  it('uses the parts of a plugin as partials in its views', async () => {
    const answer = await test.ask('GET', '/parted', as('member'));
    expect(answer.status).to.equal(200);
    expect(answer.text).to.include('<ul><li><b>one</b>').and.include('<li><b>&lt;two&gt;</b>');
  });

  it('renders a plugin’s view in the layout, escaped, with the layout values', async () => {
    const list = await test.ask('GET', '/list', as('member'));
    expect(list.status).to.equal(200);
    expect(list.headers['content-type']).to.equal('text/html; charset=utf-8');
    expect(list.text).to.contain(
      'data-layout="app" data-theme="auto" data-path="/list" data-zone="Europe/Berlin" data-version="9.9.9"',
    );
    expect(list.text).to.contain(`data-id="${String(list.headers['x-request-id'])}"`);
    expect(list.text).to.contain('&lt;script&gt;').and.not.contain('<script>');
    expect(list.text).to.contain('&lt;member&gt; member');
    expect((await test.ask('GET', '/other', as('member'))).text).to.contain('<h1>other x</h1>');
  });

  it('masks the form token differently in every response, and accepts each masked form', async () => {
    const shown = new Set<string>();
    for (let i = 0; i < 3; i++) {
      const { text } = await test.ask('GET', '/list', as('member'));
      expect(shownToken(text)).to.equal(digest(csrf('session-member')));
      expect(text).to.not.contain(csrf('session-member'));
      shown.add(tokenIn(text));
    }
    expect(shown.size).to.equal(3);
    for (const csrf_token of shown) {
      expect((await test.ask('POST', '/save', form('member', { name: 'x', csrf_token }))).status).to.equal(303);
    }
    const [one = ''] = shown;
    const others = [one.slice(0, 85), `${one}A`, one.slice(43) + one.slice(0, 43), 'A'.repeat(86)];
    for (const csrf_token of others) {
      expect((await test.ask('POST', '/save', form('member', { name: 'x', csrf_token }))).status, csrf_token).to.equal(
        403,
      );
    }
    const theirs = tokenIn((await test.ask('GET', '/list', as('admin'))).text);
    expect((await test.ask('POST', '/save', form('member', { name: 'x', csrf_token: theirs }))).status).to.equal(403);
  });

  it('compresses a page unless it contains a long-lived secret', async () => {
    for (const [encoding, unpack] of [
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const) {
      const { headers } = as('member', { 'accept-encoding': encoding });
      const packed = await test.server.inject({ url: '/long', headers });
      expect([packed.headers['content-encoding'], packed.headers['vary']]).to.deep.equal([encoding, 'accept-encoding']);
      expect(unpack(packed.rawPayload).toString('utf8')).to.contain('long text');
      expect(packed.rawPayload.length).to.be.below(2_000);
      const secret = await test.server.inject({ url: '/long?secret=1', headers });
      expect(secret.headers['content-encoding']).to.equal(undefined);
      expect(secret.payload).to.contain('long text');
    }
  });

  it('shows the navigation entries of the role, in order, with badges, and omits a failed badge', async () => {
    const list = await test.ask('GET', '/list', as('member'));
    expect(list.text).to.match(
      /<nav><a href="\/first" data-icon="bug">First<\/a><a href="\/list" data-icon="bug" aria-current="page">List<b>3<\/b><\/a>/,
    );
    expect(list.text).to.not.contain('/settings');
    expect((await test.ask('GET', '/list', as('admin'))).text).to.contain('<a href="/settings">');
    expect((await test.ask('GET', '/admin', as('admin'))).text).to.contain(
      '<nav data-group="workspace"><a href="/admin">',
    );
  });

  it('redirects /settings to the first settings page of the role, or to the account', async () => {
    for (const [role, to] of [
      ['admin', '/admin'],
      ['member', '/account'],
    ] as const)
      expect((await test.ask('GET', '/settings', as(role))).headers['location'], role).to.equal(to);
  });

  it('marks the entry that a page names as current, also when its path lies elsewhere', async () => {
    expect((await test.ask('GET', '/named', as('member'))).text).to.contain(
      '<a href="/list" data-icon="bug" aria-current="page">',
    );
    expect((await test.ask('GET', '/first/apart', as('member'))).text).to.not.contain('aria-current');
  });

  it('counts a badge once a second for all pages, and again after a form post', async () => {
    test.clock.at += 1_000;
    counted = 0;
    await Promise.all([test.ask('GET', '/list', as('member')), test.ask('GET', '/first', as('member'))]);
    expect(counted).to.equal(1);
    test.clock.at += 999;
    await test.ask('GET', '/list', as('admin'));
    expect(counted).to.equal(1);
    test.clock.at += 1;
    await test.ask('GET', '/list', as('admin'));
    expect(counted).to.equal(2);
    const sent = form('member', { name: 'x', csrf_token: csrf('session-member') });
    expect((await test.ask('POST', '/save', sent)).status).to.equal(303);
    await test.ask('GET', '/list', as('member'));
    expect(counted).to.equal(3);
  });

  it('shows a one-second-old badge while it is recounted, and no badge older than two seconds', async () => {
    const badge = async (): Promise<string | undefined> => {
      const { text } = await test.ask('GET', '/list', as('member'));
      return /data-icon="bug" aria-current="page">List<b>(\d+)<\/b>/.exec(text)?.[1];
    };
    test.clock.at += 2_000;
    expect(await badge()).to.equal('3');
    waiting = 4;
    try {
      test.clock.at += 1_999;
      expect(await badge()).to.equal('3');
      expect(await badge()).to.equal('4');
      waiting = 5;
      test.clock.at += 2_000;
      expect(await badge()).to.equal('5');
    } finally {
      waiting = 3;
      test.clock.at += 2_000;
    }
  });

  it('sends the security headers', async () => {
    const { headers } = await test.ask('GET', '/list', as('member'));
    expect(headers).to.include({
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    expect(headers).to.have.property('permissions-policy');
    expect(headers).to.not.have.property('strict-transport-security');
  });

  it('redirects to the login and back, and only to paths of the service', async () => {
    const away = await test.ask('GET', '/item/5?n=2&x=//evil.example', { headers: { accept: 'text/html' } });
    expect([away.status, away.headers['location']]).to.deep.equal([
      303,
      '/login?next=%2Fitem%2F5%3Fn%3D2%26x%3D%2F%2Fevil.example',
    ]);
    const gone = await test.ask('GET', '/list', { headers: { cookie: 'svc_session=gone' } });
    expect([gone.status, gone.headers['location']]).to.deep.equal([303, '/login?next=%2Flist']);
    const double = await test.ask('GET', '//evil.example/list', { headers: { accept: 'text/html' } });
    expect(double.status).to.equal(404);
    const json = await test.ask('GET', '/list', { headers: { accept: 'application/json' } });
    expect([json.status, json.code]).to.deep.equal([401, 'unauthorized']);
  });

  it('lists the allowed roles when the role is denied', async () => {
    const rejected = await test.ask('GET', '/admin', as('member'));
    expect(rejected.status).to.equal(403);
    expect(rejected.text).to.contain('role_not_allowed').and.contain('Admins only. Ask an admin for access.');
    expect((await test.ask('GET', '/list', as('installer'))).status).to.equal(403);
    expect((await test.ask('GET', '/admin', as('admin'))).status).to.equal(200);
  });

  it('checks session (401), form token (403) and role for a form, then redirects with a flash message', async () => {
    const fields = { name: 'x' };
    const stranger = await test.ask('POST', '/save', {
      headers: { accept: 'text/html', 'content-type': FORM },
      payload: 'name=x',
    });
    expect(stranger.status).to.equal(401);
    for (const csrf_token of ['', 'wrong', csrf('session-admin')]) {
      const forged = await test.ask('POST', '/save', form('member', { ...fields, csrf_token }));
      expect(forged.status).to.equal(403);
      expect(forged.text).to.contain('csrf_failed');
    }
    expect((await test.ask('POST', '/save', form('member', fields))).status).to.equal(403);
    const json = await test.ask('POST', '/save', {
      headers: { cookie: 'svc_session=session-member', accept: 'application/json' },
      json: { csrf_token: csrf('session-member') },
    });
    expect([json.status, json.code]).to.deep.equal([403, 'csrf_failed']);
    const role = await test.ask('POST', '/admin/save', form('member', { csrf_token: csrf('session-member') }));
    expect(role.text).to.contain('role_not_allowed');
    const saved = await test.ask('POST', '/save', form('member', { ...fields, csrf_token: csrf('session-member') }));
    expect([saved.status, saved.headers['location']]).to.deep.equal([303, '/list']);
    const [flash = ''] = cookiesOf(saved);
    expect(flash).to.match(/^svc_flash=[^;]+; Path=\/; Max-Age=60; HttpOnly; SameSite=Lax$/);
    const cookie = `svc_session=session-member; ${flash.split(';')[0]}`;
    const shown = await test.ask('GET', '/list', { headers: { cookie } });
    expect(shown.text).to.contain('<p role="status" class="success">Saved &lt;b&gt;x</p>');
    expect(cookiesOf(shown)).to.deep.equal(['svc_flash=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax']);
  });

  it('ignores a flash message that the service did not write', async () => {
    const body = Buffer.from(JSON.stringify(['danger', 'Send your password to …'])).toString('base64url');
    for (const value of [body, `${body}.`, `${body}.${csrf(body)}`, 'x.y.z', '%']) {
      const list = await test.ask('GET', '/list', {
        headers: { cookie: `svc_session=session-member; svc_flash=${value}` },
      });
      expect(list.status).to.equal(200);
      expect(list.text).to.not.contain('password');
    }
  });

  it('protects the login form with a separate cookie', async () => {
    const first = await test.ask('GET', '/login');
    expect(first.text).to.contain('data-layout="blank"').and.contain('<p>public</p>');
    const [set = ''] = cookiesOf(first);
    expect(set).to.match(/^svc_anon=[A-Za-z0-9]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    const anon = /=([^;]*)/.exec(set)![1]!;
    expect(shownToken(first.text)).to.equal(digest(csrf(anon)));
    expect(cookiesOf(await test.ask('GET', '/login', { headers: { cookie: `svc_anon=${anon}` } }))).to.deep.equal([]);
    const post = (cookie: string, csrf_token: string) =>
      test.ask('POST', '/login', {
        headers: { cookie, 'content-type': FORM },
        payload: new URLSearchParams({ csrf_token, username: 'a', tag: 'b' }).toString() + '&tag=c',
      });
    expect((await post('', csrf(anon))).status).to.equal(403);
    expect((await post(`svc_anon=${anon}`, '')).status).to.equal(403);
    expect((await post('svc_anon=flash.x', csrf('flash.x'))).status).to.equal(403);
    const tried = await post(`svc_anon=${anon}`, csrf(anon));
    expect(tried.status).to.equal(401);
    expect(tried.text).to.contain('{&quot;username&quot;:&quot;a&quot;,&quot;tag&quot;:[&quot;b&quot;,&quot;c&quot;]}');
  });

  it('sets Secure cookies and sends HSTS when the service is reached over https', async () => {
    const secure = await TestServer.create(
      {
        pages: [
          page('/cookie', { handle: () => new View('list').cookie({ name: 'a', value: 'b', maxAgeSeconds: 60 }) }),
        ],
      },
      { base_url: 'https://aos.example' },
    );
    const answer = await secure.ask('GET', '/cookie', {
      headers: { accept: 'text/html', cookie: '__Host-svc_session=session-member' },
    });
    expect(cookiesOf(answer)).to.deep.equal(['__Host-a=b; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure']);
    // What a neighbouring host could plant is nobody's session.
    expect((await secure.ask('GET', '/cookie', as('member'))).status).to.equal(303);
    expect(answer.headers['strict-transport-security']).to.equal('max-age=31536000');
  });

  it('renders errors as escaped pages with status, code and field, or as the envelope for JSON clients', async () => {
    const taken = await test.ask('GET', '/conflict', as('member'));
    expect([taken.status, taken.headers['content-type']]).to.deep.equal([409, 'text/html; charset=utf-8']);
    expect(taken.text).to.contain('<p>409 conflict</p>').and.contain('Taken &lt;b&gt;.');
    const wrong = await test.ask('GET', '/invalid', as('member'));
    expect(wrong.status).to.equal(422);
    expect(wrong.text).to.contain('name: is &lt;b&gt;wrong');
    test.log.lines.length = 0;
    const fault = await test.ask('GET', '/fault', as('member'));
    expect(fault.status).to.equal(500);
    expect(fault.text).to.not.contain('secret');
    expect(test.log.lines.find(({ level }) => level === 'error')?.data['request_id']).to.equal(
      fault.headers['x-request-id'],
    );
    expect((await test.ask('GET', '/no-view', as('member'))).status).to.equal(500);
    const json = await test.ask('GET', '/conflict', as('member', { accept: 'application/json' }));
    expect([json.status, json.code]).to.deep.equal([409, 'conflict']);
  });

  it('validates parameters: 404 for an invalid path, 400 for an invalid query', async () => {
    expect((await test.ask('GET', '/item/5?n=2&unknown=1', as('member'))).text).to.contain('<p>5 2 n</p>');
    expect((await test.ask('GET', '/item/x', as('member'))).status).to.equal(404);
    const bad = await test.ask('GET', '/item/5?n=x', as('member'));
    expect(bad.status).to.equal(400);
    expect(bad.text).to.contain('Unknown n');
  });

  it('loads panels by kind and order, even if another panel fails or is slow', async () => {
    const { status, text } = await test.ask('GET', '/dashboard', as('member'));
    expect(status).to.equal(200);
    const ids = [...text.matchAll(/<div class="(attention|side)" id="(\w+)">/g)].map(
      (match) => `${match[1]} ${match[2]}`,
    );
    expect(ids).to.deep.equal(['attention a', 'attention b', 'side slow', 'side other']);
    expect(text).to.contain('Could not load this panel.');
    expect(text).to.contain('<p>&lt;member&gt;</p>').and.contain('<h1>other o</h1>');
  });

  it('returns a page for unknown addresses to browsers, and the envelope to other clients', async () => {
    const browser = await test.ask('GET', '/nowhere', as('member'));
    expect([browser.status, browser.headers['content-type']]).to.deep.equal([404, 'text/html; charset=utf-8']);
    expect(browser.text).to.contain('data-layout="app"').and.contain('not_found');
    const script = await test.ask('GET', '/nowhere');
    expect([script.status, script.code]).to.deep.equal([404, 'not_found']);
    const method = await test.ask('POST', '/list', as('member'));
    expect([method.status, method.headers['allow']]).to.deep.equal([405, 'GET, HEAD']);
  });

  it('stores the theme, and redirects only to a path of the service', async () => {
    const chosen = await test.ask(
      'POST',
      '/theme',
      form('member', { csrf_token: csrf('session-member'), theme: 'dark', back: '/list' }),
    );
    expect([chosen.status, chosen.headers['location'], cookiesOf(chosen)]).to.deep.equal([
      303,
      '/list',
      ['svc_theme=dark; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax'],
    ]);
    const away = await test.ask(
      'POST',
      '/theme',
      form('member', { csrf_token: csrf('session-member'), theme: 'x', back: '//evil.example' }),
    );
    expect([away.headers['location'], cookiesOf(away)]).to.deep.equal([
      '/',
      ['svc_theme=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax'],
    ]);
    expect(
      (await test.ask('GET', '/list', as('member', { cookie: 'svc_session=session-member; svc_theme=dark' }))).text,
    ).to.contain('data-theme="dark"');
  });

  it('allows sessions and redirects on a route outside /api/', async () => {
    expect((await test.ask('GET', '/install_db.php', as('admin'))).headers['location']).to.equal('/migrations');
    expect((await test.ask('GET', '/install_db.php', { bearer: 'shared' })).body).to.deep.equal({
      status: 'success',
      applied: [],
      pending: [],
    });
    expect((await test.ask('GET', '/install_db.php')).code).to.equal('unauthorized');
    expect((await test.ask('POST', '/install_db.php', as('admin'))).code).to.equal('csrf_failed');
    expect(
      (await test.ask('POST', '/install_db.php', form('admin', { csrf_token: csrf('session-admin') }))).body.applied,
    ).to.deep.equal([]);
  });

  it('rate-limits forms, and counts public pages per address', async () => {
    const small = await TestServer.create(
      { pages: [page('/save', { method: 'POST' }), page('/login', { access: 'public' })] },
      { limits: { ...NO_LIMITS, json_bytes: 100, public_per_minute: 1 } },
    );
    const large = await small.ask(
      'POST',
      '/save',
      form('member', { csrf_token: csrf('session-member'), a: 'x'.repeat(200) }),
    );
    expect(large.status).to.equal(413);
    expect((await small.ask('GET', '/login')).status).to.equal(200);
    const limited = await small.ask('GET', '/login');
    expect([limited.status, limited.headers['retry-after']]).to.deep.equal([429, '60']);
  });

  it('serves assets with an ETag, and as immutable under their versioned address', async () => {
    const css = await test.ask('GET', '/assets/site.css');
    expect([css.status, css.headers['content-type'], css.headers['cache-control']]).to.deep.equal([
      200,
      'text/css; charset=utf-8',
      'public, max-age=3600',
    ]);
    expect(css.headers).to.include.keys('etag', 'x-request-id', 'content-security-policy');
    const same = await test.ask('GET', '/assets/site.css', {
      headers: { 'if-none-match': String(css.headers['etag']) },
    });
    expect(same.status).to.equal(304);
    const href = /href="(\/assets\/site\.css\?v=[0-9a-f]{16})"/.exec(
      (await test.ask('GET', '/asset', as('member'))).text.replaceAll('&#x3D;', '='),
    )?.[1];
    expect((await test.ask('GET', href!)).headers['cache-control']).to.equal('public, max-age=31536000, immutable');
    expect((await test.ask('GET', '/assets/vendor/logo.svg')).headers['content-type']).to.equal('image/svg+xml');
    for (const path of [
      '/assets/../layouts/app.hbs',
      '/assets/%2e%2e/layouts/app.hbs',
      '/assets/..%2flayouts%2fapp.hbs',
      '/assets/vendor',
      '/assets/',
      '/assets/none.css',
    ]) {
      expect((await test.ask('GET', path)).status, path).to.be.oneOf([403, 404]);
    }
    expect((await test.ask('POST', '/assets/site.css')).status).to.equal(405);
  });

  it('serves a plugin’s static files below its id, and links its style sheet on its pages', async () => {
    const css = await test.ask('GET', '/assets/test/style.css');
    expect([css.status, css.headers['content-type']]).to.deep.equal([200, 'text/css; charset=utf-8']);
    const styled = (await test.ask('GET', '/list', as('member'))).text;
    expect(styled).to.match(/<link rel="stylesheet" href="\/assets\/test\/style\.css\?v(=|&#x3D;)[0-9a-f]{16}">/);
    expect((await test.ask('GET', '/assets/test/')).status).to.be.oneOf([403, 404]);
    expect((await test.ask('GET', '/assets/test/..%2fviews%2flist.hbs')).status).to.be.oneOf([403, 404]);
    expect((await test.ask('GET', '/assets/test/none.css')).status).to.equal(404);
  });

  it('serves the precompressed file to clients that accept its encoding', async () => {
    for (const [encoding, name] of [
      ['br', 'brotli'],
      ['gzip', 'gzip'],
      ['identity', undefined],
    ] as const) {
      const css = await test.ask('GET', '/assets/packed.css', { headers: { 'accept-encoding': encoding } });
      expect(css.headers['content-encoding'], encoding).to.equal(encoding === 'identity' ? undefined : encoding);
      expect(css.text, encoding).to.equal(name === undefined ? '/* plain */\n' : name);
      if (name !== undefined) expect(css.headers['vary'], encoding).to.include('accept-encoding');
    }
  });

  it('logs the folder of a plugin in which a view is missing', async () => {
    test.log.lines.length = 0;
    await test.ask('GET', '/no-view', as('member'));
    expect(JSON.stringify(test.log.lines.map(({ message }) => message))).to.contain(FIXTURE_VIEWS);
  });
});
