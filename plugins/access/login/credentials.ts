/**
 * For web login, setup login and release store (contract 10, accounts). Unknown account, wrong
 * password and disabled account are indistinguishable: same hash work, same writes, same response.
 */
import { PORT, collection, inject, injectable, type Clock, type Collection } from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import { getClientNetwork } from '../../../lib/addresses.js';
import type { AccountInfo, CredentialCheck, LoginAttemptLimiter } from '../../../ports/domain/access.js';
import { hasSecondFactor, toUsernameKey, type Account } from '../model/account.js';
import { DeviceCookies } from './devices.js';
import { KnownAddresses } from './known-addresses.js';
import { PasswordVerifier } from './password-verifier.js';
import { SignInPolicy } from '../policy/sign-in-policy.js';
import { SecurityLog, type SecurityEvent } from '../audit/security-log.js';
import { FREE_FAILURES, LoginAttemptThrottle } from './throttle.js';
import { computeSha256 } from '../model/token.js';

export type CredentialInput = Parameters<CredentialCheck['check']>[0];

type ClientAddress = Pick<CredentialInput, 'address' | 'request_id'>;

const SECURITY_EVENTS: Readonly<Partial<Record<string, SecurityEvent>>> = {
  invalid_credentials: 'login.failed',
  rate_limited: 'login.locked',
  role_not_allowed: 'login.refused',
  totp_not_supported: 'login.refused',
  password_disabled: 'login.refused',
  second_factor_required: 'login.refused',
};

export const createWrongCredentialsError = (): ServiceError =>
  new ServiceError('invalid_credentials', 'Incorrect username or password.');

@injectable()
export class CredentialVerifier implements CredentialCheck, LoginAttemptLimiter {
  constructor(
    @inject(collection<Account>('accounts')) private readonly accounts: Collection<Account>,
    @inject(PasswordVerifier) private readonly passwords: PasswordVerifier,
    @inject(LoginAttemptThrottle) private readonly throttle: LoginAttemptThrottle,
    @inject(DeviceCookies) private readonly devices: DeviceCookies,
    @inject(KnownAddresses) private readonly known: KnownAddresses,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(SecurityLog) private readonly security: SecurityLog,
    @inject(SignInPolicy) private readonly policy: SignInPolicy,
  ) {}

  async check(input: CredentialInput): Promise<AccountInfo & { totp: boolean }> {
    const account = await this.verify(input);
    const { id, username, role, disabled, epoch } = account;
    return { id, username, role, disabled, epoch, totp: hasSecondFactor(account) };
  }

  /**
   * Returns the whole account. When a second factor is still required (`web`), the caller must call
   * `recordSuccess` after it.
   */
  async verify(input: CredentialInput): Promise<Account> {
    const known: { name: string | null } = { name: null };
    try {
      return await this.#verify(input, known);
    } catch (error) {
      this.#logRejection(error, known.name ?? 'an unknown account', input);
      throw error;
    }
  }

  /** Runs a further proof of a known account, such as a TOTP code, and logs its rejection. */
  async withSecurityLog<T>(account: Account, from: ClientAddress, proof: () => Promise<T>): Promise<T> {
    try {
      return await proof();
    } catch (error) {
      this.#logRejection(error, account.username, from);
      throw error;
    }
  }

  /** Runs a proof that itself tells which account signs in. */
  async withUnknownAccount<T>(from: ClientAddress, proof: () => Promise<T>): Promise<T> {
    try {
      return await proof();
    } catch (error) {
      this.#logRejection(error, 'an unknown account', from);
      throw error;
    }
  }

  #logRejection(error: unknown, target: string, from: ClientAddress): void {
    const event = error instanceof ServiceError ? SECURITY_EVENTS[error.code] : undefined;
    if (event !== undefined) this.#logEvent(event, target, from);
  }

  #logEvent(event: SecurityEvent, target: string, { address, request_id }: ClientAddress): void {
    this.security.record({ event, target, address, request_id: request_id ?? null });
  }

  async #verify(input: CredentialInput, known: { name: string | null }): Promise<Account> {
    this.policy.requirePasswordSignIn(input.place);
    const key = toUsernameKey(input.username.slice(0, 256));
    const found = await this.accounts.find({ filter: { username_key: key }, limit: 1 });
    const account = found.items[0] ?? null;
    known.name = account?.username ?? null;
    const attempt = await this.throttle.begin(this.#listThrottleKeys(key, account, input));
    try {
      if (!(await this.passwords.verify(input.password, account)) || account === null || account.disabled) {
        await attempt.recordFailure();
        throw createWrongCredentialsError();
      }
    } finally {
      attempt.release();
    }
    this.policy.requireRole(input.place, account.role);
    const asksSecondFactor = hasSecondFactor(account);
    if (asksSecondFactor && input.place === 'setup') {
      throw new ServiceError('totp_not_supported', 'Accounts with 2FA can’t sign in to the installer.');
    }
    // Installers have no page on which to set one up.
    if (input.place === 'setup' && account.role !== 'installer' && this.policy.mustEnroll(account))
      throw new ServiceError('second_factor_required', 'Set up a second factor on your account page first.');
    if (!(asksSecondFactor && input.place === 'web')) await this.recordSuccess(account, input);
    return account;
  }

  async recordSuccess(
    account: Account,
    from: ClientAddress & Pick<CredentialInput, 'device' | 'place'>,
  ): Promise<void> {
    await this.throttle.reset(this.#getAccountKey(account.username_key, account, from.device));
    await this.known.recordSuccess(account.username_key, from.address);
    // The release store checks credentials for every package.
    if (from.place === 'release_store') return;
    this.#logEvent('login.succeeded', account.username, from);
    await this.accounts.change({ id: account.id }, { set: { last_login_at: this.clock.iso() } });
  }

  async run(input: Parameters<LoginAttemptLimiter['run']>[0], fits: () => Promise<boolean>): Promise<boolean> {
    const key = toUsernameKey(input.username.slice(0, 256));
    const own = await this.known.getThrottleKey(key, input.address);
    const counts = own === null ? this.#listThrottleKeys(key, null, input) : [own];
    const logRejection = (event: SecurityEvent): void => this.#logEvent(event, 'the release store', input);
    const attempt = await this.throttle.begin(counts, FREE_FAILURES - 1).catch((error: unknown) => {
      logRejection('login.locked');
      throw error;
    });
    try {
      if (await fits()) {
        await this.throttle.reset(own ?? this.#getAccountKey(key, null, undefined));
        await this.known.recordSuccess(key, input.address);
        return true;
      }
      await attempt.recordFailure();
      logRejection('login.failed');
      return false;
    } finally {
      attempt.release();
    }
  }

  /**
   * Runs before a change by a signed-in account.
   * @throws as `check`
   */
  async confirmPassword(
    account: Account,
    password: string,
    address: string,
    device: string | undefined,
  ): Promise<void> {
    const counts = this.#listThrottleKeys(account.username_key, account, { address, device });
    await this.withSecurityLog(account, { address }, async () => {
      const attempt = await this.throttle.begin(counts);
      try {
        if (await this.passwords.verify(password, account)) return;
        await attempt.recordFailure();
        throw createWrongCredentialsError();
      } finally {
        attempt.release();
      }
    });
  }

  /** With this account's device cookie, only the device's. */
  #listThrottleKeys(
    key: string,
    account: Account | null,
    from: { address: string; device?: string | undefined },
  ): string[] {
    const own = this.#getAccountKey(key, account, from.device);
    return own.startsWith('device:') ? [own] : [own, `address:${getClientNetwork(from.address)}`];
  }

  #getAccountKey(key: string, account: Account | null, device: string | undefined): string {
    const known = account === null ? null : this.devices.read(device, account.id);
    // Users may type anything into the name field, even a password.
    return known === null ? `account:${computeSha256(key)}` : `device:${known}`;
  }
}
