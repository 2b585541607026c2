import type { BasicPrincipal } from './basic.js';

export type Role = 'admin' | 'member' | 'installer';
export type TokenKind = 'master' | 'sub' | 'watchdog' | 'setup' | 'intake';

/** Authenticated caller, created by the access plugin and checked against the route's access. */
export type Principal =
  { kind: 'public' } | { kind: 'shared_key' } | BasicPrincipal | TokenPrincipal | SessionPrincipal;

export interface TokenPrincipal {
  kind: 'token';
  id: string;
  name: string;
  token_kind: TokenKind;
  scopes: readonly string[];
  /** Only project; null: all. */
  project: string | null;
  /** Only monitor source (`wd_live_`). */
  source: string | null;
  /** Only agent name for claims (contract 20, leases); absent: any. */
  agent?: string;
  /** Of a sub-token: its master token, whose limits it shares (contract 00, limits). */
  parent_id: string | null;
  /** Of a setup token: the account that signed in, in its current state. */
  account?: { id: string; username: string; role: Role };
}

export interface SessionPrincipal {
  kind: 'session';
  session_id: string;
  account_id: string;
  username: string;
  role: Role;
  /** The user's IANA time zone; default `app.timezone`. */
  timezone?: string;
  /** The user's clock format; default 24. */
  hours?: 12 | 24;
}

/**
 * Returns the caller's time zone for displayed and entered times.
 * @param own default (`app.timezone`)
 */
export const getTimeZone = (principal: Principal, own: string): string =>
  (principal.kind === 'session' ? principal.timezone : undefined) ?? own;
