import { expect } from 'chai';
import type { Account } from '../../../../plugins/access/model/account.js';
import type { SubmittedPasskey } from '../../../../plugins/access/passkeys/submitted-passkey.js';
import type { AccessServices } from '../../../../plugins/access/services.js';
import { SoftwareAuthenticator, type AuthenticatorFaults } from '../../../support/software-authenticator.js';
import { fixtureOn, PASSWORD, services, type Fixture } from '../fixture.js';
import { refused } from '../refused.js';

const SESSION = 'session-1';
const FROM = { address: '192.0.2.7' };

describe('access: passkeys', () => {
  let w: Fixture;
  let s: AccessServices;
  let account: Account;
  let authenticator: SoftwareAuthenticator;

  beforeEach(async () => {
    w = await fixtureOn();
    s = await services(w, { second_factor: 'admins' });
    const { id } = await s.accounts.create('system', { username: 'ada', role: 'admin', password: PASSWORD });
    account = await s.accounts.getAccount(id);
    authenticator = new SoftwareAuthenticator('https://aos.test', 'aos.test');
  });

  const begin = async (): Promise<{ state: string; challenge: string }> => {
    const state = s.passkeys.beginRegistration(account, SESSION, 'Laptop');
    const started = await s.passkeys.buildRegistrationOptions(account, SESSION, state);
    return { state, challenge: (JSON.parse(started?.options ?? '{}') as { challenge: string }).challenge };
  };

  const add = async (faults: AuthenticatorFaults = {}): Promise<void> => {
    const { state, challenge } = await begin();
    const credential = authenticator.create(challenge, faults);
    account = await s.passkeys.register('system', account, SESSION, { credential, state });
  };

  const prompt = async (faults: AuthenticatorFaults = {}): Promise<SubmittedPasskey> => {
    const { options, state } = await s.passkeys.beginSignIn();
    const { challenge } = JSON.parse(options) as { challenge: string };
    return { credential: authenticator.get(challenge, account.id, faults), state };
  };

  it('asks for a discoverable passkey that verifies its user', async () => {
    const state = s.passkeys.beginRegistration(account, SESSION, 'Laptop');
    const started = await s.passkeys.buildRegistrationOptions(account, SESSION, state);
    expect(JSON.parse(started?.options ?? '{}')).to.deep.include({
      rp: { name: 'AOS', id: 'aos.test' },
      attestation: 'none',
    });
    expect(JSON.parse(started?.options ?? '{}')).to.have.nested.property(
      'authenticatorSelection.residentKey',
      'required',
    );
  });

  it('adds one, ends the sessions of the account, and signs in by it', async () => {
    const session = await s.sessions.open(account, FROM);
    await add();
    expect(await s.sessions.verify(session)).to.equal(null);
    const step = await s.login.submitPasskey(await prompt(), FROM);
    expect(step).to.have.property('done', true);
    expect((await s.accounts.getAccount(account.id)).passkeys?.[0]).to.deep.include({ name: 'Laptop', counter: 1 });
  });

  it('continues a password sign-in', async () => {
    await add();
    const step = await s.login.submitPassword('ada', PASSWORD, FROM);
    if (step.done) throw new Error('the password was enough');
    expect(step.factors).to.deep.equal({ totp: false, passkey: true });
    const done = await s.login.submitPasskeyAsSecondFactor(step.challenge, await prompt(), FROM);
    expect(done).to.have.property('done', true);
  });

  it('rejects the passkey of another account as second factor', async () => {
    await add();
    const step = await s.login.submitPassword('ada', PASSWORD, FROM);
    const { id } = await s.accounts.create('system', { username: 'eve', role: 'member', password: PASSWORD });
    account = await s.accounts.getAccount(id);
    authenticator = new SoftwareAuthenticator('https://aos.test', 'aos.test');
    await add();
    const error = await refused(
      s.login.submitPasskeyAsSecondFactor(step.done ? '' : step.challenge, await prompt(), FROM),
    );
    expect(error.code).to.equal('invalid_credentials');
  });

  const faults: Record<string, AuthenticatorFaults> = {
    'another origin': { origin: 'https://evil.test' },
    'another relying party': { rpId: 'evil.test' },
    'another challenge': { challenge: 'AAAA' },
    'an unverified user': { isUserVerified: false },
    'another ceremony': { type: 'webauthn.other' },
  };
  for (const [name, fault] of Object.entries(faults)) {
    it(`does not add one from ${name}`, async () => {
      expect(await refused(add(fault))).to.include({ status: 422, code: 'validation_failed' });
      expect((await s.accounts.getAccount(account.id)).passkeys).to.equal(undefined);
    });

    it(`does not sign in from ${name}`, async () => {
      await add();
      expect((await refused(s.login.submitPasskey(await prompt(fault), FROM))).code).to.equal('invalid_credentials');
    });
  }

  it('accepts each prompt once, within five minutes', async () => {
    await add();
    const given = await prompt();
    await s.login.submitPasskey(given, FROM);
    expect((await refused(s.login.submitPasskey(given, FROM))).code).to.equal('invalid_credentials');
    const late = await prompt();
    w.clock.forward(5 * 60_000);
    expect((await refused(s.login.submitPasskey(late, FROM))).code).to.equal('invalid_credentials');
  });

  it('rejects a counter that does not increase', async () => {
    await add();
    await s.login.submitPasskey(await prompt({ counter: 7 }), FROM);
    expect((await refused(s.login.submitPasskey(await prompt({ counter: 7 }), FROM))).code).to.equal(
      'invalid_credentials',
    );
  });

  it('adds one in the session that began it alone, and once', async () => {
    const { state, challenge } = await begin();
    expect(await s.passkeys.buildRegistrationOptions(account, 'session-2', state)).to.equal(null);
    const credential = authenticator.create(challenge);
    const other = s.passkeys.register('system', account, 'session-2', { credential, state });
    expect((await refused(other)).code).to.equal('validation_failed');
    const again = s.passkeys.register('system', account, SESSION, { credential, state });
    expect((await refused(again)).code).to.equal('validation_failed');
  });

  it('does not sign in a disabled account', async () => {
    await add();
    await s.accounts.create('system', { username: 'eve', role: 'admin', password: PASSWORD });
    await s.accounts.setDisabled('system', account.id, true);
    expect((await refused(s.login.submitPasskey(await prompt(), FROM))).code).to.equal('invalid_credentials');
  });

  for (const credential of ['', '{}', '[]', 'null', '{"id":1}', '{"id":"x","response":[]}', 'x'.repeat(20_000)])
    it(`rejects ${JSON.stringify(credential.slice(0, 30))} as an answer`, async () => {
      const { state } = await prompt();
      expect((await refused(s.login.submitPasskey({ credential, state }, FROM))).status).to.equal(422);
    });

  it('keeps the last factor of an account that needs one', async () => {
    await add();
    const id = authenticator.id.toString('base64url');
    expect(await refused(s.passkeys.remove('system', account, id))).to.include({ status: 409, code: 'conflict' });
    const member = await services(w, { second_factor: 'optional' });
    expect((await member.passkeys.remove('system', account, id)).passkeys).to.deep.equal([]);
  });

  it('is removed with the other factors by a reset', async () => {
    await add();
    await s.accounts.resetTotp('system', account.id);
    expect((await s.accounts.getAccount(account.id)).passkeys).to.deep.equal([]);
  });

  it('marks sessions of accounts without a required factor', async () => {
    const session = await s.sessions.open(account, FROM);
    expect(await s.sessions.verify(session)).to.include({ must_enroll: true });
    await add();
    const next = await s.sessions.open(account, FROM);
    expect(await s.sessions.verify(next)).to.not.have.property('must_enroll');
  });
});
