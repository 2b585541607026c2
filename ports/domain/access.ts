/** What the access plugin offers the others: who is asking, accounts, and the throttle of what strangers may try. */
import type { Authenticator, FormMemory, Role } from '../http.js';
import { extensionPoint, token } from '../token.js';

export const AUTHENTICATOR = token<Authenticator>('access.authenticator');
export const FORM_MEMORY = token<FormMemory>('access.forms');

export interface AccountInfo {
  id: string;
  username: string;
  role: Role;
  disabled: boolean;
  /** Rises with every change that ends what was opened by a login: password, role, disabling, TOTP. */
  epoch: number;
}

/** The one credential check (contract 10, accounts): web login, setup login and release store. */
export interface CredentialCheck {
  /** @throws ServiceError invalid_credentials, rate_limited, role_not_allowed, totp_not_supported */
  check(input: {
    username: string;
    password: string;
    address: string;
    /** Where the login happens: decides which roles are allowed and what TOTP means there. */
    place: 'web' | 'setup' | 'release_store';
    /** The signed device cookie of an earlier login, so that strangers cannot lock the account out. */
    device?: string | undefined;
    /** `X-Request-Id`, for the security log. */
    request_id?: string | undefined;
  }): Promise<AccountInfo & { totp: boolean }>;
}

export const CREDENTIALS = token<CredentialCheck>('access.credentials');

/** A permitted attempt. `leave` must be called in the end, after `failed` where it did. */
export interface Attempt {
  failed(): Promise<void>;
  leave(): void;
}

/** The throttle of failed logins (contract 10, accounts), for other secrets that strangers may try. */
export interface AttemptThrottle {
  /**
   * @param keys the counts this attempt is under, for example `license:192.0.2.7`.
   * @throws ServiceError rate_limited
   */
  enter(keys: readonly string[]): Promise<Attempt>;
  /** A success: the count starts anew. */
  reset(key: string): Promise<void>;
}

export const THROTTLE = token<AttemptThrottle>('access.throttle');

/**
 * The counts of failed logins, for a place that judges passwords by itself: the release store goes by its access files.
 */
export interface LoginAttempts {
  /**
   * Computes `fits` unless account or address have to wait. False counts as a failure of both; true begins the
   * account's count anew. The delay follows the fifth failure (contract 40, files).
   * @throws ServiceError rate_limited
   */
  attempt(
    input: { username: string; address: string; request_id?: string | undefined },
    fits: () => Promise<boolean>,
  ): Promise<boolean>;
}

export const LOGIN_ATTEMPTS = token<LoginAttempts>('access.login_attempts');

/** The first administrator of an empty user table (contract 00, first start). */
export interface FirstStart {
  /**
   * Creates one administrator when there is no account, once even when two processes start together. Null when there
   * was one; `password` is null when the configuration gave it, else it is returned here and nowhere else: print it
   * once.
   */
  ensureAdmin(): Promise<{ username: string; password: string | null } | null>;
}

export const FIRST_START = token<FirstStart>('access.first_start');

/** An account whose password opens what the release store protects (contract 40, access files). */
export interface OpeningAccount {
  username: string;
  role: Role;
  /** The stored hash: bcrypt (`$2y$…`) or Argon2 (`$argon2id$…`). */
  hash: string;
}

/** Accounts, for those who note a person's name or let a person in. */
export interface AccountDirectory {
  /** The name as the account spells it, whatever the case; null when there is no such account, or it is disabled. */
  named(username: string): Promise<string | null>;
  /** Names of accounts that may sign in, in order, at most so many. */
  names(most: number): Promise<string[]>;
  /** Every account that is not disabled, by name. */
  opening(): AsyncIterable<OpeningAccount>;
  /**
   * A digest of what `opening` answers, read from the store: another one after every change of a name, a role, a hash
   * or of who is enabled, whichever process or command made it. Take it before `opening`.
   */
  mark(): Promise<string>;
}

export const ACCOUNTS = token<AccountDirectory>('access.accounts');

/** Told of every change of what `AccountDirectory.opening` answers, also in the process of a command. */
export interface AccountWatcher {
  /**
   * The change is committed. Its answer waits for this, for at most five seconds; what fails here is logged and fails
   * nothing.
   */
  changed(): Promise<void>;
}

/** Added by each plugin that keeps something made from accounts. */
export const ACCOUNT_WATCHERS = extensionPoint<AccountWatcher>('access.account_watchers');
