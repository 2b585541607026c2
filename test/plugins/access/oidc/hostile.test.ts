/** Answers that a provider, or someone in its place, should not get through with. */
import { expect } from 'chai';
import { OIDC_CLIENT } from '../../../support/oidc-provider.js';
import { HostileOidcProvider, type ProviderFaults } from '../../../support/hostile-oidc-provider.js';
import type { Answer, Browser, HttpFixture } from '../http-fixture.js';
import { beginSignIn, openWith, readSentence, readUsername } from './oidc-fixture.js';

describe('access: hostile OpenID Connect providers', function () {
  this.timeout(300_000);
  let provider: HostileOidcProvider;
  let fixture: HttpFixture;

  beforeEach(async () => {
    provider = await HostileOidcProvider.start(OIDC_CLIENT.client_secret);
    fixture = await openWith(provider.issuer);
  });
  afterEach(async () => {
    await fixture.stop();
    await provider.stop();
  });

  const signIn = async (browser: Browser, changes: Record<string, string> = {}): Promise<Answer> => {
    const query = provider.authorize(await beginSignIn(browser), changes);
    return browser.get(`/auth/oidc/callback?${query.toString()}`);
  };

  it('admits a right answer, so that the others fail for their fault alone', async () => {
    const browser = fixture.browser();
    expect((await signIn(browser)).status).to.equal(303);
    expect(await readUsername(browser)).to.equal('ada');
  });

  const past = Math.floor(Date.now() / 1000) - 3600;
  const cases: Record<string, ProviderFaults> = {
    'an unsigned token': { header: { alg: 'none' }, signature: 'none' },
    'a token without its signature': { signature: 'none' },
    'a token signed by another key': { signature: 'other-key' },
    'a token signed with the client’s secret': { header: { alg: 'HS256' }, signature: 'client-secret' },
    'a token of an unknown key': { header: { kid: 'other' }, signature: 'other-key' },
    'another nonce': { claims: { nonce: 'other' } },
    'no nonce': { claims: { nonce: undefined } },
    'another audience': { claims: { aud: 'other' } },
    'a second audience without authorized party': { claims: { aud: ['aos', 'other'] } },
    'another issuer': { claims: { iss: 'https://evil.test' } },
    'an expired token': { claims: { exp: past } },
    'a token of the future': { claims: { nbf: past + 7200 } },
    'no subject': { claims: { sub: undefined } },
    'a subject that is no text': { claims: { sub: 1 } },
    'an error of the token endpoint': { status: { path: '/token', status: 400 } },
  };
  for (const [name, faults] of Object.entries(cases))
    it(`rejects ${name}`, async () => {
      provider.faults = faults;
      const browser = fixture.browser();
      const answer = await signIn(browser);
      expect(answer.status).to.equal(400);
      expect(readSentence(answer)).to.equal('The sign-in provider’s answer couldn’t be verified. Start again.');
      expect(answer.text).to.match(/Request ID <code>/);
      expect(browser.cookies.has('svc_session')).to.equal(false);
    });

  const outages: Record<string, ProviderFaults> = {
    'a discovery document of another issuer': { discovery: { issuer: 'https://evil.test' } },
    'a discovery document without end': { hang: { path: '/.well-known/openid-configuration', how: 'endless' } },
    'an error instead of the discovery document': {
      status: { path: '/.well-known/openid-configuration', status: 500 },
    },
  };
  for (const [name, faults] of Object.entries(outages))
    it(`answers 503 to ${name}, and works once it is right`, async () => {
      provider.faults = faults;
      const browser = fixture.browser();
      const answer = await browser.get('/auth/oidc/start');
      expect([answer.status, answer.headers['retry-after']]).to.deep.equal([503, '30']);
      expect(readSentence(answer)).to.equal('The sign-in provider doesn’t respond. Try again later.');
      provider.faults = {};
      expect((await signIn(browser)).status).to.equal(303);
    });

  it('answers 503 to a key set without end, and to a token endpoint that never answers', async () => {
    for (const [path, how] of [
      ['/jwks', 'endless'],
      ['/token', 'silent'],
    ] as const) {
      provider.faults = { hang: { path, how } };
      expect((await signIn(fixture.browser())).status).to.equal(503);
    }
  });

  it('starts without the provider, and asks it once for sign-ins at the same time', async () => {
    expect(provider.requests).to.equal(0);
    expect((await fixture.browser().get('/login')).status).to.equal(200);
    const answers = await Promise.all([1, 2, 3].map(() => fixture.browser().get('/auth/oidc/start')));
    expect(answers.map(({ status }) => status)).to.deep.equal([303, 303, 303]);
    expect(provider.requests).to.equal(1);
  });

  it('never shows the provider’s text', async () => {
    const browser = fixture.browser();
    const answer = await signIn(browser, { error: '<script>alert(1)</script>', error_description: '<i>text</i>' });
    expect(answer.status).to.equal(400);
    expect(answer.text).to.not.include('alert(1)').and.not.include('<i>text');
  });

  it('cleans names that a provider invents', async () => {
    for (const [number, [given, expected]] of Object.entries([
      ['lic_\u202eevil:name', 'evilname'],
      ['<b>x</b>', '&lt;b&gt;x&lt;/b&gt;'],
      ['# :', 'user'],
      ['x'.repeat(500), 'x'.repeat(60)],
    ])) {
      provider.faults = { claims: { sub: number, preferred_username: given } };
      const browser = fixture.browser();
      expect((await signIn(browser)).status).to.equal(303);
      expect(await readUsername(browser)).to.equal(expected);
    }
  });
});
