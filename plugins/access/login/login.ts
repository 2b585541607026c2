/**
 * A first factor, then a second one if the account has any. A challenge links both for five
 * minutes; it is stored under the hash of its secret and allows only the second step.
 */
import {
  PORT,
  collection,
  inject,
  injectable,
  type Clock,
  type Collection,
  type Doc,
  type Ids,
} from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import { hasSecondFactor, type Account } from '../model/account.js';
import { PasskeyService } from '../passkeys/passkeys.js';
import type { SubmittedPasskey } from '../passkeys/submitted-passkey.js';
import { SessionOpener, type BrowserInfo, type OpenedSession } from './session-opener.js';
import { CredentialVerifier } from './credentials.js';
import { createRoleError } from '../policy/sign-in-policy.js';
import { computeSha256 } from '../model/token.js';
import { TotpService } from './totp.js';

export const CHALLENGE_LIFETIME_MS = 5 * 60_000;

export interface ChallengeDoc extends Doc {
  account_id: string;
  epoch: number;
  expires_at: string;
  /** Sealed, for the session. */
  provider_token?: string;
}

export interface SecondFactors {
  totp: boolean;
  passkey: boolean;
}

export type LoginStep = ({ done: true } & OpenedSession) | { done: false; challenge: string; factors: SecondFactors };

@injectable()
export class LoginService {
  constructor(
    @inject(CredentialVerifier) private readonly credentials: CredentialVerifier,
    @inject(collection<Account>('accounts')) private readonly accounts: Collection<Account>,
    @inject(collection<ChallengeDoc>('challenges')) private readonly challenges: Collection<ChallengeDoc>,
    @inject(SessionOpener) private readonly opener: SessionOpener,
    @inject(TotpService) private readonly totp: TotpService,
    @inject(PasskeyService) private readonly passkeys: PasskeyService,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.ids) private readonly ids: Ids,
  ) {}

  /** @throws ServiceError invalid_credentials, role_not_allowed, password_disabled, rate_limited */
  async submitPassword(username: string, password: string, from: BrowserInfo): Promise<LoginStep> {
    const { address, device, request_id } = from;
    const account = await this.credentials.verify({ username, password, address, device, request_id, place: 'web' });
    return hasSecondFactor(account) ? this.#createChallenge(account) : this.#openSession(account, from);
  }

  /**
   * Continues after a provider has verified the account. It replaces the password and no second
   * factor.
   * @param providerToken sealed, for the session
   * @throws ServiceError role_not_allowed
   */
  async continueExternal(account: Account, from: BrowserInfo, providerToken?: string): Promise<LoginStep> {
    if (account.role === 'installer') throw createRoleError(account.role);
    if (hasSecondFactor(account)) return this.#createChallenge(account, providerToken);
    await this.credentials.recordSuccess(account, { ...from, device: from.device, place: 'web' });
    return this.#openSession(account, from, providerToken);
  }

  /**
   * @throws ServiceError invalid_credentials (with `extra.restart` when the challenge has expired),
   *   rate_limited
   */
  async submitCode(challenge: string, code: string, from: BrowserInfo): Promise<LoginStep> {
    const { doc, account } = await this.#requireChallenge(challenge);
    if (account.totp_secret === null) throw createChallengeEndedError();
    await this.credentials.withSecurityLog(account, from, () => this.totp.verify(account, code));
    return this.#completeChallenge(doc, account, from);
  }

  /**
   * The passkey must belong to the challenge's account.
   * @throws as `submitCode`
   */
  async submitPasskeyAsSecondFactor(challenge: string, given: SubmittedPasskey, from: BrowserInfo): Promise<LoginStep> {
    const { doc, account } = await this.#requireChallenge(challenge);
    await this.credentials.withSecurityLog(account, from, () => this.passkeys.verifyOwn(account, given));
    return this.#completeChallenge(doc, account, from);
  }

  /**
   * A passkey that verified its user is both factors.
   * @throws ServiceError invalid_credentials, role_not_allowed
   */
  async submitPasskey(given: SubmittedPasskey, from: BrowserInfo): Promise<LoginStep> {
    const account = await this.credentials.withUnknownAccount(from, () => this.passkeys.verify(given));
    if (account.role === 'installer') throw createRoleError(account.role);
    await this.credentials.recordSuccess(account, { ...from, device: from.device, place: 'web' });
    return this.#openSession(account, from);
  }

  /** Returns the second factors of a challenge; null when it has ended. */
  async findFactors(challenge: string): Promise<SecondFactors | null> {
    const found = await this.#findChallenge(challenge);
    return found === null ? null : toSecondFactors(found.account);
  }

  async sweep(): Promise<number> {
    return this.challenges.remove({ expires_at: { lte: this.clock.iso() } }, 1000);
  }

  async #createChallenge(account: Account, providerToken?: string): Promise<LoginStep> {
    const challenge = this.ids.secret(43);
    const expires_at = new Date(this.clock.now() + CHALLENGE_LIFETIME_MS).toISOString();
    await this.challenges.insert({
      id: computeSha256(challenge),
      account_id: account.id,
      epoch: account.epoch,
      expires_at,
      ...(providerToken !== undefined && { provider_token: providerToken }),
    });
    return { done: false, challenge, factors: toSecondFactors(account) };
  }

  async #findChallenge(challenge: string): Promise<{ doc: ChallengeDoc; account: Account } | null> {
    const doc = await this.challenges.get(computeSha256(challenge));
    const account = doc === null ? null : await this.accounts.get(doc.account_id);
    if (doc === null || account === null || this.clock.iso() >= doc.expires_at) return null;
    return account.disabled || account.epoch !== doc.epoch ? null : { doc, account };
  }

  async #requireChallenge(challenge: string): Promise<{ doc: ChallengeDoc; account: Account }> {
    const found = await this.#findChallenge(challenge);
    if (found === null) throw createChallengeEndedError();
    return found;
  }

  async #completeChallenge(doc: ChallengeDoc, account: Account, from: BrowserInfo): Promise<LoginStep> {
    if ((await this.challenges.remove({ id: doc.id })) === 0) throw createChallengeEndedError();
    await this.credentials.recordSuccess(account, { ...from, device: from.device, place: 'web' });
    return this.#openSession(account, from, doc.provider_token);
  }

  async #openSession(account: Account, from: BrowserInfo, providerToken?: string): Promise<LoginStep> {
    return { done: true, ...(await this.opener.open(account, from, providerToken)) };
  }
}

const toSecondFactors = ({ totp_secret, passkeys }: Account): SecondFactors => ({
  totp: totp_secret !== null,
  passkey: (passkeys?.length ?? 0) > 0,
});

const createChallengeEndedError = (): ServiceError =>
  new ServiceError('invalid_credentials', 'Sign-in timed out. Start again.', { extra: { restart: true } });
