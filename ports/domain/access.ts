/** What the access plugin offers the others: who is asking, and a record of what administrators did. */
import type { Authenticator, FormMemory, Principal, Role, TokenKind } from '../http.js';
import { extensionPoint, token } from '../token.js';

export const AUTHENTICATOR = token<Authenticator>('access.authenticator');
export const FORM_MEMORY = token<FormMemory>('access.forms');

export interface AuditEntry {
  id: string;
  at: string;
  /** `admin`, `token ci (svc_live_AbC)`, `command line`, `system`. */
  actor: string;
  /** `project.archived`, `user.disabled`: noun, dot, what happened. */
  action: string;
  /** What it was done to: a slug, a user name, an id. */
  target: string;
  details: AuditFields;
  /** The fields that it changed, before and after; secrets as `set`. Absent where nothing was changed. */
  before?: AuditFields;
  after?: AuditFields;
}

export type AuditFields = Record<string, string | number | boolean | null>;

/** The command line, with the command: `command line: aos user passwd`. */
export type CommandLine = 'command line' | `command line: aos ${string}`;

/** Who acts, for the log. */
export type Actor = Principal | CommandLine | 'system';

/** Every administrative action is recorded before its answer goes out (contract 80). */
export interface AuditLog {
  record(
    principal: Actor,
    action: string,
    target: string,
    details?: AuditFields,
    change?: { before: AuditFields; after: AuditFields },
  ): Promise<void>;
  recent(limit: number, after?: string | null): Promise<{ items: AuditEntry[]; next: string | null }>;
  /** What was done to one target, newest first. */
  of(target: string, limit: number, after?: string | null): Promise<{ items: AuditEntry[]; next: string | null }>;
}

export const AUDIT = token<AuditLog>('access.audit');

/** The audit log as its page reads it. */
export interface AuditReader {
  /** What fits, newest first. */
  search(
    query: AuditQuery,
    limit: number,
    after?: string | null,
  ): Promise<{ items: AuditEntry[]; next: string | null }>;
  /** Name and page of what an entry was done to; the target as it is recorded where nobody knows better. */
  named(entry: Pick<AuditEntry, 'action' | 'target' | 'details'>): Promise<AuditTarget>;
}

export const AUDIT_READER = token<AuditReader>('access.audit_reader');

export interface AuditQuery {
  /** Who, or the beginning of it: `admin`, `token ci`. */
  actor?: string;
  /** An action, or its noun with a dot: `project.`. */
  action?: string;
  /** The target, as it is recorded. */
  target?: string;
  /** From then on, and before then. */
  since?: string;
  until?: string;
}

export interface AuditTarget {
  name: string;
  /** A path of this service; null where it has no page, or is gone. */
  href: string | null;
}

/** Knows the targets of one noun's actions. */
export interface AuditTargets {
  /** `license`, for `license.created` and all others. */
  noun: string;
  /** @returns null: gone, or never there */
  describe(target: string): Promise<AuditTarget | null>;
}

/** Added by the plugins whose actions are recorded. */
export const AUDIT_TARGETS = extensionPoint<AuditTargets>('access.audit_targets');

/** Projects as tokens and their form know them: what a token may be bound to. */
export interface TokenProjects {
  has(slug: string): Promise<boolean>;
  /** Slugs with their names, for a form. */
  options(): Promise<readonly { value: string; label: string }[]>;
}

/** Added by the plugin that keeps projects. */
export const TOKEN_PROJECTS = extensionPoint<TokenProjects>('access.token_projects');

/** What a new token is and may. */
export interface NewToken {
  kind: TokenKind;
  name: string;
  scopes: readonly string[];
  /** Null or absent: every project. */
  project?: string | null;
  /** The one monitor that it may report. */
  source?: string | null;
  /** Null or absent: it does not expire. */
  expires_in_seconds?: number | null;
  created_by: string;
  /** Of a setup token: it ends when the account's sessions end (contract 60). */
  account?: Pick<AccountInfo, 'id' | 'epoch'>;
}

export interface IssuedToken {
  id: string;
  /** The secret, which is stored nowhere. */
  token: string;
  expires_at: string | null;
}

/** Making tokens on behalf of other plugins (intake keys, setup, watchdog). Secrets are answered once and never stored. */
export interface TokenIssuer {
  issue(token: NewToken): Promise<IssuedToken>;
  /** Revokes one token and its sub-tokens, at once and in every process. False when there is none. */
  revoke(id: string): Promise<boolean>;
  /** Revokes every token bound to a monitor source. Answers how many. */
  revokeSource(source: string): Promise<number>;
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
  parent_id: string | null;
  created_by: string;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
}

export const TOKENS = token<TokenIssuer>('access.tokens');

export interface AccountInfo {
  id: string;
  username: string;
  role: Role;
  disabled: boolean;
  /** Rises with every change that ends what was opened by a login: password, role, disabling, TOTP. */
  epoch: number;
}

/** The one credential check (contract 10, accounts): web login, setup login and release store. */
export interface CredentialCheck {
  /** @throws ServiceError invalid_credentials, rate_limited, role_not_allowed, totp_not_supported */
  check(input: {
    username: string;
    password: string;
    address: string;
    /** Where the login happens: decides which roles are allowed and what TOTP means there. */
    place: 'web' | 'setup' | 'release_store';
    /** The signed device cookie of an earlier login, so that strangers cannot lock the account out. */
    device?: string | undefined;
    /** `X-Request-Id`, for the security log. */
    request_id?: string | undefined;
  }): Promise<AccountInfo & { totp: boolean }>;
}

export const CREDENTIALS = token<CredentialCheck>('access.credentials');

/** A permitted attempt. `leave` must be called in the end, after `failed` where it did. */
export interface Attempt {
  failed(): Promise<void>;
  leave(): void;
}

/** The throttle of failed logins (contract 10, accounts), for other secrets that strangers may try. */
export interface AttemptThrottle {
  /** @param keys the counts this attempt is under, for example `license:192.0.2.7`. @throws ServiceError rate_limited */
  enter(keys: readonly string[]): Promise<Attempt>;
  /** A success: the count starts anew. */
  reset(key: string): Promise<void>;
}

export const THROTTLE = token<AttemptThrottle>('access.throttle');

/** The counts of failed logins, for a place that judges passwords by itself: the release store goes by its access files. */
export interface LoginAttempts {
  /**
   * Computes `fits` unless account or address have to wait. False counts as a failure of both; true begins the account's
   * count anew. The delay follows the fifth failure (contract 40, files).
   * @param input `credential` names what was given without telling it: the same wrong one again from an address that the account is
   *   known at counts for itself alone, since a machine with an old password guesses nothing
   * @throws ServiceError rate_limited
   */
  attempt(
    input: { username: string; address: string; request_id?: string | undefined; credential?: string },
    fits: () => Promise<boolean>,
  ): Promise<boolean>;
}

export const LOGIN_ATTEMPTS = token<LoginAttempts>('access.login_attempts');

/** The first administrator of an empty user table (contract 00, first start). */
export interface FirstStart {
  /**
   * Creates one administrator when there is no account, once even when two processes start together. Null when there was
   * one; `password` is null when the configuration gave it, else it is returned here and nowhere else: print it once.
   */
  ensureAdmin(): Promise<{ username: string; password: string | null } | null>;
}

export const FIRST_START = token<FirstStart>('access.first_start');

/** For those who store what people and agents write: whether a text would publish a credential of this service. */
export interface LiveTokens {
  /** Whether the text holds a token that is neither revoked nor expired. Intake keys are public and do not count. */
  heldIn(text: string): Promise<boolean>;
}

export const LIVE_TOKENS = token<LiveTokens>('access.live_tokens');

/** What a field that holds a live token is refused with. */
export const HOLDS_LIVE_TOKEN =
  'holds a credential of this service that still works; take it out, and revoke it if others have seen it';

/** Fields of a call whose purpose is a secret: nobody is shown them. */
const SECRET_FIELDS = new Set([
  'password',
  'password_again',
  'current_password',
  'totp_password',
  'secret',
  'license_key',
  'claim_token',
  'claim_tokens',
  'csrf',
  'csrf_token',
]);
/** No token of any kind is as short: `wd_live_` and 43 letters and digits. */
const SHORTEST_TOKEN = 51;
/** Fields named in one refusal. */
const MOST_FIELDS = 50;

/** Adds the texts of a value that are long enough for a token, names of members included. */
function collectTexts(value: unknown, into: string[]): string[] {
  if (typeof value === 'string') {
    if (value.length >= SHORTEST_TOKEN) into.push(value);
  } else if (Array.isArray(value)) {
    for (const element of value) collectTexts(element, into);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      collectTexts(name, into);
      collectTexts(member, into);
    }
  }
  return into;
}

/**
 * The fields that hold a live token, each with what is wrong: for `invalid(…)`, when there are any (contract 20, endpoints:
 * `untrusted_fields`). The store is asked only where a text has the shape of a token.
 * @param fields name → a text, or lists and objects of texts; fields whose purpose is a secret are passed over
 * @returns at most fifty
 */
export async function fieldsWithLiveTokens(
  live: LiveTokens,
  fields: Readonly<Record<string, unknown>>,
): Promise<Record<string, string>> {
  const texts: [name: string, text: string][] = [];
  for (const [name, value] of Object.entries(fields)) {
    // A line's end divides a token, so texts of one field are judged as one.
    const text = SECRET_FIELDS.has(name) ? '' : collectTexts(value, []).join('\n');
    if (text !== '') texts.push([name, text]);
  }
  const wrong: [name: string, fault: string][] = [];
  if (texts.length === 0 || !(await live.heldIn(texts.map(([, text]) => text).join('\n')))) return {};
  for (const [name, text] of texts) {
    if (wrong.length < MOST_FIELDS && (await live.heldIn(text))) wrong.push([name, HOLDS_LIVE_TOKEN]);
  }
  // Not by assignment: a field may be called `__proto__`.
  return Object.fromEntries(wrong);
}

/** An account whose password opens what the release store protects (contract 40, access files). */
export interface OpeningAccount {
  username: string;
  role: Role;
  /** The stored hash: bcrypt (`$2y$…`) or Argon2 (`$argon2id$…`). */
  hash: string;
}

/** Accounts, for those who note a person's name or let a person in. */
export interface AccountDirectory {
  /** The name as the account spells it, whatever the case; null when there is no such account, or it is disabled. */
  named(username: string): Promise<string | null>;
  /** Every account that is not disabled, by name. */
  opening(): AsyncIterable<OpeningAccount>;
  /**
   * A digest of what `opening` answers, read from the store: another one after every change of a name, a role, a hash or
   * of who is enabled, whichever process or command made it. Take it before `opening`.
   */
  mark(): Promise<string>;
}

export const ACCOUNTS = token<AccountDirectory>('access.accounts');

/** Told of every change of what `AccountDirectory.opening` answers, also in the process of a command. */
export interface AccountWatcher {
  /**
   * The change is committed. Its answer waits for this, for at most five seconds; what fails here is logged and fails
   * nothing.
   */
  changed(): Promise<void>;
}

/** Added by each plugin that keeps something made from accounts. */
export const ACCOUNT_WATCHERS = extensionPoint<AccountWatcher>('access.account_watchers');
