import type { Doc } from '../../../kernel/contract/index.js';
import type { Role } from '../../../ports/http/index.js';

export const ROLES = ['admin', 'member', 'installer'] as const satisfies readonly Role[];

export interface Account extends Doc {
  username: string;
  /** In the unique index. */
  username_key: string;
  role: Role;
  disabled: boolean;
  password_hash: string;
  /**
   * Sessions are only valid in the epoch of their creation, so one write changes a password or
   * right and ends them in every process.
   */
  epoch: number;
  /** Increases with role or `disabled`, or when a stalled change is taken over. */
  rights_rev: number;
  /** Sealed with the data key. */
  totp_secret: string | null;
  /** Sealed; pending until the first code. */
  totp_pending: string | null;
  /** No code works twice. */
  totp_step: number | null;
  /** MACs of unused recovery codes. */
  totp_recovery: string[];
  created_at: string;
  last_login_at: string | null;
  password_changed_at: string;
  /** IANA; defaults to the service's. */
  timezone?: string | null;
  /** Defaults to 24. */
  hours?: 12 | 24 | null;
  full_name?: string | null;
  email?: string | null;
  /** Lower case, for lookups. */
  email_key?: string | null;
  /**
   * Whether an administrator, an invitation sent there or the provider confirmed the address; only
   * then it can link the account to a provider's.
   */
  email_verified?: boolean;
  /** Account of the OpenID Connect provider that signs in here. */
  identity?: ExternalIdentity | null;
  /** Hash of issuer and subject, for lookups. */
  identity_key?: string | null;
  /** False if a provider's sign-in created it, with a hash that no password has. */
  has_password?: boolean;
  passkeys?: Passkey[];
  /** Increases with each change of `passkeys`, which are written as a whole. */
  passkeys_rev?: number;
}

/** OpenID Connect names an account by both; each subject is unique within its issuer alone. */
export type ExternalIdentity = {
  issuer: string;
  subject: string;
};

export type Passkey = {
  /** Credential id, base64url. */
  id: string;
  name: string;
  /** COSE, base64url. */
  public_key: string;
  /** Signature counter; 0 where the authenticator has none. */
  counter: number;
  transports: string[];
  /** Synchronized between devices. */
  synced: boolean;
  created_at: string;
  last_used_at: string | null;
};

export interface AccountView {
  id: string;
  username: string;
  role: Role;
  disabled: boolean;
  totp: boolean;
  passkeys: number;
  /** Issuer of the provider's account that signs in here. */
  issuer: string | null;
  has_password: boolean;
  full_name: string | null;
  email: string | null;
  created_at: string;
  last_login_at: string | null;
}

export function toAccountView(account: Account): AccountView {
  const { id, username, role, disabled, created_at, last_login_at } = account;
  return {
    id,
    username,
    role,
    disabled,
    totp: account.totp_secret !== null,
    passkeys: account.passkeys?.length ?? 0,
    issuer: account.identity?.issuer ?? null,
    has_password: account.has_password !== false,
    full_name: account.full_name ?? null,
    email: account.email ?? null,
    created_at,
    last_login_at,
  };
}

export const hasSecondFactor = ({ totp_secret, passkeys }: Pick<Account, 'totp_secret' | 'passkeys'>): boolean =>
  totp_secret !== null || (passkeys?.length ?? 0) > 0;

export const toEmailKey = (email: string): string => email.normalize('NFC').toLowerCase();

export const isActiveAdmin = (account: Pick<Account, 'role' | 'disabled'>): boolean =>
  account.role === 'admin' && !account.disabled;

export function toUsernameKey(username: string): string {
  return username.normalize('NFC').toLowerCase().normalize('NFC');
}

/**
 * Returns NFC. Access files are lines of `name:hash` with `#` comments, and names with `lic_`
 * belong to license keys.
 */
export function checkUsername(given: string): { username: string } | { problem: string } {
  const username = given.normalize('NFC');
  if (username.length === 0) return { problem: 'must not be empty' };
  if (Array.from(username).length > 64) return { problem: 'must be at most 64 characters' };
  if (/\p{C}/u.test(username)) return { problem: 'must not contain control or invisible characters' };
  if (username !== username.trim()) return { problem: 'must not start or end with a space' };
  if (username.includes(':')) return { problem: 'must not contain a colon' };
  if (username.startsWith('#')) return { problem: 'must not start with #' };
  if (toUsernameKey(username).startsWith('lic_'))
    return { problem: 'must not start with lic_, which is reserved for license keys' };
  return { username };
}
