/** The record of what administrators did (contract 80), as plugins write and read it. */
import type { Principal } from '../http.js';
import { extensionPoint, token } from '../token.js';

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
  /** A noun with a dot, whose actions are left out: `login.`. */
  without?: string;
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
