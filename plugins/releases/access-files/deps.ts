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
  store: token<ReleaseStore>('releases.access:store'),
  rows: token<Collection<AccessFilesDoc>>('releases.access:rows'),
  leases: token<Collection<LeaseRow<ProcessOwner>>>('releases.access:leases'),
  clock: token<Clock>('releases.access:clock'),
  ids: token<Ids>('releases.access:ids'),
  log: token<Logger>('releases.access:log'),
  hasher: token<PasswordHasher>('releases.access:hasher'),
  outbound: token<Outbound>('releases.access:outbound'),
  processes: token<Processes>('releases.access:processes'),
  accounts: token<AccountDirectory>('releases.access:accounts'),
  attempts: token<LoginAttemptLimiter>('releases.access:attempts'),
  audit: token<Pick<AuditLog, 'record'>>('releases.access:audit'),
  licenses: token<() => LicenseDirectory | undefined>('releases.access:licenses'),
  newest: token<(product: string) => Promise<ReleaseLocation | null>>('releases.access:newest'),
  isReleased: token<(place: ReleaseLocation) => Promise<boolean>>('releases.access:isReleased'),
  downloaded: token<(place: ReleaseLocation) => void>('releases.access:downloaded'),
  /** Null for the store's folder. */
  webPath: token<string | null>('releases.access:webPath'),
  place: token<string>('releases.access:place'),
  /** Of `.htpasswd` on this disk (contract 40, files). */
  readers: token<'service' | 'group' | 'everybody'>('releases.access:readers'),
  address: token<() => string>('releases.access:address'),
  selfTestKey: token<Buffer>('releases.access:selfTestKey'),
};

export type AccessFilesDeps = TokenValues<typeof ACCESS_FILES_DEPS>;
