import {
  token,
  type TokenValues,
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

export const ACCESS_FILES_DEPS = {
  store: token<ReleaseStore>('releases.store'),
  rows: token<Collection<AccessFilesDoc>>('releases.rows'),
  leases: token<Collection<LeaseRow<ProcessOwner>>>('releases.leases'),
  clock: token<Clock>('releases.clock'),
  ids: token<Ids>('releases.ids'),
  log: token<Logger>('releases.log'),
  hasher: token<PasswordHasher>('releases.hasher'),
  outbound: token<Outbound>('releases.outbound'),
  processes: token<Processes>('releases.processes'),
  accounts: token<AccountDirectory>('releases.accounts'),
  attempts: token<LoginAttemptLimiter>('releases.attempts'),
  audit: token<Pick<AuditLog, 'record'>>('releases.audit'),
  licenses: token<() => LicenseDirectory | undefined>('releases.licenses'),
  newest: token<(product: string) => Promise<ReleaseLocation | null>>('releases.newest'),
  isReleased: token<(place: ReleaseLocation) => Promise<boolean>>('releases.isReleased'),
  downloaded: token<(place: ReleaseLocation) => void>('releases.downloaded'),
  /** Null for the store's folder. */
  webPath: token<string | null>('releases.webPath'),
  place: token<string>('releases.place'),
  /** Of `.htpasswd` on this disk (contract 40, files). */
  readers: token<'service' | 'group' | 'everybody'>('releases.readers'),
  address: token<() => string>('releases.address'),
  selfTestKey: token<Buffer>('releases.selfTestKey'),
};

export type AccessFilesDeps = TokenValues<typeof ACCESS_FILES_DEPS>;
