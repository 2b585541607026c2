/** The token routes and the pages of access, through HTTP (contract 10). */
import 'reflect-metadata';
import { expect } from 'chai';
import { Secret, TOTP } from 'otpauth';
import { PASSWORD, SHARED_KEY } from './fixture.js';
import { HttpFixture, type Browser } from './http-fixture.js';

const PROVISION = '/api/tokens/v1/provision';
const SELF = '/api/tokens/v1/self';

describe('access: HTTP', function () {
  let fixture: HttpFixture;

  beforeEach(async () => {
    fixture = await HttpFixture.open();
  });

  afterEach(() => fixture.stop());

  describe('token routes', () => {
    it('provision binds a token to its agent, and an agent token creates none for another agent', async () => {
      const master = await fixture.token(['bugtracker:report']);
      const answer = await fixture.api('POST', PROVISION, master, { name: 'agent', agent: 'fixer-1' });
      expect(answer.status).to.equal(201);
      const own = await fixture.api('GET', '/api/tokens/v1/self', answer.json['token'] as string);
      expect(own.json).to.include({ agent: 'fixer-1', kind: 'sub' });
      expect((await fixture.api('GET', '/api/tokens/v1/self', master)).json).to.include({ agent: null });
      const long = await fixture.api('POST', PROVISION, master, { name: 'agent', agent: 'x'.repeat(101) });
      expect([long.status, Object.keys(long.json.error?.fields ?? {})]).to.deep.equal([422, ['agent']]);
    });

    it('provision returns 201 with the token once, and Cache-Control no-store', async () => {
      const answer = await fixture.api('POST', PROVISION, await fixture.token(['bugtracker:report']), {
        name: 'agent',
        extra: 1,
      });
      expect(answer.status).to.equal(201);
      expect(answer.json).to.have.all.keys('status', 'token', 'id', 'scopes', 'expires_at', 'warnings');
      expect(answer.json['warnings']).to.deep.equal(['extra is no field of this call']);
      expect(answer.json['token']).to.match(/^svc_sub_[0-9A-Za-z]{43}$/);
      expect(answer.headers['cache-control']).to.equal('no-store');
    });

    const cases: [string, object, number, string, string?][] = [
      ['a foreign scope', { name: 'a', scopes: ['license:manage'] }, 403, 'insufficient_scope'],
      ['an unknown scope', { name: 'a', scopes: ['x:y'] }, 422, 'validation_failed', 'scopes'],
      ['no name', {}, 422, 'validation_failed', 'name'],
      ['a blank name', { name: '  ' }, 422, 'validation_failed', 'name'],
      [
        'over 90 days',
        { name: 'a', expires_in_seconds: 90 * 86_400 + 1 },
        422,
        'validation_failed',
        'expires_in_seconds',
      ],
      ['no life', { name: 'a', expires_in_seconds: 0 }, 422, 'validation_failed', 'expires_in_seconds'],
      ['half a second', { name: 'a', expires_in_seconds: 0.5 }, 422, 'validation_failed', 'expires_in_seconds'],
      ['a life as text', { name: 'a', expires_in_seconds: '60' }, 422, 'validation_failed', 'expires_in_seconds'],
      ['scopes that are no list', { name: 'a', scopes: 'bugtracker:report' }, 422, 'validation_failed', 'scopes'],
      ['an unknown project', { name: 'a', project: 'nope' }, 422, 'unknown_project', 'project'],
    ];
    for (const [what, body, status, code, field] of cases) {
      it(`provision with ${what} returns ${status} ${code}`, async () => {
        const answer = await fixture.api('POST', PROVISION, await fixture.token(['bugtracker:report']), body);
        expect(answer.status).to.equal(status);
        expect(answer.json.error?.code).to.equal(code);
        if (field !== undefined) expect(answer.json.error?.fields).to.have.property(field);
      });
    }

    it('provision accepts a lifetime of 90 days', async () => {
      const answer = await fixture.api('POST', PROVISION, await fixture.token([]), {
        name: 'a',
        expires_in_seconds: 90 * 86_400,
      });
      expect(answer.status).to.equal(201);
      expect(answer.json).to.deep.include({ scopes: [] });
    });

    it('provision rejects every other kind of credential', async () => {
      for (const kind of ['sub', 'setup', 'intake', 'watchdog'] as const) {
        const { token } = await fixture.parts.tokens.issue({
          kind,
          name: 'x',
          scopes: ['setup:install'],
          source: 's',
          created_by: 'x',
        });
        const answer = await fixture.api('POST', PROVISION, token, { name: 'a' });
        expect([answer.status, answer.json.error?.code], kind).to.deep.equal([403, 'insufficient_scope']);
      }
      expect((await fixture.api('POST', PROVISION, SHARED_KEY, { name: 'a' })).json.error?.code).to.equal(
        'insufficient_scope',
      );
      const none = await fixture.api('POST', PROVISION, null, { name: 'a' });
      expect(none.status).to.equal(401);
      expect(none.headers['www-authenticate']).to.match(/^Bearer/);
    });

    it('self returns the flat token record without the secret', async () => {
      const token = await fixture.token(['bugtracker:read']);
      const answer = await fixture.api('GET', SELF, token);
      expect(answer.status).to.equal(200);
      const fields = [
        'id',
        'name',
        'kind',
        'prefix',
        'scopes',
        'project',
        'source',
        'agent',
        'parent_id',
        'created_by',
        'created_at',
        'expires_at',
        'last_used_at',
        'revoked_at',
      ];
      expect(answer.json).to.have.all.keys('status', ...fields);
      expect(answer.json).to.include({ status: 'success', kind: 'master', prefix: token.slice(0, 12) });
      expect(answer.text).not.to.include(token);
    });

    it('self rejects setup tokens and intake keys', async () => {
      for (const kind of ['setup', 'intake'] as const) {
        const { token } = await fixture.parts.tokens.issue({
          kind,
          name: 'x',
          scopes: ['setup:install'],
          created_by: 'x',
        });
        expect((await fixture.api('GET', SELF, token)).status, kind).to.equal(403);
      }
    });

    it('self lets a sub-token revoke itself, but not a master token', async () => {
      const master = await fixture.token(['bugtracker:read']);
      const { token: sub } = (await fixture.api('POST', PROVISION, master, { name: 'a' })).json as { token: string };
      expect((await fixture.api('DELETE', SELF, sub)).json).to.deep.equal({ status: 'success', deleted: true });
      expect((await fixture.api('GET', SELF, sub)).status).to.equal(401);
      const rejected = await fixture.api('DELETE', SELF, master);
      expect([rejected.status, rejected.json.error?.code]).to.deep.equal([403, 'insufficient_scope']);
      expect((await fixture.api('GET', SELF, master)).status).to.equal(200);
    });
  });

  describe('login', () => {
    it('shows the form and redirects to the requested page after login', async () => {
      const browser = fixture.browser();
      const away = await browser.get('/users');
      expect(away.status).to.be.oneOf([302, 303]);
      const page = await browser.get('/login?next=%2Fusers');
      expect(page.status).to.equal(200);
      for (const name of ['username', 'password', 'csrf_token', 'next']) expect(page.text).to.include(`name="${name}"`);
      const done = await browser.post(
        '/login',
        { username: 'admin', password: PASSWORD, next: '/users' },
        '/login?next=%2Fusers',
      );
      expect([done.status, done.headers['location']]).to.deep.equal([303, '/users']);
      const session = [done.headers['set-cookie'] ?? []].flat().find((line) => line.startsWith('svc_session='));
      expect(session)
        .to.match(/HttpOnly/)
        .and.match(/SameSite=Lax/)
        .and.not.match(/Secure/);
      expect((await browser.get('/users')).status).to.equal(200);
    });

    for (const next of [
      '//evil.test',
      'https://evil.test',
      'https:evil.test',
      '/\\evil.test',
      '/%09/evil.test',
      '/\t/evil.test',
      '/users/..//evil.test',
      '/users/%2e%2e//evil.test',
      'javascript:alert(1)',
      '/a\r\nb',
      '/logout',
      '/users/%2e%2e/logout',
      '/api/health',
      '/api/nowhere',
      '/nowhere',
      '/assets/site.css',
      '/users/%',
    ]) {
      it(`redirects to the dashboard instead of ${JSON.stringify(next)}`, async () => {
        const answer = await fixture.browser().post('/login', { username: 'admin', password: PASSWORD, next });
        expect([answer.status, answer.headers['location']]).to.deep.equal([303, '/']);
        // Who is signed in already is led on at once.
        const browser = fixture.browser();
        await browser.post('/login', { username: 'admin', password: PASSWORD });
        const led = await browser.get(`/login?next=${encodeURIComponent(next)}`);
        expect([led.status, led.headers['location']]).to.deep.equal([303, '/']);
      });
    }

    it('preserves query and fragment of the requested page', async () => {
      for (const next of ['/tokens?kind=master#t', '/account']) {
        const answer = await fixture.browser().post('/login', { username: 'admin', password: PASSWORD, next });
        expect([answer.status, answer.headers['location']]).to.deep.equal([303, next]);
      }
    });

    it('returns 401 and shows the form again with the name but without the password', async () => {
      const answer = await fixture.browser().post('/login', { username: 'ad"min', password: 'wrong-secret' });
      expect(answer.status).to.equal(401);
      expect(answer.text).to.include('name="password"').and.include('ad&quot;min').and.not.include('wrong-secret');
    });

    it('returns 403 csrf_failed without the token or with the token of another visitor', async () => {
      const browser = fixture.browser();
      await browser.get('/login');
      expect((await browser.raw('/login', { username: 'admin', password: PASSWORD })).status).to.equal(403);
      const other = /name="csrf_token" value="([^"]+)"/.exec((await fixture.browser().get('/login')).text)?.[1] ?? '';
      const answer = await browser.raw('/login', { username: 'admin', password: PASSWORD, csrf_token: other });
      expect(answer.status).to.equal(403);
      expect(browser.cookies.has('svc_session')).to.equal(false);
    });
  });

  describe('account', () => {
    const session = async (browser: Browser): Promise<number> => (await browser.get('/account')).status;

    it('requires the current password to change it, and ends all sessions', async () => {
      const browser = await fixture.signedIn();
      const other = await fixture.signedIn();
      const form = {
        current_password: PASSWORD,
        password: 'another-long-phrase',
        password_again: 'another-long-phrase',
      };
      const wrong = await browser.post('/account/password', { ...form, current_password: 'nope' }, '/account');
      expect(wrong.status).to.equal(422);
      expect(wrong.text).to.include('is wrong');
      const common = await browser.post(
        '/account/password',
        { ...form, password: 'password1234', password_again: 'password1234' },
        '/account',
      );
      expect(common.status).to.equal(422);
      expect(
        (await browser.post('/account/password', { ...form, password_again: 'differs' }, '/account')).status,
      ).to.equal(422);
      const done = await browser.post('/account/password', form, '/account');
      expect([done.status, done.headers['location']]).to.deep.equal([303, '/login']);
      expect(await session(browser)).not.to.equal(200);
      expect(await session(other)).not.to.equal(200);
      expect(await session(await fixture.signedIn('admin', 'another-long-phrase'))).to.equal(200);
    });

    it('lists the user’s sessions and ends a selected session', async () => {
      const browser = await fixture.signedIn();
      const other = await fixture.signedIn();
      const page = await browser.get('/account');
      const ids = [...page.text.matchAll(/\/account\/sessions\/([0-9a-f]{64})\/end/g)].map(([, id]) => id ?? '');
      expect(ids).to.have.length(2);
      const foreign = await browser.post(`/account/sessions/${'0'.repeat(64)}/end`, {}, '/account');
      expect(foreign.status).to.equal(404);
      for (const id of ids) await browser.post(`/account/sessions/${id}/end`, {}, '/account').catch(() => undefined);
      expect([await session(browser), await session(other)].filter((status) => status === 200).length).to.be.lessThan(
        2,
      );
    });

    it('enables TOTP with QR code and recovery codes, requires it at login, and disables it', async () => {
      const browser = await fixture.signedIn();
      const rejected = await browser.post('/account/totp', { totp_password: 'nope' }, '/account');
      expect(rejected.status).to.equal(422);
      expect(
        (await browser.post('/account/totp', { totp_password: PASSWORD }, '/account')).headers['location'],
      ).to.equal('/account/totp');
      const page = await browser.get('/account/totp');
      expect(page.text).to.include('src="data:image/svg+xml;base64,');
      const secret = /[A-Z2-7]{32}/.exec(page.text)?.[0] ?? '';
      const code = (): string =>
        new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: fixture.clock.now() });
      expect((await browser.post('/account/totp/enable', { code: '000000' }, '/account/totp')).status).to.equal(422);
      const before = browser.cookies.get('svc_session');
      const on = await browser.post('/account/totp/enable', { code: code() }, '/account/totp');
      expect(on.status).to.equal(200);
      const [recovery = ''] = /[a-km-np-z2-9]{5}-[a-km-np-z2-9]{5}/.exec(on.text) ?? [];
      expect(recovery).not.to.equal('');
      expect(browser.cookies.get('svc_session')).not.to.equal(before);
      expect(await session(browser)).to.equal(200);

      fixture.clock.forward(60_000);
      const next = fixture.browser();
      const step = await next.post('/login', { username: 'admin', password: PASSWORD, next: '/account' });
      expect(step.status).to.equal(200);
      expect(step.text).to.include('name="code"');
      expect(next.cookies.has('svc_session')).to.equal(false);
      const challenge = /name="challenge" value="([^"]+)"/.exec(step.text)?.[1] ?? '';
      const wrong = await next.post('/login', { challenge, code: '000000', next: '/account' });
      expect(wrong.status).to.equal(401);
      expect(wrong.text).to.include('name="code"');
      const done = await next.post('/login', { challenge, code: code(), next: '/account' });
      expect([done.status, done.headers['location']]).to.deep.equal([303, '/account']);

      const off = await next.post('/account/totp/disable', { totp_password: PASSWORD }, '/account');
      expect(off.status).to.equal(303);
      expect(await session(next)).to.equal(200);
      expect(await session(browser)).not.to.equal(200);
      expect(await session(await fixture.signedIn())).to.equal(200);
    });
  });

  describe('users', () => {
    const idOf = async (admin: Browser, username: string): Promise<string> =>
      new RegExp(`/users/([0-9a-f-]{36})">${username}<`).exec((await admin.get('/users')).text)?.[1] ?? '';

    it('denies access to members with a page that names the allowed roles', async () => {
      const admin = await fixture.signedIn();
      await admin.post('/users', { username: 'mem', role: 'member', password: PASSWORD });
      const member = await fixture.signedIn('mem');
      for (const path of ['/users', '/tokens', '/tokens/new']) {
        const answer = await member.get(path);
        expect(answer.status, path).to.equal(403);
        expect(answer.headers['content-type']).to.match(/^text\/html/);
      }
      expect(
        (await member.post('/users', { username: 'x', role: 'admin', password: PASSWORD }, '/account')).status,
      ).to.equal(403);
      expect(await idOf(admin, 'x')).to.equal('');
    });

    it('creates users, and shows errors without echoing the password', async () => {
      const admin = await fixture.signedIn();
      const bad = await admin.post('/users', { username: 'a:b', role: 'member', password: 'password1234' });
      expect(bad.status).to.equal(422);
      expect(bad.text)
        .to.include('must not contain a colon')
        .and.include('value="a:b"')
        .and.not.include('password1234');
      expect((await admin.post('/users', { username: 'ADMIN', role: 'member', password: PASSWORD })).status).to.equal(
        409,
      );
      expect((await admin.post('/users', { username: 'mem', role: 'member', password: PASSWORD })).status).to.equal(
        303,
      );
      expect(await idOf(admin, 'mem')).to.match(/^[0-9a-f-]{36}$/);
    });

    it('protects the last active administrator and shows the reason', async () => {
      const admin = await fixture.signedIn();
      const id = await idOf(admin, 'admin');
      const page = await admin.get(`/users/${id}`);
      expect(page.text).to.include('Last active administrator').and.not.include(`/users/${id}/delete`);
      for (const [action, form] of [
        ['role', { role: 'member' }],
        ['disable', {}],
        ['delete', {}],
      ] as const) {
        const answer = await admin.post(`/users/${id}/${action}`, form, `/users/${id}`);
        expect(answer.status, action).to.equal(409);
        expect(answer.text).to.include('Last active administrator');
      }
    });

    it('disables, enables, resets password and TOTP, and deletes, with one audit entry each', async () => {
      const admin = await fixture.signedIn();
      await admin.post('/users', { username: 'mem', role: 'member', password: PASSWORD });
      const id = await idOf(admin, 'mem');
      const member = await fixture.signedIn('mem');
      const act = async (action: string, form: Record<string, string> = {}): Promise<number> =>
        (await admin.post(`/users/${id}/${action}`, form, `/users/${id}`)).status;
      expect(await act('disable')).to.equal(303);
      expect((await member.get('/account')).status).not.to.equal(200);
      expect((await fixture.browser().post('/login', { username: 'mem', password: PASSWORD })).status).to.equal(401);
      expect(await act('enable')).to.equal(303);
      expect(await act('password', { password: 'short' })).to.equal(422);
      expect(await act('password', { password: 'another-long-phrase' })).to.equal(303);
      expect(await act('totp-reset')).to.equal(303);
      expect(await act('role', { role: 'owner' })).to.equal(422);
      expect(await act('role', { role: 'installer' })).to.equal(303);
      expect(await act('delete')).to.equal(303);
      expect((await admin.get(`/users/${id}`)).status).to.equal(404);
      const { items } = await fixture.parts.audit.listRecent(20);
      const changes = items.filter(({ target, action }) => target === 'mem' && action.startsWith('user.'));
      const own = changes.map(({ actor, action }) => `${actor} ${action}`);
      expect(own).to.have.members(
        ['created', 'disabled', 'enabled', 'password_changed', 'totp_reset', 'role_changed', 'deleted'].map(
          (done) => `admin user.${done}`,
        ),
      );
    });

    it('redirects administrators to /account to change their password', async () => {
      const admin = await fixture.signedIn();
      const id = await idOf(admin, 'admin');
      const answer = await admin.post(`/users/${id}/password`, { password: 'another-long-phrase' }, '/users');
      expect([answer.status, answer.headers['location']]).to.deep.equal([303, '/account']);
      expect((await fixture.signedIn()).cookies.has('svc_session')).to.equal(true);
    });
  });

  describe('tokens page', () => {
    it('creates a master token and shows it only once', async () => {
      const admin = await fixture.signedIn();
      const form = {
        name: 'ci <b>',
        scopes: ['bugtracker:report', 'license:read'],
        expires_in_seconds: '86400',
        project: '',
        source: '',
        agent: 'fixer-1',
      };
      const made = await admin.shown(await admin.post('/tokens', form, '/tokens/new'));
      expect(made.status).to.equal(200);
      const token = /svc_live_[0-9A-Za-z]{43}/.exec(made.text)?.[0] ?? '';
      expect((await fixture.api('GET', SELF, token)).json).to.deep.include({
        name: 'ci <b>',
        scopes: ['bugtracker:report', 'license:read'],
        agent: 'fixer-1',
        created_by: 'admin',
      });
      const list = await admin.get('/tokens');
      expect(list.text).to.include('Agent: fixer-1');
      expect(list.text).to.include('ci &lt;b&gt;').and.include(token.slice(0, 12)).and.not.include(token);
    });

    it('returns 422 with the submitted values in the form', async () => {
      const admin = await fixture.signedIn();
      const answer = await admin.post('/tokens', { name: '', scopes: 'license:read', source: 'web 1' }, '/tokens/new');
      expect(answer.status).to.equal(422);
      expect(answer.text)
        .to.include('value="web 1"')
        .and.match(/value="license:read" checked/);
    });

    it('shows the number of sub-tokens, revokes and deletes tokens', async () => {
      const admin = await fixture.signedIn();
      const { id, token } = await fixture.parts.tokens.issue({
        kind: 'master',
        name: 'ci',
        scopes: [],
        created_by: 'x',
      });
      const { token: sub } = (await fixture.api('POST', PROVISION, token, { name: 'a' })).json as { token: string };
      expect((await admin.get('/tokens')).text).to.match(/data-label="Derived" class="num[^"]*">1</);
      expect((await admin.post(`/tokens/${id}/revoke`, {}, '/tokens')).status).to.equal(303);
      expect((await fixture.api('GET', SELF, sub)).status).to.equal(401);
      expect((await admin.get('/tokens?kind=sub')).text).to.include('>Revoked<');
      expect((await admin.post(`/tokens/${id}/delete`, {}, '/tokens')).status).to.equal(303);
      expect((await admin.post(`/tokens/${id}/delete`, {}, '/tokens/new')).status).to.equal(404);
    });
  });
});
