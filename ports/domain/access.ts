import type { Authenticator, FormResultStore, Role } from '../http/index.js';
import { extensionPoint, token } from '../token.js';

export const AUTHENTICATOR = token<Authenticator>('access.authenticator');
export const FORM_RESULT_STORE = token<FormResultStore>('access.forms');

export interface AccountInfo {
  id: string;
  username: string;
  role: Role;
  disabled: boolean;
  epoch: number;
}

/** Verifies credentials of all logins (contract 10, accounts). */
export interface CredentialCheck {
  /**
   * @throws ServiceError invalid_credentials, rate_limited, role_not_allowed, totp_not_supported
   */
  check(input: {
    username: string;
    password: string;
    address: string;
    place: 'web' | 'setup' | 'release_store';
    /** Signed device cookie, which prevents strangers from locking the account out. */
    device?: string | undefined;
    request_id?: string | undefined;
  }): Promise<AccountInfo & { totp: boolean }>;
}

export const CREDENTIALS = token<CredentialCheck>('access.credentials');

/** A permitted attempt. Call `release` at the end, after `recordFailure` if it failed. */
export interface ThrottledAttempt {
  recordFailure(): Promise<void>;
  release(): void;
}

/** Throttles guesses of secrets like failed logins (contract 10, accounts). */
export interface AttemptThrottle {
  /**
   * Starts an attempt.
   * @param keys counters, for example `license:192.0.2.7`
   * @throws ServiceError rate_limited
   */
  begin(keys: readonly string[]): Promise<ThrottledAttempt>;
  reset(key: string): Promise<void>;
}

export const THROTTLE = token<AttemptThrottle>('access.throttle');

/** Throttles logins whose passwords the caller verifies. */
export interface LoginAttemptLimiter {
  /**
   * Computes `fits` unless account or address have to wait (contract 40, files). False counts as a
   * failure of both; true resets the account's count.
   * @throws ServiceError rate_limited
   */
  run(
    input: { username: string; address: string; request_id?: string | undefined },
    fits: () => Promise<boolean>,
  ): Promise<boolean>;
}

export const LOGIN_ATTEMPT_LIMITER = token<LoginAttemptLimiter>('access.login_attempts');

/** Creates the first administrator (contract 00, first start). */
export interface AdminBootstrap {
  /**
   * Creates an administrator once across processes, unless an account exists (null). `password` is
   * null when configured; otherwise this is its only copy.
   */
  ensureAdmin(): Promise<{ username: string; password: string | null } | null>;
}

export const ADMIN_BOOTSTRAP = token<AdminBootstrap>('access.first_start');

/** An account whose password opens protected releases (contract 40, access files). */
export interface AccountCredential {
  username: string;
  role: Role;
  /** bcrypt (`$2y$…`) or Argon2 (`$argon2id$…`). */
  hash: string;
}

/** Looks up accounts. */
export interface AccountDirectory {
  /**
   * Ignores case.
   * @returns the stored spelling, or null
   */
  findUsername(username: string): Promise<string | null>;
  listUsernames(most: number): Promise<string[]>;
  iterateCredentials(): AsyncIterable<AccountCredential>;
  /** Returns a digest of the result of `iterateCredentials`, whichever process changed it. */
  getRevision(): Promise<string>;
}

export const ACCOUNTS = token<AccountDirectory>('access.accounts');

/** Notified when accounts change, in command processes too. */
export interface AccountChangeListener {
  /** Called after the commit, awaited for five seconds; errors are only logged. */
  onChange(): Promise<void>;
}

export const ACCOUNT_CHANGE_LISTENERS = extensionPoint<AccountChangeListener>('access.account_watchers');
