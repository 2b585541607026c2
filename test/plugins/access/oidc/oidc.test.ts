/** Sign-in by a real provider, over real HTTP on its side. */
import { expect } from 'chai';
import { ACCOUNTS } from '../../../../ports/domain/access.js';
import { TestOidcProvider } from '../../../support/oidc-provider.js';
import { PASSWORD } from '../fixture.js';
import type { Answer, Browser, HttpFixture } from '../http-fixture.js';
import { BASE_URL, beginSignIn, openWith, readSentence, readUsername, toPath } from './oidc-fixture.js';

describe('access: sign-in by OpenID Connect', function () {
  this.timeout(300_000);
  let provider: TestOidcProvider;
  const opened: HttpFixture[] = [];

  before(async () => {
    provider = await TestOidcProvider.start(BASE_URL);
  });
  after(() => provider.stop());
  afterEach(async () => {
    for (const fixture of opened.splice(0)) await fixture.stop();
  });

  const open = async (oidc: Record<string, unknown> = {}, auth: Record<string, unknown> = {}): Promise<HttpFixture> => {
    const fixture = await openWith(provider.issuer, oidc, auth);
    opened.push(fixture);
    return fixture;
  };

  const signIn = async (browser: Browser, subject: string, next?: string): Promise<Answer> => {
    const callback = await provider.authorize(await beginSignIn(browser, next), subject);
    return browser.get(toPath(callback));
  };

  const listActions = async (fixture: HttpFixture): Promise<string[]> =>
    (await fixture.parts.audit.listRecent(50)).items.map(({ action }) => action);

  const readRole = async (fixture: HttpFixture, username: string): Promise<string | undefined> => {
    for await (const account of fixture.harness.kernel.findService(ACCOUNTS)?.iterateCredentials() ?? [])
      if (account.username === username) return account.role;
    return undefined;
  };

  it('creates an account with the highest role of the groups, and returns to the page', async () => {
    provider.users.set('s-1', { name: 'Ada Byron', preferred_username: 'ada', groups: ['staff', 'admins', 'other'] });
    const fixture = await open();
    const browser = fixture.browser();
    const { status, headers } = await signIn(browser, 's-1', '/account');
    expect([status, headers['location']]).to.deep.equal([303, '/account']);
    expect(await readUsername(browser)).to.equal('ada');
    expect(await readRole(fixture, 'ada')).to.equal('admin');
    expect(await listActions(fixture)).to.include.members(['user.created', 'login.succeeded']);
    expect(browser.cookies.has('svc_oidc')).to.equal(false);
  });

  it('shows its button on /login, next to the password form', async () => {
    const fixture = await open({ label: 'Sign in with <Example>' });
    const { text } = await fixture.browser().get('/login?next=%2Faccount');
    expect(text).to.include('Sign in with &lt;Example&gt;').and.include('/auth/oidc/start?next&#x3D;%2Faccount');
    expect(text).to.include('name="password"');
  });

  it('sends state, nonce and a PKCE challenge, and binds the browser by a cookie', async () => {
    const fixture = await open();
    const browser = fixture.browser();
    const { headers } = await browser.get('/auth/oidc/start');
    const { searchParams } = new URL(String(headers['location']));
    expect(searchParams.get('code_challenge_method')).to.equal('S256');
    expect(searchParams.get('redirect_uri')).to.equal(`${BASE_URL}/auth/oidc/callback`);
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(searchParams.get(name), name).to.match(/^[\w-]{43}$/);
    const cookie = [headers['set-cookie']].flat().find((line) => line?.startsWith('svc_oidc='));
    expect(cookie)
      .to.match(/HttpOnly/)
      .and.match(/SameSite=Lax/)
      .and.match(/Max-Age=600/);
  });

  it('recognizes the user by issuer and subject, whatever else changes', async () => {
    provider.users.set('s-2', { preferred_username: 'bob', groups: ['staff'] });
    const fixture = await open();
    await signIn(fixture.browser(), 's-2');
    provider.users.set('s-2', { preferred_username: 'robert', name: 'Robert', groups: ['staff'] });
    const browser = fixture.browser();
    await signIn(browser, 's-2');
    expect(await readUsername(browser)).to.equal('bob');
  });

  it('changes the role at each sign-in, and ends the older sessions', async () => {
    provider.users.set('s-3', { preferred_username: 'carl', groups: ['admins'] });
    const fixture = await open();
    const first = fixture.browser();
    await signIn(first, 's-3');
    provider.users.set('s-3', { preferred_username: 'carl', groups: ['staff'] });
    const second = fixture.browser();
    await signIn(second, 's-3');
    expect(await readRole(fixture, 'carl')).to.equal('member');
    expect(await readUsername(first)).to.equal(null);
    expect(await readUsername(second)).to.equal('carl');
  });

  it('keeps the last active administrator', async () => {
    provider.users.set('s-4', { preferred_username: 'dora', groups: ['admins'] });
    const fixture = await open();
    await signIn(fixture.browser(), 's-4');
    const admin = await fixture.signedIn();
    const users = await admin.get('/users');
    const [, own = ''] = /href="\/users\/([0-9a-f-]+)">admin</.exec(users.text) ?? [];
    await admin.post(`/users/${own}/disable`, {}, `/users/${own}`);
    provider.users.set('s-4', { preferred_username: 'dora', groups: ['staff'] });
    const browser = fixture.browser();
    expect((await signIn(browser, 's-4')).status).to.equal(303);
    expect(await readRole(fixture, 'dora')).to.equal('admin');
    expect(await listActions(fixture)).to.include('user.role_kept');
  });

  describe('a denied sign-in', () => {
    const cases: [name: string, user: Record<string, unknown>, oidc: Record<string, unknown>, sentence: RegExp][] = [
      ['users without a group in the map', { groups: ['guests'] }, {}, /None of your groups/],
      [
        'groups named like members of every object',
        { groups: ['constructor', '__proto__'] },
        {},
        /None of your groups/,
      ],
      ['everyone without a map and a default', { groups: ['admins'] }, { role_map: {} }, /None of your groups/],
      [
        'unknown users when it creates no accounts',
        { groups: ['admins'] },
        { create_accounts: false },
        /no account here/,
      ],
      [
        'an address of another domain',
        { groups: ['admins'], email: 'eve@evil.test', email_verified: true },
        { allowed_domains: ['example.com'] },
        /domain isn’t allowed/,
      ],
      [
        'an address below an allowed domain',
        { groups: ['admins'], email: 'eve@example.com.evil.test', email_verified: true },
        { allowed_domains: ['example.com'] },
        /domain isn’t allowed/,
      ],
      [
        'an unverified address of an allowed domain',
        { groups: ['admins'], email: 'eve@example.com', email_verified: false },
        { allowed_domains: ['example.com'] },
        /isn’t verified/,
      ],
      ['installers', { groups: ['machines'] }, {}, /Installer accounts can’t sign in here/],
    ];
    cases.forEach(([name, user, oidc, sentence], number) =>
      it(`denies ${name} with one sentence and a request id`, async () => {
        provider.users.set(`denied-${number}`, { preferred_username: `eve${number}`, ...user });
        const browser = (await open(oidc)).browser();
        const answer = await signIn(browser, `denied-${number}`);
        expect(answer.status).to.equal(403);
        expect(readSentence(answer)).to.match(sentence);
        expect(answer.text).to.match(/Request ID <code>[\w-]+</);
        expect(browser.cookies.has('svc_session')).to.equal(false);
      }),
    );
  });

  it('gives the default role to users without a group in the map', async () => {
    provider.users.set('s-5', { preferred_username: 'finn' });
    const fixture = await open({ default_role: 'member' });
    await signIn(fixture.browser(), 's-5');
    expect(await readRole(fixture, 'finn')).to.equal('member');
  });

  it('admits a verified address of an allowed domain', async () => {
    provider.users.set('s-6', { groups: ['staff'], email: 'Gil@Example.com', email_verified: true });
    const browser = (await open({ allowed_domains: ['example.com'] })).browser();
    expect((await signIn(browser, 's-6')).status).to.equal(303);
    expect(await readUsername(browser)).to.equal('Gil@Example.com');
  });

  it('reads groups from nested claims of the user info', async () => {
    provider.users.set('s-7', { preferred_username: 'hal', groups: { roles: ['staff'] } as never });
    const fixture = await open({ role_claim: 'groups.roles' });
    await signIn(fixture.browser(), 's-7');
    expect(await readRole(fixture, 'hal')).to.equal('member');
  });

  it('denies an account that was disabled', async () => {
    provider.users.set('s-8', { preferred_username: 'ida', groups: ['staff'] });
    const fixture = await open();
    await signIn(fixture.browser(), 's-8');
    const admin = await fixture.signedIn();
    const [, id = ''] = /href="\/users\/([0-9a-f-]+)">ida</.exec((await admin.get('/users')).text) ?? [];
    await admin.post(`/users/${id}/disable`, {}, `/users/${id}`);
    const answer = await signIn(fixture.browser(), 's-8');
    expect(answer.status).to.equal(403);
    expect(readSentence(answer)).to.match(/account is disabled/);
  });

  describe('does not take over a local account', () => {
    it('of the same name: the new one gets a number', async () => {
      provider.users.set('s-9', { preferred_username: 'Admin', groups: ['staff'] });
      const fixture = await open();
      const browser = fixture.browser();
      await signIn(browser, 's-9');
      expect(await readUsername(browser)).to.equal('Admin-2');
      expect(await readRole(fixture, 'admin')).to.equal('admin');
    });

    it('by an unverified address, even when accounts are linked by address', async () => {
      provider.users.set('s-10', { preferred_username: 'kim', email: 'boss@example.com', groups: ['staff'] });
      const fixture = await open({ link_by_email: true });
      await createWithEmail(fixture, 'boss', 'boss@example.com');
      const browser = fixture.browser();
      await signIn(browser, 's-10');
      expect(await readUsername(browser)).to.equal('kim');
    });

    it('by a verified address, unless accounts are linked by address', async () => {
      const user = { preferred_username: 'lea', email: 'boss@example.com', email_verified: true, groups: ['staff'] };
      provider.users.set('s-11', user);
      for (const [link_by_email, expected] of [
        [false, 'lea'],
        [true, 'boss'],
      ] as const) {
        const fixture = await open({ link_by_email });
        await createWithEmail(fixture, 'boss', 'boss@example.com');
        const browser = fixture.browser();
        await signIn(browser, 's-11');
        expect(await readUsername(browser)).to.equal(expected);
      }
    });
  });

  it('returns only to pages of this service', async () => {
    provider.users.set('s-12', { preferred_username: 'max', groups: ['staff'] });
    const fixture = await open();
    for (const next of ['//evil.test', 'https://evil.test', '/\\evil.test', '/no/such/page', 'javascript:alert(1)']) {
      const { headers } = await signIn(fixture.browser(), 's-12', next);
      expect(headers['location'], next).to.equal('/');
    }
  });

  it('ends the browser’s older session, and gives the new one another id', async () => {
    provider.users.set('s-13', { preferred_username: 'nina', groups: ['staff'] });
    const fixture = await open();
    const browser = await fixture.signedIn();
    const before = browser.cookies.get('svc_session') ?? '';
    await signIn(browser, 's-13');
    expect(browser.cookies.get('svc_session')).to.not.equal(before);
    const thief = fixture.browser();
    thief.cookies.set('svc_session', before);
    expect(await readUsername(thief)).to.equal(null);
  });

  it('signs out at the provider too', async () => {
    provider.users.set('s-14', { preferred_username: 'olga', groups: ['staff'] });
    const fixture = await open();
    const browser = fixture.browser();
    await signIn(browser, 's-14');
    const { status, headers, text } = await browser.post('/logout', {}, '/account');
    expect(status).to.equal(200);
    const target = new URL(String(headers['refresh']).replace('0; url=', ''));
    expect(target.origin).to.equal(provider.issuer);
    expect(target.searchParams.get('post_logout_redirect_uri')).to.equal(`${BASE_URL}/login`);
    expect(target.searchParams.get('id_token_hint')).to.match(/^ey/);
    expect(text).to.include('Signed out');
    expect(browser.cookies.has('svc_session')).to.equal(false);
    expect((await fetch(target, { redirect: 'manual' })).status).to.equal(200);
  });

  it('signs password accounts out here alone', async () => {
    const browser = await (await open()).signedIn();
    const { status, headers } = await browser.post('/logout', {}, '/account');
    expect([status, headers['location'], headers['refresh']]).to.deep.equal([303, '/login', undefined]);
  });

  describe('a callback', () => {
    const begin = async (fixture: HttpFixture): Promise<{ browser: Browser; path: string }> => {
      provider.users.set('s-15', { preferred_username: 'pia', groups: ['staff'] });
      const browser = fixture.browser();
      return { browser, path: toPath(await provider.authorize(await beginSignIn(browser), 's-15')) };
    };

    const expectRejected = (answer: Answer, browser: Browser): void => {
      expect(answer.status).to.equal(400);
      expect(readSentence(answer)).to.match(/Start again/);
      expect(browser.cookies.has('svc_session')).to.equal(false);
    };

    it('works once', async () => {
      const { browser, path } = await begin(await open());
      const cookie = browser.cookies.get('svc_oidc') ?? '';
      expect((await browser.get(path)).status).to.equal(303);
      browser.cookies.delete('svc_session');
      browser.cookies.set('svc_oidc', cookie);
      expectRejected(await browser.get(path), browser);
    });

    it('is rejected in another browser, with and without its own sign-in', async () => {
      const fixture = await open();
      const { path } = await begin(fixture);
      const other = fixture.browser();
      expectRejected(await other.get(path), other);
      await beginSignIn(other);
      expectRejected(await other.get(path), other);
    });

    it('is rejected after ten minutes', async () => {
      const fixture = await open();
      const { browser, path } = await begin(fixture);
      fixture.clock.forward(10 * 60_000);
      expectRejected(await browser.get(path), browser);
    });

    it('is rejected with another state, and leaves the sign-in under way alone', async () => {
      const { browser, path } = await begin(await open());
      expectRejected(await browser.get(path.replace(/state=[^&]+/, 'state=other')), browser);
      expect((await browser.get(path)).status).to.equal(303);
    });

    it('is rejected with another issuer or code', async () => {
      const fixture = await open();
      for (const [from, to] of [
        [/iss=[^&]+/, 'iss=https%3A%2F%2Fevil.test'],
        [/code=[^&]+/, 'code=other'],
      ] as const) {
        const { browser, path } = await begin(fixture);
        expectRejected(await browser.get(path.replace(from, to)), browser);
      }
    });

    it('shows nothing of the provider’s error', async () => {
      const fixture = await open();
      const browser = fixture.browser();
      const state = new URL(await beginSignIn(browser)).searchParams.get('state') ?? '';
      const query = new URLSearchParams({
        state,
        iss: provider.issuer,
        error: 'access_denied',
        error_description: '<b>x</b>',
      });
      const answer = await browser.get(`/auth/oidc/callback?${query.toString()}`);
      expect(answer.status).to.equal(403);
      expect(readSentence(answer)).to.equal('The sign-in was canceled or denied.');
      expect(answer.text).to.not.include('<b>x');
    });
  });

  describe('with auth.local', () => {
    it('false, offers and accepts no password', async () => {
      const fixture = await open({}, { local: false });
      const browser = fixture.browser();
      expect((await browser.get('/login')).text).to.not.include('name="password"');
      const answer = await browser.post('/login', { username: 'admin', password: PASSWORD }, '/login/passkey');
      expect(answer.status).to.equal(403);
      expect(answer.text).to.include('Password sign-in is turned off');
      expect(browser.cookies.has('svc_session')).to.equal(false);
    });

    it('"recovery", accepts the passwords of administrators alone', async () => {
      const fixture = await open({}, { local: 'recovery' });
      const admin = await fixture.signedIn();
      await admin.post('/users', { username: 'rob', role: 'member', password: PASSWORD }, '/users');
      const browser = fixture.browser();
      expect((await browser.post('/login', { username: 'rob', password: PASSWORD })).status).to.equal(403);
      expect((await browser.post('/login', { username: 'admin', password: 'wrong-password-here' })).status).to.equal(
        401,
      );
    });

    it('false, leaves the password of an account as it is', async () => {
      provider.users.set('s-16', { preferred_username: 'sue', groups: ['admins'] });
      const fixture = await open({}, { local: false });
      const browser = fixture.browser();
      await signIn(browser, 's-16');
      const page = await browser.get('/account');
      expect(page.text).to.not.include('action="/account/password"');
      const form = { current_password: PASSWORD, password: 'another-long-word', password_again: 'another-long-word' };
      expect((await browser.post('/account/password', form, '/account')).status).to.equal(403);
    });
  });

  it('asks for the second factor of the account', async () => {
    provider.users.set('s-17', { preferred_username: 'tom', groups: ['staff'] });
    const fixture = await open();
    const browser = fixture.browser();
    await signIn(browser, 's-17');
    await browser.post('/account/totp', {}, '/account');
    const { text } = await browser.get('/account/totp');
    const secret = /[A-Z2-7]{32}/.exec(text)?.[0] ?? '';
    const { TOTP, Secret } = await import('otpauth');
    const totp = new TOTP({ secret: Secret.fromBase32(secret) });
    const code = (): string => totp.generate({ timestamp: fixture.clock.now() });
    expect((await browser.post('/account/totp/enable', { code: code() }, '/account/totp')).status).to.equal(200);
    fixture.clock.forward(60_000);
    const again = fixture.browser();
    const step = await signIn(again, 's-17', '/account');
    expect(step.status).to.equal(200);
    expect(again.cookies.has('svc_session')).to.equal(false);
    const challenge = /name="challenge" value="([^"]+)"/.exec(step.text)?.[1] ?? '';
    const done = await again.post('/login', { challenge, code: code(), next: '/account' });
    expect([done.status, done.headers['location']]).to.deep.equal([303, '/account']);
  });
});

/** An account whose address an administrator has entered. */
async function createWithEmail(fixture: HttpFixture, username: string, email: string): Promise<void> {
  const admin = await fixture.signedIn();
  const form = { username, role: 'member', password: PASSWORD, email };
  const { status, text } = await admin.post('/users', form, '/users');
  if (status !== 303) throw new Error(`account ${username} → ${status} ${text}`);
}
