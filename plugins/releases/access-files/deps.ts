/**
 * What access files and the serving of the store are built on; bound as one value, so that a test puts its own in its
 * place.
 */
import {
  token,
  type Clock,
  type Collection,
  type Doc,
  type Ids,
  type Logger,
  type PasswordHasher,
} from '../../../kernel/contract.js';
import type { LeaseRow } from '../../../lib/lease.js';
import type { AccountDirectory, LoginAttempts } from '../../../ports/domain/access.js';
import type { AuditLog } from '../../../ports/domain/audit.js';
import type { LicenseDirectory } from '../../../ports/domain/licensing.js';
import type { Outbound } from '../../../ports/outbound.js';
import type { ProcessOwner, Processes } from '../../../ports/processes.js';
import type { ReleasePlace, ReleaseStore } from '../../../ports/release-store.js';
import type { SelfTestResult } from './self-test-result.js';

/** One document: what the access files were made from, and what the last self-test saw. */
export interface AccessDoc extends Doc {
  /** Marks of the accounts and of the licenses, taken before they were read. */
  accounts?: string;
  licenses?: string;
  /** What the files look like: another one, and they are written anew. */
  format?: string;
  /** The last run that wrote what was due. */
  run_at?: string;
  /** The last time that files were written; a self-test follows. */
  written_at?: string;
  /** When the first of the licenses in the files ends. */
  expires_at?: string | null;
  /** Accounts that are in no file, since their password is not hashed with bcrypt: at most 100. */
  skipped?: string[];
  /** Products whose `.htpasswd` was cut, since the web server handed it out. */
  cut?: string[];
  self_test?: SelfTestResult;
}

export interface AccessDeps {
  store: ReleaseStore;
  rows: Collection<AccessDoc>;
  leases: Collection<LeaseRow<ProcessOwner>>;
  clock: Clock;
  ids: Ids;
  log: Logger;
  hasher: PasswordHasher;
  outbound: Outbound;
  processes: Processes;
  accounts: AccountDirectory;
  attempts: LoginAttempts;
  audit: Pick<AuditLog, 'record'>;
  /** Undefined where no licenses are kept. */
  licenses: () => LicenseDirectory | undefined;
  /** The newest package of a product that is not withdrawn; null: it has none. */
  newest: (product: string) => Promise<ReleasePlace | null>;
  /** A package was sent whole. */
  downloaded: (place: ReleasePlace) => void;
  /** `releases.web_path`, else where the store lies. */
  webPath: string | null;
  /** Where packages lie, for people. */
  place: string;
  /** Who may read `.htpasswd` on this disk (contract 40, files). */
  readers: 'service' | 'group' | 'everybody';
  /** Where the self-test asks: without a final slash. */
  address: () => string;
}

export const ACCESS_DEPS = token<AccessDeps>('releases.access_deps');
