import type { Principal } from '../http/index.js';
import { extensionPoint, token } from '../token.js';

export interface AuditEntry {
  id: string;
  at: string;
  /** `admin`, `token ci (svc_live_AbC)`, `command line`, `system`. */
  actor: string;
  /** `project.archived`, `user.disabled`: noun, dot, participle. */
  action: string;
  target: string;
  details: AuditFields;
  /** Changed fields before and after; secrets as `set`. Absent when nothing changed. */
  before?: AuditFields;
  after?: AuditFields;
}

export type AuditFields = Record<string, string | number | boolean | null>;

/** `command line: aos user passwd`. */
export type CommandLineActor = 'command line' | `command line: aos ${string}`;

/** Who performed an action. */
export type Actor = Principal | CommandLineActor | 'system';

/** Records every administrative action before its response is sent (contract 80). */
export interface AuditLog {
  record(
    principal: Actor,
    action: string,
    target: string,
    details?: AuditFields,
    change?: { before: AuditFields; after: AuditFields },
  ): Promise<void>;
  listRecent(limit: number, after?: string | null): Promise<{ items: AuditEntry[]; next: string | null }>;
  listByTarget(
    target: string,
    limit: number,
    after?: string | null,
  ): Promise<{ items: AuditEntry[]; next: string | null }>;
}

export const AUDIT = token<AuditLog>('access.audit');

/** Read access for the audit page. */
export interface AuditReader {
  search(
    query: AuditQuery,
    limit: number,
    after?: string | null,
  ): Promise<{ items: AuditEntry[]; next: string | null }>;
  /** Returns the name and page of an entry's target. */
  describeTarget(entry: Pick<AuditEntry, 'action' | 'target' | 'details'>): Promise<AuditTarget>;
}

export const AUDIT_READER = token<AuditReader>('access.audit_reader');

export interface AuditQuery {
  /** Actor or its prefix: `admin`, `token ci`. */
  actor?: string;
  /** An action, or a noun with a dot: `project.`. */
  action?: string;
  /** Excluded noun with a dot: `login.`. */
  without?: string;
  target?: string;
  since?: string;
  until?: string;
}

export interface AuditTarget {
  name: string;
  /** Null when the target is gone or has no page. */
  href: string | null;
}

/** Resolves the targets of one noun's actions. */
export interface AuditTargetResolver {
  noun: string;
  describe(target: string): Promise<AuditTarget | null>;
}

export const AUDIT_TARGETS = extensionPoint<AuditTargetResolver>('access.audit_targets');
