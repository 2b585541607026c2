import type { TokenKind } from '../http.js';
import { extensionPoint, token } from '../token.js';
import type { AccountInfo } from './access.js';

/** Projects that a token can be bound to. */
export interface TokenProjects {
  has(slug: string): Promise<boolean>;
  /** Lists slugs with names for a form. */
  listOptions(): Promise<readonly { value: string; label: string }[]>;
}

/** For the plugin that manages projects. */
export const TOKEN_PROJECTS = extensionPoint<TokenProjects>('access.token_projects');

/** Object that a token was issued for; the token ends with it. */
export interface TokenPurpose {
  /** Selects the `TokenPurposeResolver`. */
  kind: string;
  [detail: string]: string | number;
}

/** `paused`: the token is rejected meanwhile. */
export type PurposeState = 'active' | 'paused' | 'ended';

/** Reports whether the object of a token still exists. */
export interface TokenPurposeResolver {
  kind: string;
  /**
   * Returns the state, at every use. `ended` revokes the token; without the plugin it is rejected.
   */
  getState(purpose: TokenPurpose): Promise<PurposeState>;
}

/** For plugins that issue tokens with a purpose. */
export const TOKEN_PURPOSES = extensionPoint<TokenPurposeResolver>('access.token_purposes');

/** Properties of a new token. */
export interface NewToken {
  kind: TokenKind;
  name: string;
  scopes: readonly string[];
  /** Null or absent: all projects. */
  project?: string | null;
  /** The only monitor it may report. */
  source?: string | null;
  /** The only agent name it may claim under; null or absent: any. */
  agent?: string | null;
  /** Null or absent: no expiry. */
  expires_in_seconds?: number | null;
  created_by: string;
  /** For setup tokens: ends with the account's sessions (contract 60). */
  account?: Pick<AccountInfo, 'id' | 'epoch'>;
  /** Absent: ends only by expiry or revocation. */
  purpose?: TokenPurpose;
}

export interface IssuedToken {
  id: string;
  /** Secret; never stored. */
  token: string;
  expires_at: string | null;
}

/**
 * Issues tokens for plugins (intake keys, setup, watchdog). Secrets are returned once and never
 * stored.
 */
export interface TokenIssuer {
  issue(token: NewToken): Promise<IssuedToken>;
  /**
   * Revokes a token and its sub-tokens immediately everywhere.
   * @returns false when it does not exist
   */
  revoke(id: string): Promise<boolean>;
  /** Revokes the tokens bound to a monitor source and returns their number. */
  revokeBySource(source: string): Promise<number>;
  /** Removes all tokens bound to a project, immediately in every process. */
  removeByProject(slug: string): Promise<void>;
  /** Finds a token's record, without its secret. */
  find(id: string): Promise<TokenRecord | null>;
  /** Lists up to 1,000 tokens of one kind, newest first. */
  list(filter: { kind: TokenKind; project?: string; source?: string }): Promise<TokenRecord[]>;
  /**
   * Lists them in pages.
   * @param after the last page's `next`
   * @throws InvalidCursor
   */
  listPage(
    filter: { kind: TokenKind; project?: string; source?: string },
    limit: number,
    after?: string | null,
  ): Promise<{ items: TokenRecord[]; next: string | null; count: () => Promise<number> }>;
}

/** Displayable fields of a token (contract 10, tokens: "Fields"). */
export interface TokenRecord {
  id: string;
  name: string;
  kind: TokenKind;
  /** First 12 characters of the secret. */
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
