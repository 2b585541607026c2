/**
 * The document id is the SHA-256 of the secret, so a check is one primary key lookup and the secret
 * is never stored; `token_id` is public (contract 10, tokens).
 */
import { hash } from 'node:crypto';
import type { Doc } from '../../../kernel/contract/index.js';
import type { TokenPurpose, TokenRecord } from '../../../ports/domain/tokens.js';
import type { TokenKind, TokenPrincipal } from '../../../ports/http/index.js';

export const TOKEN_PREFIXES = {
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
  /** Null or absent allows any. */
  agent?: string | null;
  parent_id: string | null;
  /** For a primary key lookup. */
  parent_hash: string | null;
  /** Of a setup token; another epoch ends it. */
  account_id?: string | null;
  account_epoch?: number | null;
  /** The token ends with it. */
  purpose?: TokenPurpose;
  created_by: string;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
}

export const isTokenShaped = (secret: string): boolean => TOKEN_PATTERN.test(secret);

export const computeSha256 = (text: string): string => hash('sha256', text);

/**
 * Returns whether the token is neither revoked nor expired at `now` (RFC 3339 UTC); it expires at
 * the exact time.
 */
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
