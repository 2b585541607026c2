import {
  token,
  type Clock,
  type Collection,
  type Doc,
  type Ids,
  type Logger,
  type PasswordHasher,
} from '../../../kernel/contract/index.js';
import type { LeaseRow } from '../../../lib/lease.js';
import type { AccountDirectory, LoginAttemptLimiter } from '../../../ports/domain/access.js';
import type { AuditLog } from '../../../ports/domain/audit.js';
import type { LicenseDirectory } from '../../../ports/domain/licensing.js';
import type { Outbound } from '../../../ports/outbound.js';
import type { ProcessOwner, Processes } from '../../../ports/processes.js';
import type { ReleaseLocation, ReleaseStore } from '../../../ports/release-store.js';
import type { SelfTestResult } from './self-test-result.js';

export interface AccessFilesDoc extends Doc {
  /** Taken before accounts and licenses were read. */
  accounts?: string;
  licenses?: string;
  /** Another version makes all files due. */
  format?: string;
  run_at?: string;
  written_at?: string;
  expires_at?: string | null;
  /** Accounts without a bcrypt hash: at most 100. */
  skipped?: string[];
  /** Their exposed `.htpasswd` was emptied. */
  cut?: string[];
  self_test?: SelfTestResult;
}

export interface AccessFilesDeps {
  store: ReleaseStore;
  rows: Collection<AccessFilesDoc>;
  leases: Collection<LeaseRow<ProcessOwner>>;
  clock: Clock;
  ids: Ids;
  log: Logger;
  hasher: PasswordHasher;
  outbound: Outbound;
  processes: Processes;
  accounts: AccountDirectory;
  attempts: LoginAttemptLimiter;
  audit: Pick<AuditLog, 'record'>;
  licenses: () => LicenseDirectory | undefined;
  newest: (product: string) => Promise<ReleaseLocation | null>;
  isReleased: (place: ReleaseLocation) => Promise<boolean>;
  downloaded: (place: ReleaseLocation) => void;
  /** Null for the store's folder. */
  webPath: string | null;
  place: string;
  /** Of `.htpasswd` on this disk (contract 40, files). */
  readers: 'service' | 'group' | 'everybody';
  address: () => string;
  selfTestKey: Buffer;
}

export const ACCESS_FILES_DEPS = token<AccessFilesDeps>('releases.access_deps');
