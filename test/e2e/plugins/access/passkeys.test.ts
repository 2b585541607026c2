/** Passkeys of a virtual authenticator, and the way through a real provider, in Chromium. */
import { expect } from 'chai';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { CDPSession, Page } from 'playwright-core';
import { ADMIN_ACCOUNT, TestService } from '../../../support/service.js';
import { OIDC_CLIENT, TestOidcProvider } from '../../../support/oidc-provider.js';
import { CHROMIUM, launchAlone, type TestBrowser } from '../../browser/chromium.js';

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const AUTHENTICATOR = {
  protocol: 'ctap2',
  transport: 'internal',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const;

describe('web: sign-in methods in Chromium', function () {
  this.timeout(600_000);
  let browser: TestBrowser;
  let provider: TestOidcProvider;
  let service: TestService;
  let origin: string;

  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    // No passkey belongs to an address.
    const port = await findFreePort();
    origin = `http://localhost:${port}`;
    provider = await TestOidcProvider.start(origin);
    browser = await launchAlone(CHROMIUM);
    service = await TestService.createInProcess({
      SVC_PORT: String(port),
      SVC_BASE_URL: origin,
      SVC_AUTH__SECOND_FACTOR: 'admins',
      SVC_AUTH__OIDC__ISSUER: provider.issuer,
      SVC_AUTH__OIDC__CLIENT_ID: OIDC_CLIENT.client_id,
      SVC_AUTH__OIDC__CLIENT_SECRET: OIDC_CLIENT.client_secret,
      SVC_AUTH__OIDC__ROLE_MAP: '{"staff":"member"}',
    });
  });
  after(async () => {
    await service?.dispose();
    await browser?.close();
    await provider?.stop();
  });

  const open = async (): Promise<{ page: Page; protocol: CDPSession; id: string }> => {
    const page = await browser.newPage();
    const protocol = await page.context().newCDPSession(page);
    await protocol.send('WebAuthn.enable');
    const { authenticatorId } = await protocol.send('WebAuthn.addVirtualAuthenticator', { options: AUTHENTICATOR });
    return { page, protocol, id: authenticatorId };
  };

  const submitPassword = async (page: Page): Promise<void> => {
    await page.goto(`${origin}/login`);
    await page.getByLabel('Username').fill(ADMIN_ACCOUNT.username);
    await page.getByLabel('Password').fill(ADMIN_ACCOUNT.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };

  const addPasskey = async (page: Page, name: string): Promise<void> => {
    await page.getByLabel('Passkey name').fill(name);
    await page.locator('#passkeys').getByLabel('Current password').fill(ADMIN_ACCOUNT.password);
    await page.getByRole('button', { name: 'Add passkey' }).click();
    await page.getByRole('button', { name: 'Create passkey' }).click();
    await page.locator('#passkeys').getByText(name, { exact: true }).waitFor();
  };

  const signOut = async (page: Page): Promise<void> => {
    await page.context().clearCookies();
    await page.goto(`${origin}/login`);
  };

  it('leads an administrator without a second factor to enroll, then signs in by the passkey', async () => {
    const { page, protocol, id } = await open();
    await submitPassword(page);
    await page.waitForURL(`${origin}/account`);
    await page.goto(`${origin}/users`);
    expect(page.url()).to.equal(`${origin}/account`);
    const denied = await page.request.get(`${origin}/api/admin/v1/config`);
    expect([denied.status(), await denied.text()].join(' ')).to.match(/^403 .*second_factor_required/);
    const early = await service.request('POST', '/api/setup/v1/login', null, ADMIN_ACCOUNT);
    expect([early.status, JSON.stringify(early.body)].join(' ')).to.match(/^403 .*second_factor_required/);

    await addPasskey(page, 'Work laptop');
    expect((await page.goto(`${origin}/users`))?.status()).to.equal(200);

    await signOut(page);
    await page.getByRole('link', { name: 'Use a passkey' }).click();
    await page.waitForURL(`${origin}/`);

    await signOut(page);
    await submitPassword(page);
    await page.getByRole('button', { name: 'Use passkey' }).click();
    await page.waitForURL(`${origin}/`);
    const { credentials } = await protocol.send('WebAuthn.getCredentials', { authenticatorId: id });
    expect(credentials.map(({ signCount }) => signCount)).to.deep.equal([3]);

    await page.goto(`${origin}/account`);
    await page.locator('#passkeys').getByText('Remove', { exact: true }).first().click();
    await page.getByRole('button', { name: 'Remove passkey' }).click();
    await page.getByText('A second factor is required for your role').waitFor();

    // A copy of the authenticator has an older counter.
    const [credential] = credentials;
    await protocol.send('WebAuthn.removeCredential', {
      authenticatorId: id,
      credentialId: credential?.credentialId ?? '',
    });
    if (credential)
      await protocol.send('WebAuthn.addCredential', {
        authenticatorId: id,
        credential: { ...credential, signCount: 1 },
      });
    await signOut(page);
    await page.getByRole('link', { name: 'Use a passkey' }).click();
    await page.getByText('This passkey can’t sign in here.').waitFor();
    await page.context().close();
  });

  it('refuses the account at the installer with 501, and its tokens still work', async () => {
    const token = await service.createToken('bugtracker:read');
    expect((await service.request('GET', '/api/bugtracker/v1/bugs', token)).status).to.equal(200);
    const login = await service.request('POST', '/api/setup/v1/login', null, ADMIN_ACCOUNT);
    expect([login.status, (login.body['error'] as { code: string }).code]).to.deep.equal([501, 'totp_not_supported']);
  });

  it('signs in by the company’s account, and out at both', async () => {
    provider.users.set('ada', { preferred_username: 'ada', groups: ['staff'] });
    const page = await browser.newPage();
    await page.goto(`${origin}/login?next=%2Faccount`);
    await page.getByRole('link', { name: 'Sign in with your company account' }).click();
    await page.locator('input[name="login"]').fill('ada');
    await page.locator('input[name="password"]').fill('any');
    await page.getByRole('button').first().click();
    await page.waitForURL(`${origin}/account`);
    expect(await page.locator('h1').textContent()).to.equal('ada');
    await page.evaluate('document.querySelector(\'form[action="/logout"]\').requestSubmit()');
    await page.waitForURL((url) => url.origin === provider.issuer);
    await page.goto(`${origin}/account`);
    expect(page.url()).to.include('/login');
    await page.context().close();
  });
});
