/** Invitations that are accepted by a sign-in at a real provider. */
import 'reflect-metadata';
import { expect } from 'chai';
import { ACCOUNTS } from '../../../../ports/domain/access.js';
import { TestOidcProvider } from '../../../support/oidc-provider.js';
import { PASSWORD } from '../fixture.js';
import type { Answer, Browser, HttpFixture } from '../http-fixture.js';
import { BASE_URL, openWith, readSentence, readUsername, toPath } from '../oidc/oidc-fixture.js';

const EMAIL = 'lena@acme.test';

describe('access: invitations with a provider', function () {
  this.timeout(300_000);
  let provider: TestOidcProvider;
  let fixture: HttpFixture;
  let admin: Browser;

  before(async () => {
    provider = await TestOidcProvider.start(BASE_URL);
  });
  after(() => provider.stop());
  afterEach(() => fixture.stop());

  const open = async (oidc: Record<string, unknown>, local: boolean | string = 'recovery'): Promise<void> => {
    fixture = await openWith(provider.issuer, { create_accounts: false, ...oidc }, { local });
    admin = await fixture.signedIn();
  };
  const invite = async (role = 'member'): Promise<string> => {
    const sent = await admin.shown(await admin.post('/users/invitations', { email: EMAIL, role }, '/users'));
    return /http:\/\/aos\.test(\/invitations\/\w+)/.exec(sent.text)?.[1] ?? '';
  };
  const begin = async (browser: Browser, link: string): Promise<string> =>
    String((await browser.get(`${link}/sign-in`)).headers['location']);
  const accept = async (link: string, subject: string, browser = fixture.browser()): Promise<Answer> =>
    browser.get(toPath(await provider.authorize(await begin(browser, link), subject)));
  const readRole = async (username: string): Promise<string | undefined> => {
    for await (const account of fixture.harness.kernel.findService(ACCOUNTS)?.iterateCredentials() ?? [])
      if (account.username === username) return account.role;
    return undefined;
  };

  it('creates the account with the invited role for the same verified address, in any case', async () => {
    await open({ role_map: {} });
    provider.users.set('i-1', { preferred_username: 'lena', email: 'Lena@Acme.Test', email_verified: true });
    const link = await invite();
    const browser = fixture.browser();
    const answer = await accept(link, 'i-1', browser);
    expect([answer.status, answer.headers['location']]).to.deep.equal([303, '/']);
    expect(await readUsername(browser)).to.equal('lena');
    expect(await readRole('lena')).to.equal('member');
    expect((await fixture.browser().get(link)).status).to.equal(410);
    expect((await fixture.browser().get(`${link}/sign-in`)).status).to.equal(410);
  });

  it('offers no password where the role cannot use one, and takes none', async () => {
    await open({ role_map: {} });
    const link = await invite();
    const browser = fixture.browser();
    const { text } = await browser.get(link);
    expect(text).to.include('Passwords are turned off here.').and.include(`${link}/sign-in`);
    expect(text).to.not.include('name="password"');
    const answer = await browser.post(link, { username: 'lena', password: PASSWORD }, '/login');
    expect(answer.status).to.equal(403);
    expect(await readRole('lena')).to.equal(undefined);
  });

  it('offers both where passwords are accepted', async () => {
    await open({ role_map: {} }, true);
    const link = await invite();
    const { text } = await fixture.browser().get(link);
    expect(text).to.include(`${link}/sign-in`).and.include('name="password"');
  });

  for (const [what, claims] of [
    ['another address', { email: 'other@acme.test', email_verified: true }],
    ['an unverified address', { email: EMAIL, email_verified: false }],
    ['no address', {}],
  ] as const) {
    it(`stays pending after a sign-in with ${what}`, async () => {
      await open({ role_map: {}, create_accounts: true, default_role: 'member' });
      provider.users.set('i-2', { preferred_username: 'lena', ...claims });
      const link = await invite('admin');
      const answer = await accept(link, 'i-2');
      expect(answer.status).to.equal(403);
      expect(readSentence(answer)).to.equal('The verified e-mail address of this sign-in isn’t the invited one.');
      expect(await readRole('lena')).to.equal(undefined);
      expect((await fixture.browser().get(link)).status).to.equal(200);
    });
  }

  it('is denied when it was revoked during the sign-in', async () => {
    await open({ role_map: {} });
    provider.users.set('i-3', { preferred_username: 'lena', email: EMAIL, email_verified: true });
    const link = await invite();
    const browser = fixture.browser();
    const callback = await provider.authorize(await begin(browser, link), 'i-3');
    const id = /invitations\/([0-9a-f-]{36})\/revoke/.exec((await admin.get('/users')).text)?.[1] ?? '';
    await admin.post(`/users/invitations/${id}/revoke`, {}, '/users');
    const answer = await browser.get(toPath(callback));
    expect([answer.status, readSentence(answer)]).to.deep.equal([403, 'This invitation was revoked.']);
    expect(await readRole('lena')).to.equal(undefined);
  });

  it('gives the role of the provider’s groups where they decide, and none without a group', async () => {
    await open({});
    const link = await invite();
    provider.users.set('i-4', { preferred_username: 'lena', email: EMAIL, email_verified: true, groups: [] });
    expect((await accept(link, 'i-4')).status).to.equal(403);
    provider.users.set('i-4', { preferred_username: 'lena', email: EMAIL, email_verified: true, groups: ['admins'] });
    expect((await accept(link, 'i-4')).status).to.equal(303);
    expect(await readRole('lena')).to.equal('admin');
  });
});
