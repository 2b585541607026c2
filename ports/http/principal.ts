/** Who asks, as the access plugin has made it of a credential. */
import type { BasicPrincipal } from './basic.js';

export type Role = 'admin' | 'member' | 'installer';
export type TokenKind = 'master' | 'sub' | 'watchdog' | 'setup' | 'intake';

/** Who asks. Made by the access plugin from the credential, checked by the adapter against the route's access. */
export type Principal =
  { kind: 'public' } | { kind: 'shared_key' } | BasicPrincipal | TokenPrincipal | SessionPrincipal;

export interface TokenPrincipal {
  kind: 'token';
  id: string;
  name: string;
  token_kind: TokenKind;
  scopes: readonly string[];
  /** The only project this token may touch; null: all. */
  project: string | null;
  /** The only monitor source this token may report for (`wd_live_`). */
  source: string | null;
  /** The only agent's name that it may claim under (contract 20, leases); absent: any. */
  agent?: string;
  /** Of a sub-token: the master token that made it, whose limits it shares (contract 00, limits). */
  parent_id: string | null;
  /** Of a setup token: the account that logged in for it, as it is now. */
  account?: { id: string; username: string; role: Role };
}

export interface SessionPrincipal {
  kind: 'session';
  session_id: string;
  account_id: string;
  username: string;
  role: Role;
  /** The zone that the person reads and writes times in, IANA; absent: the service's (`app.timezone`). */
  timezone?: string;
  /** The person's clock; absent: 24. */
  hours?: 12 | 24;
}

/**
 * The zone in which whoever asks reads and writes times: of forms, of days in filters.
 * @param own the service's (`app.timezone`)
 */
export const zoneOf = (principal: Principal, own: string): string =>
  (principal.kind === 'session' ? principal.timezone : undefined) ?? own;
