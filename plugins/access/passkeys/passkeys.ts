/**
 * Passkeys (WebAuthn) of accounts, stored in the account. They are discoverable and verify their
 * user, so that one is a whole sign-in, and a second factor after a password (contract 97,
 * passkeys).
 */
import { randomBytes } from 'node:crypto';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import {
  PORT,
  collection,
  inject,
  injectable,
  type AppSettings,
  type Clock,
  type Collection,
  type Logger,
  token,
} from '../../../kernel/contract/index.js';
import { conflict, invalid, notFound, ServiceError } from '../../../kernel/errors.js';
import type { Actor } from '../../../ports/domain/audit.js';
import { AuditService } from '../audit/audit.js';
import { hasSecondFactor, type Account, type Passkey } from '../model/account.js';
import { SignInPolicy } from '../policy/sign-in-policy.js';
import { OneTimeStates } from '../sessions/one-time-states.js';
import { parseCredential, type SubmittedPasskey } from './submitted-passkey.js';

export const PASSKEY_CHALLENGE_LIFETIME_MS = 5 * 60_000;
const MAX_PASSKEYS = 20;
const MAX_NAME_LENGTH = 100;
const MAX_ATTEMPTS = 20;
const PROMPT_TIMEOUT_MS = 5 * 60_000;

interface RegistrationState {
  challenge: string;
  session_id: string;
  name: string;
}

interface SignInState {
  challenge: string;
}

const REGISTRATION = token<RegistrationState>('passkey-registration');
const SIGN_IN = token<SignInState>('passkey-sign-in');

@injectable()
export class PasskeyService {
  readonly #origin: string;
  readonly #rpId: string;

  constructor(
    @inject(collection<Account>('accounts')) private readonly rows: Collection<Account>,
    @inject(OneTimeStates) private readonly states: OneTimeStates,
    @inject(SignInPolicy) private readonly policy: SignInPolicy,
    @inject(AuditService) private readonly audit: AuditService,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.log) private readonly log: Logger,
    @inject(PORT.app) app: Pick<AppSettings, 'base_url'>,
  ) {
    const { origin, hostname } = new URL(app.base_url);
    this.#origin = origin;
    this.#rpId = hostname;
  }

  /**
   * Starts to add a passkey.
   * @returns the sealed challenge for the browser's cookie
   * @throws ServiceError validation_failed, conflict
   */
  beginRegistration(account: Account, sessionId: string, given: string): string {
    const name = given.trim();
    if (name === '' || Array.from(name).length > MAX_NAME_LENGTH || /\p{C}/u.test(name))
      throw invalid({ passkey_name: `must have 1 to ${MAX_NAME_LENGTH} visible characters` });
    if (listPasskeys(account).length >= MAX_PASSKEYS)
      throw conflict(`An account can have ${MAX_PASSKEYS} passkeys. Remove one first.`);
    return this.states.seal(
      REGISTRATION,
      { challenge: generateChallenge(), session_id: sessionId, name },
      PASSKEY_CHALLENGE_LIFETIME_MS,
    );
  }

  /** Returns the options of the browser's prompt; null when none was started, or it has expired. */
  async buildRegistrationOptions(
    account: Account,
    sessionId: string,
    state: string | undefined,
  ): Promise<{ name: string; options: string } | null> {
    const started = this.states.read(REGISTRATION, state);
    if (started === null || started.session_id !== sessionId) return null;
    const { generateRegistrationOptions } = await import('@simplewebauthn/server');
    const options = await generateRegistrationOptions({
      rpName: 'AOS',
      rpID: this.#rpId,
      userName: account.username,
      userDisplayName: account.full_name ?? account.username,
      userID: new Uint8Array(Buffer.from(account.id)),
      challenge: new Uint8Array(Buffer.from(started.challenge, 'base64url')),
      timeout: PROMPT_TIMEOUT_MS,
      attestationType: 'none',
      excludeCredentials: listPasskeys(account).map(({ id }) => ({ id })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    return { name: started.name, options: JSON.stringify(options) };
  }

  /**
   * Ends the account's sessions by its epoch.
   * @throws ServiceError validation_failed, conflict
   */
  async register(actor: Actor, account: Account, sessionId: string, given: SubmittedPasskey): Promise<Account> {
    const state = await this.states.redeem(REGISTRATION, given.state);
    if (state === null || state.session_id !== sessionId) throw createExpiredError();
    const passkey = await this.#verifyRegistration(state, given.credential);
    const changed = await this.#change(account.id, (passkeys) => {
      if (passkeys.some(({ id }) => id === passkey.id)) throw conflict('This passkey was added before.');
      if (passkeys.length >= MAX_PASSKEYS) throw conflict(`An account can have ${MAX_PASSKEYS} passkeys.`);
      return [...passkeys, passkey];
    });
    await this.audit.record(actor, 'user.passkey_added', account.username, { passkey: passkey.name });
    return changed;
  }

  /**
   * Ends the account's sessions by its epoch.
   * @throws ServiceError not_found; conflict for the last factor when one is required
   */
  async remove(actor: Actor, account: Account, id: string): Promise<Account> {
    let name = '';
    const changed = await this.#change(account.id, (passkeys, current) => {
      const found = passkeys.find((one) => one.id === id);
      if (found === undefined) throw notFound('such passkey');
      const rest = passkeys.filter((one) => one !== found);
      if (this.policy.isSecondFactorRequired(current.role) && !hasSecondFactor({ ...current, passkeys: rest }))
        throw createLastFactorError();
      name = found.name;
      return rest;
    });
    await this.audit.record(actor, 'user.passkey_removed', account.username, { passkey: name });
    return changed;
  }

  /**
   * Returns the options of the browser's sign-in prompt and the sealed challenge for its cookie.
   */
  async beginSignIn(): Promise<{ options: string; state: string }> {
    const challenge = generateChallenge();
    const state = this.states.seal(SIGN_IN, { challenge }, PASSKEY_CHALLENGE_LIFETIME_MS);
    const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
    const options = await generateAuthenticationOptions({
      rpID: this.#rpId,
      challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
      timeout: PROMPT_TIMEOUT_MS,
      userVerification: 'required',
    });
    return { options: JSON.stringify(options), state };
  }

  /**
   * Verifies a sign-in by the account that the passkey names.
   * @throws ServiceError invalid_credentials, validation_failed
   */
  async verify(given: SubmittedPasskey): Promise<Account> {
    const credential = parseCredential(given.credential);
    const handle = credential.response['userHandle'];
    const id = typeof handle === 'string' ? Buffer.from(handle, 'base64url').toString('utf8') : '';
    const account = /^[0-9a-f-]{36}$/.test(id) ? await this.rows.get(id) : null;
    // The challenge is redeemed in any case.
    return this.#verifyFor(account, given);
  }

  /** @throws ServiceError invalid_credentials, validation_failed */
  async verifyOwn(account: Account, given: SubmittedPasskey): Promise<void> {
    await this.#verifyFor(account, given);
  }

  async #verifyFor(account: Account | null, given: SubmittedPasskey): Promise<Account> {
    const credential = parseCredential(given.credential);
    const state = await this.states.redeem(SIGN_IN, given.state);
    if (state === null) throw new ServiceError('invalid_credentials', 'The passkey prompt timed out. Try again.');
    const passkey = account === null ? undefined : listPasskeys(account).find(({ id }) => id === credential.id);
    if (account === null || account.disabled || passkey === undefined) throw createRejectedError();
    const counter = await this.#verifyAssertion(
      passkey,
      state.challenge,
      credential as unknown as AuthenticationResponseJSON,
    );
    const set = { counter, last_used_at: this.clock.iso() };
    await this.#change(
      account.id,
      (passkeys) => passkeys.map((one) => (one.id === passkey.id ? { ...one, ...set } : one)),
      { of: passkey, rev: account.passkeys_rev ?? null },
    );
    return account;
  }

  /** @returns the new counter; the library rejects one that does not increase */
  async #verifyAssertion(passkey: Passkey, challenge: string, response: AuthenticationResponseJSON): Promise<number> {
    const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
    try {
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response,
        expectedChallenge: challenge,
        expectedOrigin: this.#origin,
        expectedRPID: this.#rpId,
        requireUserVerification: true,
        credential: {
          id: passkey.id,
          publicKey: new Uint8Array(Buffer.from(passkey.public_key, 'base64url')),
          counter: passkey.counter,
        },
      });
      if (verified) return authenticationInfo.newCounter;
    } catch (error) {
      throw createRejectedError(error);
    }
    throw createRejectedError();
  }

  async #verifyRegistration({ challenge, name }: RegistrationState, text: string): Promise<Passkey> {
    const response = parseCredential(text) as unknown as RegistrationResponseJSON;
    const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
    try {
      const { verified, registrationInfo } = await verifyRegistrationResponse({
        response,
        expectedChallenge: challenge,
        expectedOrigin: this.#origin,
        expectedRPID: this.#rpId,
        requireUserVerification: true,
      });
      if (verified && registrationInfo) {
        const { credential, credentialBackedUp } = registrationInfo;
        return {
          id: credential.id,
          name,
          public_key: Buffer.from(credential.publicKey).toString('base64url'),
          counter: credential.counter,
          transports: (credential.transports ?? []).slice(0, 10),
          synced: credentialBackedUp,
          created_at: this.clock.iso(),
          last_used_at: null,
        };
      }
    } catch (err) {
      this.log.warn({ err }, 'a new passkey could not be verified');
    }
    throw invalid({ credential: 'could not be verified' }, 'The passkey could not be verified. Try again.');
  }

  /**
   * Replaces the list, conditional on its revision.
   * @param use a sign-in: one attempt, so that of two uses with one counter the second fails, and
   *   no sessions end
   */
  async #change(
    id: string,
    update: (passkeys: readonly Passkey[], account: Account) => Passkey[],
    use?: { of: Passkey; rev: number | null },
  ): Promise<Account> {
    for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
      const account = await this.rows.get(id);
      if (account === null) throw notFound(`account ${id}`);
      const rev = use === undefined ? (account.passkeys_rev ?? null) : use.rev;
      const set = { passkeys: update(listPasskeys(account), account) };
      const inc = { passkeys_rev: 1, ...(use === undefined && { epoch: 1 }) };
      // By the epoch, a concurrent change of the other factors is seen.
      const where = { id, passkeys_rev: rev, ...(use === undefined && { epoch: account.epoch }) };
      const changed = await this.rows.change(where, { set, inc });
      if (changed !== null) return changed.doc;
      if (use !== undefined) throw createRejectedError();
    }
    throw conflict('Too many concurrent changes of this account. Try again.');
  }
}

const generateChallenge = (): string => randomBytes(32).toString('base64url');

export const listPasskeys = (account: Pick<Account, 'passkeys'>): readonly Passkey[] => account.passkeys ?? [];

export const createLastFactorError = (): ServiceError =>
  conflict('A second factor is required for your role. Add another one before you remove this one.');

const createExpiredError = (): ServiceError =>
  invalid({ credential: 'took longer than five minutes' }, 'The passkey prompt timed out. Add the passkey again.');

const createRejectedError = (cause?: unknown): ServiceError =>
  new ServiceError('invalid_credentials', 'This passkey can’t sign in here.', { cause });
