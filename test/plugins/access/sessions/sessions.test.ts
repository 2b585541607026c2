/** Web sessions, the login in two steps, TOTP (contract 10, web session). */
import 'reflect-metadata';
import { expect } from 'chai';
import { Secret, TOTP } from 'otpauth';
import type { Account } from '../../../../plugins/access/model/account.js';
import type { AccessServices } from '../../../../plugins/access/services.js';
import type { SessionDoc } from '../../../../plugins/access/sessions/sessions.js';
import type { Role } from '../../../../ports/http/index.js';
import { PASSWORD, services, sha256, fixtureOn, type Fixture } from '../fixture.js';
import { refused } from '../refused.js';

const HOUR = 3_600_000;
const BROWSER = { address: '192.0.2.7', userAgent: 'test' };

describe('access: sessions', () => {
  let w: Fixture;
  let s: AccessServices;
  const rows = () => w.store.collection<SessionDoc>('access_sessions');
  const make = (username: string, role: Role = 'admin') =>
    s.accounts.create('system', { username, role, password: PASSWORD });
  const login = async (username = 'ada', from = BROWSER, p = s): Promise<string> => {
    const step = await p.login.submitPassword(username, PASSWORD, from);
    if (!step.done) throw new Error('a code is asked for');
    return step.session;
  };
  const alive = (cookie: string, p = s) => p.authenticator.authenticateSession(cookie);

  beforeEach(async () => {
    w = await fixtureOn();
    s = await services(w);
    await make('ada');
    await make('root');
  });

  afterEach(() => s.background.waitUntilIdle());

  it('stores only the hash of the cookie', async () => {
    const cookie = await login();
    expect(await rows().get(sha256(cookie))).to.include({ address: '192.0.2.7' });
    expect(JSON.stringify((await rows().find()).items)).not.to.include(cookie);
    expect(await alive(cookie)).to.include({
      kind: 'session',
      username: 'ada',
      role: 'admin',
      session_id: sha256(cookie),
    });
    expect(await alive('x')).to.equal(null);
    expect(await alive('a'.repeat(43))).to.equal(null);
  });

  it('expires after 12 hours without a request', async () => {
    const cookie = await login();
    w.clock.forward(12 * HOUR - 1);
    expect(await alive(cookie)).not.to.equal(null);
    await s.background.waitUntilIdle();
    w.clock.forward(12 * HOUR);
    expect(await alive(cookie)).to.equal(null);
  });

  it('expires after 12 idle hours even if the clock ran ahead at an earlier request', async () => {
    const cookie = await login();
    w.clock.put(3 * HOUR);
    expect(await alive(cookie)).not.to.equal(null);
    await s.background.waitUntilIdle();
    w.clock.put(-3 * HOUR);
    expect(await alive(cookie)).not.to.equal(null);
    await s.background.waitUntilIdle();
    w.clock.forward(12 * HOUR);
    expect(await alive(cookie)).to.equal(null);
  });

  it('expires after 7 days', async () => {
    const cookie = await login();
    for (let hours = 0; hours < 7 * 24 - 6; hours += 6) {
      w.clock.forward(6 * HOUR);
      expect(await alive(cookie), `after ${hours + 6} h`).not.to.equal(null);
      await s.background.waitUntilIdle();
    }
    w.clock.forward(6 * HOUR);
    expect(await alive(cookie)).to.equal(null);
    expect(await s.sessions.sweep()).to.equal(1);
  });

  it('issues a new id at every login and ends the previous session of the browser', async () => {
    const first = await login();
    const second = await login('ada', { ...BROWSER, session: first } as typeof BROWSER);
    expect(second).not.to.equal(first);
    expect(await alive(first)).to.equal(null);
    expect(await alive(second)).not.to.equal(null);
  });

  for (const [what, act] of [
    [
      'a password change',
      (p: AccessServices, id: string) => p.accounts.setPassword('system', id, 'another-long-phrase'),
    ],
    ['disabling', (p: AccessServices, id: string) => p.accounts.setDisabled('system', id, true)],
    ['a change of role', (p: AccessServices, id: string) => p.accounts.setRole('system', id, 'member')],
    ['deletion', (p: AccessServices, id: string) => p.accounts.remove('system', id)],
    ['a TOTP reset', (p: AccessServices, id: string) => p.accounts.resetTotp('system', id)],
  ] as const) {
    it(`${what} ends all sessions of the account only, in every process`, async () => {
      const other = await services(w);
      const cookies = [await login(), await login('ada', BROWSER, other)];
      const kept = await login('root');
      await act(s, (await s.accounts.findByUsername('ada')).id);
      for (const cookie of cookies) {
        expect(await alive(cookie)).to.equal(null);
        expect(await alive(cookie, other)).to.equal(null);
      }
      expect(await alive(kept)).not.to.equal(null);
      expect(await rows().count()).to.equal(1);
    });
  }

  it('ends when the account is disabled during the login', async () => {
    const account = await s.accounts.findByUsername('ada');
    await s.accounts.setDisabled('system', account.id, true);
    await s.accounts.setDisabled('system', account.id, false);
    const late = await s.sessions.open(account, BROWSER);
    expect(await alive(late)).to.equal(null);
  });

  it('lists the sessions of the account and ends a selected one', async () => {
    const mine = await login();
    const other = await login();
    const foreign = await login('root');
    const account = await s.accounts.findByUsername('ada');
    const list = await s.sessions.list(account, sha256(mine));
    expect(list.map(({ id, current }) => [id, current])).to.have.deep.members([
      [sha256(mine), true],
      [sha256(other), false],
    ]);
    expect(await s.sessions.endOwn(account.id, sha256(foreign))).to.equal(false);
    expect(await s.sessions.endOwn(account.id, sha256(other))).to.equal(true);
    expect(await alive(other)).to.equal(null);
    expect(await alive(foreign)).not.to.equal(null);
  });

  it('binds the CSRF token to the cookie', () => {
    const of = (cookie: string): string => s.authenticator.getCsrfToken(cookie);
    expect(of('a')).to.match(/^[\w-]{43}$/);
    expect(of('a')).to.equal(of('a')).and.not.equal(of('b'));
  });

  it('rejects accounts of the installer role at the web login', async () => {
    await make('guide', 'installer');
    expect(await refused(s.login.submitPassword('guide', PASSWORD, BROWSER))).to.include({
      status: 403,
      code: 'role_not_allowed',
    });
  });

  describe('TOTP', () => {
    const codeOf = (secret: string): string =>
      new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: w.clock.now() });
    const account = () => s.accounts.findByUsername('ada');

    async function enrol(): Promise<{ secret: string; recovery: string[] }> {
      const { secret } = await s.totp.beginEnrolment(await account());
      const { recovery } = await s.totp.enable('system', await account(), codeOf(secret));
      w.clock.forward(30_000);
      return { secret, recovery };
    }
    const first = async (): Promise<string> => {
      const step = await s.login.submitPassword('ada', PASSWORD, BROWSER);
      if (step.done) throw new Error('no code was asked for');
      return step.challenge;
    };

    it('shows a QR code of the otpauth URI and stores the secret encrypted', async () => {
      const { secret, uri, qr } = await s.totp.beginEnrolment(await account());
      expect(secret).to.match(/^[A-Z2-7]{32}$/);
      expect(uri).to.match(/^otpauth:\/\/totp\/AOS:ada\?.*secret=[A-Z2-7]{32}/);
      expect(qr).to.match(/^data:image\/svg\+xml;base64,/);
      expect(JSON.stringify(await account())).not.to.include(secret);
      expect((await account()).totp_secret).to.equal(null);
    });

    it('is enabled by the first correct code, which ends the account’s sessions', async () => {
      const cookie = await login();
      const { secret } = await s.totp.beginEnrolment(await account());
      const error = await refused(s.totp.enable('system', await account(), '000000'));
      expect(error).to.include({ status: 422, code: 'validation_failed' });
      expect(error.fields).to.have.property('code');
      const { recovery } = await s.totp.enable('system', await account(), codeOf(secret));
      expect(recovery).to.have.length(10);
      for (const code of recovery) expect(code).to.match(/^[a-km-np-z2-9]{5}-[a-km-np-z2-9]{5}$/);
      expect(await alive(cookie)).to.equal(null);
      expect(JSON.stringify(await account())).not.to.include(recovery[0]);
    });

    it('requires both the password and the code', async () => {
      const { secret } = await enrol();
      const challenge = await first();
      expect(await alive(challenge)).to.equal(null);
      expect(await refused(s.login.submitCode(challenge, '000000', BROWSER))).to.include({
        status: 401,
        code: 'invalid_credentials',
      });
      const step = await s.login.submitCode(challenge, codeOf(secret), BROWSER);
      expect(step.done && (await alive(step.session))).to.include({ username: 'ada' });
      const ended = await refused(s.login.submitCode(challenge, codeOf(secret), BROWSER));
      expect(ended).to.include({ status: 401 });
      expect(ended.extra).to.deep.equal({ restart: true });
    });

    it('rejects reused codes, including the enrolment code, also in parallel', async () => {
      const { secret } = await s.totp.beginEnrolment(await account());
      const used = codeOf(secret);
      await s.totp.enable('system', await account(), used);
      expect(await refused(s.login.submitCode(await first(), used, BROWSER))).to.include({ status: 401 });
      w.clock.forward(30_000);
      const code = codeOf(secret);
      const [a, b] = [await first(), await first()];
      const results = await Promise.allSettled([
        s.login.submitCode(a, code, BROWSER),
        s.login.submitCode(b, code, BROWSER),
      ]);
      expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
      w.clock.forward(30_000);
      expect(await refused(s.login.submitCode(await first(), code, BROWSER))).to.include({ status: 401 });
    });

    it('accepts the previous and the next code only', async () => {
      const { secret } = await enrol();
      w.clock.forward(300_000);
      const code = codeOf(secret);
      w.clock.forward(60_000);
      expect(await refused(s.login.submitCode(await first(), code, BROWSER))).to.include({ status: 401 });
      const next = codeOf(secret);
      w.clock.forward(30_000);
      expect((await s.login.submitCode(await first(), next, BROWSER)).done).to.equal(true);
    });

    it('accepts a recovery code only once', async () => {
      const { recovery } = await enrol();
      const [code = ''] = recovery;
      expect((await s.login.submitCode(await first(), ` ${code.toUpperCase()} `, BROWSER)).done).to.equal(true);
      expect(await refused(s.login.submitCode(await first(), code, BROWSER))).to.include({ status: 401 });
      expect((await account()).totp_recovery).to.have.length(9);
    });

    it('throttles codes with a separate counter', async () => {
      const { secret } = await enrol();
      for (let i = 0; i < 6; i++)
        expect(await refused(s.login.submitCode(await first(), '000000', BROWSER))).to.include({ status: 401 });
      const limited = await refused(s.login.submitCode(await first(), codeOf(secret), BROWSER));
      expect(limited).to.include({ status: 429 });
      expect(limited.headers).to.include({ 'retry-after': '1' });
    });

    it('ends a login that takes over five minutes or whose account changes meanwhile', async () => {
      const { secret } = await enrol();
      const slow = await first();
      w.clock.forward(300_000);
      expect(await refused(s.login.submitCode(slow, codeOf(secret), BROWSER))).to.include({ status: 401 });
      const changed = await first();
      await s.accounts.setPassword('system', (await account()).id, 'another-long-phrase');
      expect(await refused(s.login.submitCode(changed, codeOf(secret), BROWSER))).to.include({ status: 401 });
      expect(await s.login.sweep()).to.equal(1);
    });

    it('can be disabled and reset, after which the password alone is sufficient', async () => {
      await enrol();
      await s.totp.disable('system', await account());
      expect((await s.login.submitPassword('ada', PASSWORD, BROWSER)).done).to.equal(true);
      await enrol();
      await s.accounts.resetTotp('command line', (await account()).id);
      const after: Account = await account();
      expect(after).to.deep.include({ totp_secret: null, totp_pending: null, totp_step: null, totp_recovery: [] });
      expect(await login()).to.be.a('string');
    });
  });
});
