/** What access files and the serving of the store are built on. A test binds its own value in place of this one. */
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

/** The one stored document: what the access files were made from, and what the last self-test saw. */
export interface AccessDoc extends Doc {
  /** Marks of accounts and of licenses, taken before either was read. */
  accounts?: string;
  licenses?: string;
  /** The format of the files; another format makes all files due. */
  format?: string;
  /** When a run last wrote what was due. */
  run_at?: string;
  /** When files were last written; a self-test follows each write. */
  written_at?: string;
  /** When the first license in the files ends. */
  expires_at?: string | null;
  /** Accounts that no file holds because their password is not hashed with bcrypt: at most 100. */
  skipped?: string[];
  /** Products whose `.htpasswd` was cut because the web server handed it out. */
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
  /** Undefined where the licensing plugin does not run. */
  licenses: () => LicenseDirectory | undefined;
  /** The newest package of a product that is not withdrawn; null when the product has none. */
  newest: (product: string) => Promise<ReleasePlace | null>;
  /** Whether a release that is not withdrawn has this place. */
  isReleased: (place: ReleasePlace) => Promise<boolean>;
  /** Called when a package was sent whole. */
  downloaded: (place: ReleasePlace) => void;
  /** `releases.web_path`; null for the folder of the store itself. */
  webPath: string | null;
  /** The place of the packages, as people read it. */
  place: string;
  /** Who may read `.htpasswd` on this disk (contract 40, files). */
  readers: 'service' | 'group' | 'everybody';
  /** The address that the self-test asks, without a final slash. */
  address: () => string;
}

export const ACCESS_DEPS = token<AccessDeps>('releases.access_deps');
