import type { TokenKind } from '../http/index.js';
import { extensionPoint, token } from '../token.js';
import type { AccountInfo } from './access.js';

/** Projects that a token can be bound to. */
export interface TokenProjects {
  has(slug: string): Promise<boolean>;
  listOptions(): Promise<readonly { value: string; label: string }[]>;
}

export const TOKEN_PROJECTS = extensionPoint<TokenProjects>('access.token_projects');

/** Object that a token was issued for; the token ends with it. */
export interface TokenPurpose {
  kind: string;
  [detail: string]: string | number;
}

/** `paused`: rejected meanwhile. */
export type PurposeState = 'active' | 'paused' | 'ended';

/** Reports whether the object of a token still exists. */
export interface TokenPurposeResolver {
  kind: string;
  /** Called at every use. `ended` revokes the token; without the plugin it is rejected. */
  getState(purpose: TokenPurpose): Promise<PurposeState>;
}

export const TOKEN_PURPOSES = extensionPoint<TokenPurposeResolver>('access.token_purposes');

/** Properties of a new token. */
export interface NewToken {
  kind: TokenKind;
  name: string;
  scopes: readonly string[];
  project?: string | null;
  /** The only monitor it may report. */
  source?: string | null;
  /** Null or absent: any. */
  agent?: string | null;
  expires_in_seconds?: number | null;
  created_by: string;
  /** For setup tokens: ends with the account's sessions (contract 60). */
  account?: Pick<AccountInfo, 'id' | 'epoch'>;
  /** Absent: ends only by expiry or revocation. */
  purpose?: TokenPurpose;
}

export interface IssuedToken {
  id: string;
  token: string;
  expires_at: string | null;
}

/** Issues tokens for plugins. Secrets are never stored. */
export interface TokenIssuer {
  issue(token: NewToken): Promise<IssuedToken>;
  /**
   * Revokes a token and its sub-tokens everywhere.
   * @returns false when it does not exist
   */
  revoke(id: string): Promise<boolean>;
  /** Revokes the tokens bound to a monitor source and returns their number. */
  revokeBySource(source: string): Promise<number>;
  /** Immediate in every process. */
  removeByProject(slug: string): Promise<void>;
  find(id: string): Promise<TokenRecord | null>;
  /** Up to 1,000, newest first. */
  list(filter: { kind: TokenKind; project?: string; source?: string }): Promise<TokenRecord[]>;
  /** @throws InvalidCursor */
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
