/**
 * Tokens: shapes, the stored document, what may be shown (contract 10, tokens). Pure.
 *
 * The document's id is the SHA-256 of the secret, so that checking a credential is one look-up by primary key and the
 * secret is stored nowhere. `token_id` is the id that people and the API use.
 */
import { hash } from 'node:crypto';
import type { Doc } from '../../../kernel/contract.js';
import type { TokenPurpose, TokenRecord } from '../../../ports/domain/tokens.js';
import type { TokenKind, TokenPrincipal } from '../../../ports/http.js';

export const PREFIXES = {
  master: 'svc_live_',
  sub: 'svc_sub_',
  watchdog: 'wd_live_',
  setup: 'svc_setup_',
  intake: 'svc_in_',
} as const satisfies Record<TokenKind, string>;

const TOKEN_PATTERN = /^(?:svc_live_|svc_sub_|wd_live_|svc_setup_|svc_in_)[0-9A-Za-z]{43}$/;

export interface TokenDoc extends Doc {
  token_id: string;
  name: string;
  kind: TokenKind;
  prefix: string;
  scopes: string[];
  project: string | null;
  source: string | null;
  /** The one agent whose name it may claim under; absent or null: any. */
  agent?: string | null;
  parent_id: string | null;
  /** The parent's document id: checking it is a look-up by primary key too. */
  parent_hash: string | null;
  /**
   * Of a setup token: the account and its epoch at the login; another epoch ends the token. Absent or null: of none.
   */
  account_id?: string | null;
  account_epoch?: number | null;
  /** What it was made for; it ends with it. Absent: nothing in particular. */
  purpose?: TokenPurpose;
  created_by: string;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
}

export const isTokenShaped = (secret: string): boolean => TOKEN_PATTERN.test(secret);

export const sha256 = (text: string): string => hash('sha256', text);

/** Neither revoked nor expired at `now` (RFC 3339 UTC); the moment of expiry itself is too late. */
export const isLive = (token: Pick<TokenDoc, 'revoked_at' | 'expires_at'>, now: string): boolean =>
  token.revoked_at === null && (token.expires_at === null || now < token.expires_at);

export function toTokenRecord(doc: TokenDoc): TokenRecord {
  const { name, kind, prefix, scopes, project, source, agent = null, parent_id } = doc;
  const { created_by, created_at, expires_at, last_used_at, revoked_at } = doc;
  const times = { created_by, created_at, expires_at, last_used_at, revoked_at };
  return { id: doc.token_id, name, kind, prefix, scopes, project, source, agent, parent_id, ...times };
}

export function toTokenPrincipal(doc: TokenDoc, account?: TokenPrincipal['account']): TokenPrincipal {
  const { name, scopes, project, source, parent_id, agent } = doc;
  const of = { ...(account !== undefined && { account }), ...(agent && { agent }) };
  return { kind: 'token', id: doc.token_id, name, token_kind: doc.kind, scopes, project, source, parent_id, ...of };
}
