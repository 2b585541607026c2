/**
 * Accounts: the stored document, what may be shown of it, and the rules for names (contract 10, accounts). Pure.
 */
import type { Doc } from '../../../kernel/contract.js';
import type { Role } from '../../../ports/http.js';

export const ROLES = ['admin', 'member', 'installer'] as const satisfies readonly Role[];

export interface Account extends Doc {
  username: string;
  /** `usernameKey(username)`: the field of the unique index. */
  username_key: string;
  role: Role;
  disabled: boolean;
  password_hash: string;
  /**
   * Sessions carry the epoch they were made in, and one of another epoch is over. So one write changes a password or a
   * right and ends the account's sessions in every process; deleting their documents is mere tidying.
   */
  epoch: number;
  /** Rises with every change of role, of `disabled`, and when a stalled change is taken over (roster.ts). */
  rights_rev: number;
  /** Sealed under the data key; null without TOTP. */
  totp_secret: string | null;
  /** Sealed; waits for the first code. */
  totp_pending: string | null;
  /** The last 30-second step for which a code was accepted: no code works twice. */
  totp_step: number | null;
  /** MACs of the recovery codes that are left. */
  totp_recovery: string[];
  created_at: string;
  last_login_at: string | null;
  password_changed_at: string;
  /** The zone in which the person reads times, IANA; absent: the service's. */
  timezone?: string | null;
  /** The person's clock; absent: 24. */
  hours?: 12 | 24 | null;
}

export interface AccountView {
  id: string;
  username: string;
  role: Role;
  disabled: boolean;
  totp: boolean;
  created_at: string;
  last_login_at: string | null;
}

export function toAccountView(account: Account): AccountView {
  const { id, username, role, disabled, created_at, last_login_at } = account;
  return { id, username, role, disabled, totp: account.totp_secret !== null, created_at, last_login_at };
}

export const isActiveAdmin = (account: Pick<Account, 'role' | 'disabled'>): boolean =>
  account.role === 'admin' && !account.disabled;

/** Two names with the same key are the same account. */
export function toUsernameKey(username: string): string {
  return username.normalize('NFC').toLowerCase().normalize('NFC');
}

/**
 * The name as it is stored (NFC), or what is wrong with it. The release store's access files are lines of `name:hash`
 * with `#` comments, and license keys own the names that begin with `lic_`; hence the rules.
 */
export function checkUsername(given: string): { username: string } | { problem: string } {
  const username = given.normalize('NFC');
  if (username.length === 0) return { problem: 'must not be empty' };
  if (Array.from(username).length > 64) return { problem: 'must be at most 64 characters' };
  if (/\p{C}/u.test(username)) return { problem: 'must not contain control or invisible characters' };
  if (username !== username.trim()) return { problem: 'must not begin or end with a blank' };
  if (username.includes(':')) return { problem: 'must not contain a colon' };
  if (username.startsWith('#')) return { problem: 'must not begin with #' };
  if (toUsernameKey(username).startsWith('lic_'))
    return { problem: 'must not begin with lic_, which names license keys' };
  return { username };
}
