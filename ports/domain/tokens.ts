/** Tokens on behalf of other plugins, and what the access plugin must know of projects for them. */
import type { TokenKind } from '../http.js';
import { extensionPoint, token } from '../token.js';
import type { AccountInfo } from './access.js';

/** Projects as tokens and their form know them: what a token may be bound to. */
export interface TokenProjects {
  has(slug: string): Promise<boolean>;
  /** Slugs with their names, for a form. */
  options(): Promise<readonly { value: string; label: string }[]>;
}

/** Added by the plugin that keeps projects. */
export const TOKEN_PROJECTS = extensionPoint<TokenProjects>('access.token_projects');

/** What a token was made for. The token ends when this has ended. */
export interface TokenPurpose {
  /** Names the `TokenPurposes` that decides. */
  kind: string;
  [detail: string]: string | number;
}

/** `paused`: the token is rejected for as long as it lasts. */
export type PurposeState = 'active' | 'paused' | 'ended';

/** Decides for the tokens that a plugin has made for something whether that still exists. */
export interface TokenPurposes {
  kind: string;
  /** Checked at every use of such a token. `ended` revokes it; without the plugin it is rejected. */
  stateOf(purpose: TokenPurpose): Promise<PurposeState>;
}

/** Added by each plugin that makes tokens with a purpose. */
export const TOKEN_PURPOSES = extensionPoint<TokenPurposes>('access.token_purposes');

/** What a new token is and may. */
export interface NewToken {
  kind: TokenKind;
  name: string;
  scopes: readonly string[];
  /** Null or absent: every project. */
  project?: string | null;
  /** The one monitor that it may report. */
  source?: string | null;
  /** The one agent whose name it may claim under; null or absent: any. */
  agent?: string | null;
  /** Null or absent: it does not expire. */
  expires_in_seconds?: number | null;
  created_by: string;
  /** Of a setup token: it ends when the account's sessions end (contract 60). */
  account?: Pick<AccountInfo, 'id' | 'epoch'>;
  /** Absent: it ends by its expiry or revocation alone. */
  purpose?: TokenPurpose;
}

export interface IssuedToken {
  id: string;
  /** The secret, which is stored nowhere. */
  token: string;
  expires_at: string | null;
}

/**
 * Making tokens on behalf of other plugins (intake keys, setup, watchdog). Secrets are answered once and never stored.
 */
export interface TokenIssuer {
  issue(token: NewToken): Promise<IssuedToken>;
  /** Revokes one token and its sub-tokens, at once and in every process. False when there is none. */
  revoke(id: string): Promise<boolean>;
  /** Revokes every token bound to a monitor source. Answers how many. */
  revokeSource(source: string): Promise<number>;
  /** Removes every token that is bound to a project, of all kinds: they end at once, in every process. */
  removeProject(slug: string): Promise<void>;
  /** One token's record, without its secret. */
  find(id: string): Promise<TokenRecord | null>;
  /** The tokens of one kind, newest first, at most 1,000. */
  list(filter: { kind: TokenKind; project?: string; source?: string }): Promise<TokenRecord[]>;
  /** The same, page by page. @param after the last page's `next`. @throws InvalidCursor */
  page(
    filter: { kind: TokenKind; project?: string; source?: string },
    limit: number,
    after?: string | null,
  ): Promise<{ items: TokenRecord[]; next: string | null; count: () => Promise<number> }>;
}

/** A token as it may be shown (contract 10, tokens: "Fields"). */
export interface TokenRecord {
  id: string;
  name: string;
  kind: TokenKind;
  /** The first 12 characters of the secret. */
  prefix: string;
  scopes: readonly string[];
  project: string | null;
  source: string | null;
  agent: string | null;
  parent_id: string | null;
  created_by: string;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
}

export const TOKENS = token<TokenIssuer>('access.tokens');
