/**
 * Password, then a TOTP code if enabled. A challenge links both for five minutes; it is stored
 * under the hash of its cookie and allows only the second step.
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
import type { Account } from '../model/account.js';
import { CredentialVerifier } from './credentials.js';
import { DeviceCookies } from './devices.js';
import { SessionService } from '../sessions/sessions.js';
import { computeSha256 } from '../model/token.js';
import { TotpService } from './totp.js';

const CHALLENGE_LIFETIME_MS = 5 * 60_000;

export interface ChallengeDoc extends Doc {
  account_id: string;
  epoch: number;
  expires_at: string;
}

export interface BrowserInfo {
  address: string;
  userAgent?: string | undefined;
  request_id?: string | undefined;
  device?: string | undefined;
  /** Ends with the login. */
  session?: string | undefined;
}

export type LoginStep = { done: true; session: string; device: string } | { done: false; challenge: string };

@injectable()
export class LoginService {
  constructor(
    @inject(CredentialVerifier) private readonly credentials: CredentialVerifier,
    @inject(collection<Account>('accounts')) private readonly accounts: Collection<Account>,
    @inject(collection<ChallengeDoc>('challenges')) private readonly challenges: Collection<ChallengeDoc>,
    @inject(SessionService) private readonly sessions: SessionService,
    @inject(DeviceCookies) private readonly devices: DeviceCookies,
    @inject(TotpService) private readonly totp: TotpService,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.ids) private readonly ids: Ids,
  ) {}

  /** @throws ServiceError invalid_credentials, role_not_allowed, rate_limited */
  async submitPassword(username: string, password: string, from: BrowserInfo): Promise<LoginStep> {
    const { address, device, request_id } = from;
    const account = await this.credentials.verify({ username, password, address, device, request_id, place: 'web' });
    if (account.totp_secret === null) return this.#openSession(account, from);
    const challenge = this.ids.secret(43);
    const expires_at = new Date(this.clock.now() + CHALLENGE_LIFETIME_MS).toISOString();
    await this.challenges.insert({
      id: computeSha256(challenge),
      account_id: account.id,
      epoch: account.epoch,
      expires_at,
    });
    return { done: false, challenge };
  }

  /**
   * @throws ServiceError invalid_credentials (with `extra.restart` when the challenge has expired),
   *   rate_limited
   */
  async submitCode(challenge: string, code: string, from: BrowserInfo): Promise<LoginStep> {
    const doc = await this.challenges.get(computeSha256(challenge));
    const account = doc === null ? null : await this.accounts.get(doc.account_id);
    const live = doc !== null && account !== null && this.clock.iso() < doc.expires_at;
    if (!live || account.disabled || account.totp_secret === null || account.epoch !== doc.epoch)
      throw createChallengeEndedError();
    await this.credentials.withSecurityLog(account, from, () => this.totp.verify(account, code));
    if ((await this.challenges.remove({ id: doc.id })) === 0) throw createChallengeEndedError();
    await this.credentials.recordSuccess(account, { ...from, device: from.device, place: 'web' });
    return this.#openSession(account, from);
  }

  async sweep(): Promise<number> {
    return this.challenges.remove({ expires_at: { lte: this.clock.iso() } }, 1000);
  }

  async #openSession(account: Account, from: BrowserInfo): Promise<LoginStep> {
    if (from.session !== undefined) await this.sessions.end(computeSha256(from.session));
    const session = await this.sessions.open(account, from);
    const known = this.devices.read(from.device, account.id) === null ? undefined : from.device;
    return { done: true, session, device: known ?? this.devices.issue(account.id) };
  }
}

const createChallengeEndedError = (): ServiceError =>
  new ServiceError('invalid_credentials', 'Sign-in timed out. Start again.', { extra: { restart: true } });
