import type { BasicPrincipal } from './basic.js';

export type Role = 'admin' | 'member' | 'installer';
export type TokenKind = 'master' | 'sub' | 'watchdog' | 'setup' | 'intake';

/** Authenticated caller. */
export type Principal =
  { kind: 'public' } | { kind: 'shared_key' } | BasicPrincipal | TokenPrincipal | SessionPrincipal;

export interface TokenPrincipal {
  kind: 'token';
  id: string;
  name: string;
  token_kind: TokenKind;
  scopes: readonly string[];
  project: string | null;
  source: string | null;
  /** Only agent name for claims (contract 20, leases); absent: any. */
  agent?: string;
  /** Master token, whose limits it shares (contract 00, limits). */
  parent_id: string | null;
  /** Of a setup token: the account in its current state. */
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
  /** Only pages that set up a second factor are open. */
  must_enroll?: boolean;
}

/**
 * Returns the caller's time zone.
 * @param own default (`app.timezone`)
 */
export const getTimeZone = (principal: Principal, own: string): string =>
  (principal.kind === 'session' ? principal.timezone : undefined) ?? own;
