/**
 * For web logins (contract 10, web session). The secret is sealed with the data key and bound to
 * its account; recovery codes are stored as MACs and work once; a code is accepted once per
 * 30-second step.
 */
import { createHmac } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import {
  PORT,
  collection,
  inject,
  injectable,
  type Clock,
  type Collection,
  type Ids,
} from '../../../kernel/contract/index.js';
import { conflict, invalid, ServiceError } from '../../../kernel/errors.js';
import type { Cipher } from '../../../ports/cipher.js';
import type { Account } from '../model/account.js';
import { EMPTY_TOTP_FIELDS } from '../accounts/accounts.js';
import { AuditService } from '../audit/audit.js';
import type { Actor } from '../../../ports/domain/audit.js';
import { createLastFactorError } from '../passkeys/passkeys.js';
import { SignInPolicy } from '../policy/sign-in-policy.js';
import { LoginAttemptThrottle } from './throttle.js';

const STEP_MS = 30_000;
const RECOVERY_CODE_COUNT = 10;
const WRONG_CODE_MESSAGE = 'is not the current code';

export interface Enrolment {
  /** Base32. */
  secret: string;
  uri: string;
  /** `data:image/svg+xml;base64,…` */
  qr: string;
}

@injectable()
export class TotpService {
  readonly #recoveryKey: Buffer;

  constructor(
    @inject(collection<Account>('accounts')) private readonly rows: Collection<Account>,
    @inject(PORT.cipher) private readonly cipher: Cipher,
    @inject(LoginAttemptThrottle) private readonly throttle: LoginAttemptThrottle,
    @inject(AuditService) private readonly audit: AuditService,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.ids) private readonly ids: Ids,
    @inject(SignInPolicy) private readonly policy: SignInPolicy,
  ) {
    this.#recoveryKey = cipher.derive('totp-recovery');
  }

  /**
   * Replaces a pending secret.
   * @throws ServiceError conflict
   */
  async beginEnrolment(account: Account): Promise<Enrolment> {
    const totp_pending = this.cipher.seal(new Secret({ size: 20 }).base32, getSealPurpose(account));
    const changed = await this.rows.change({ id: account.id, totp_secret: null }, { set: { totp_pending } });
    if (changed === null) throw conflict('2FA is already on.');
    return this.getEnrolment(changed.doc);
  }

  /** @throws ServiceError conflict when none is pending */
  async getEnrolment(account: Account): Promise<Enrolment> {
    if (account.totp_pending === null) throw conflict('2FA setup has not been started.');
    const secret = this.cipher.open(account.totp_pending, getSealPurpose(account));
    const uri = createGenerator(secret, account.username).toString();
    const { default: QRCode } = await import('qrcode');
    const svg = await QRCode.toString(uri, { type: 'svg', margin: 2, errorCorrectionLevel: 'M' });
    return { secret, uri, qr: `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}` };
  }

  /**
   * Ends the account's sessions.
   * @returns the recovery codes, shown only once
   * @throws ServiceError validation_failed with `code`
   */
  async enable(actor: Actor, account: Account, code: string): Promise<{ account: Account; recovery: string[] }> {
    if (account.totp_pending === null) throw conflict('2FA setup has not been started.');
    const step = await this.#withThrottle(account, async () => this.#findStep(account, account.totp_pending, code));
    if (step === null) throw invalid({ code: WRONG_CODE_MESSAGE });
    const recovery = Array.from({ length: RECOVERY_CODE_COUNT }, () => createRecoveryCode(this.ids));
    const set = {
      totp_secret: account.totp_pending,
      totp_pending: null,
      totp_step: step,
      totp_recovery: recovery.map((plain) => this.#hashCode(account, plain)),
    };
    const where = { id: account.id, totp_secret: null, totp_pending: account.totp_pending };
    const changed = await this.rows.change(where, { set, inc: { epoch: 1 } });
    if (changed === null) throw conflict('The 2FA setup changed. Start again.');
    await this.audit.record(actor, 'user.totp_enabled', account.username);
    return { account: changed.doc, recovery };
  }

  /**
   * Ends the account's sessions. The caller must have verified the password.
   * @throws ServiceError conflict for the last factor when one is required
   */
  async disable(actor: Actor, account: Account): Promise<Account> {
    if (this.policy.mustEnroll({ ...account, totp_secret: null })) throw createLastFactorError();
    // By the epoch, a concurrent change of the other factors is seen.
    const where = { id: account.id, epoch: account.epoch };
    const changed = await this.rows.change(where, { set: EMPTY_TOTP_FIELDS, inc: { epoch: 1 } });
    if (changed === null) throw conflict('The account was changed by someone else. Try again.');
    await this.audit.record(actor, 'user.totp_disabled', account.username);
    return changed.doc;
  }

  /**
   * TOTP or recovery code, valid once.
   * @throws ServiceError invalid_credentials, rate_limited
   */
  async verify(account: Account, code: string): Promise<void> {
    const done = await this.#withThrottle(account, async () => ((await this.#useCode(account, code)) ? true : null));
    if (done === null) throw new ServiceError('invalid_credentials', 'Incorrect or already used code.');
    await this.throttle.reset(getThrottleKey(account));
  }

  async #useCode(account: Account, given: string): Promise<boolean> {
    const code = given.replace(/[\s-]/g, '').toLowerCase();
    if (!/^\d{6}$/.test(code)) return this.#useRecoveryCode(account, code);
    const step = this.#findStep(account, account.totp_secret, code);
    if (step === null) return false;
    const fresh = {
      id: account.id,
      totp_secret: account.totp_secret,
      or: [{ totp_step: null }, { totp_step: { lt: step } }],
    };
    return (await this.rows.change(fresh, { set: { totp_step: step } })) !== null;
  }

  async #useRecoveryCode(account: Account, code: string): Promise<boolean> {
    const mac = this.#hashCode(account, code);
    const where = { id: account.id, totp_secret: account.totp_secret, totp_recovery: { has: mac } };
    return (await this.rows.change(where, { pull: { totp_recovery: { in: [mac] } } })) !== null;
  }

  /** Searches at most one step away from now; null if none. */
  #findStep(account: Account, sealed: string | null, given: string): number | null {
    const token = given.replace(/\s/g, '');
    if (sealed === null || !/^\d{6}$/.test(token)) return null;
    const timestamp = this.clock.now();
    const secret = this.cipher.open(sealed, getSealPurpose(account));
    const delta = createGenerator(secret, account.username).validate({ token, timestamp, window: 1 });
    return delta === null ? null : Math.floor(timestamp / STEP_MS) + delta;
  }

  /** Six-digit codes can be guessed; only callers with the password reach this count. */
  async #withThrottle<T>(account: Account, check: () => Promise<T | null>): Promise<T | null> {
    const attempt = await this.throttle.begin([getThrottleKey(account)]);
    try {
      const result = await check();
      if (result === null) await attempt.recordFailure();
      return result;
    } finally {
      attempt.release();
    }
  }

  #hashCode(account: Account, code: string): string {
    const plain = code.replace(/[\s-]/g, '').toLowerCase();
    return createHmac('sha256', this.#recoveryKey).update(`${account.id}\n${plain}`).digest('hex');
  }
}

const getSealPurpose = (account: Account): string => `totp:${account.id}`;
const getThrottleKey = (account: Account): string => `totp:${account.id}`;
const createGenerator = (secret: string, label: string): TOTP => new TOTP({ issuer: 'AOS', label, secret });

/** About 50 bits, without similar-looking characters. */
function createRecoveryCode(ids: Ids): string {
  let code = '';
  while (code.length < 10)
    code += ids
      .secret(43)
      .toLowerCase()
      .replace(/[^a-km-np-z2-9]/g, '');
  return `${code.slice(0, 5)}-${code.slice(5, 10)}`;
}
