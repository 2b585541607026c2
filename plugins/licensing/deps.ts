import {
  token,
  type TokenValues,
  type Clock,
  type Collection,
  type Ids,
  type Logger,
  type PluginContext,
} from '../../kernel/contract/index.js';
import type { Cipher } from '../../ports/cipher.js';
import type { AttemptThrottle } from '../../ports/domain/access.js';
import type { AuditLog } from '../../ports/domain/audit.js';
import type { LicenseChangeListener } from '../../ports/domain/licensing.js';
import type { MailQueue } from '../../ports/domain/mail/mail-queue.js';
import type { MachineInventory } from '../../ports/domain/machines/inventory.js';
import type { ProjectDirectory, SellerBrands } from '../../ports/domain/projects.js';
import type { PasswordHasher } from '../../ports/hasher.js';
import type { Signer } from '../../ports/signer.js';
import type { ActivationDoc, SeatLeaseDoc, LicenseDoc, ExpiryMarkDoc, StoreAccessMarkDoc } from './model/documents.js';

/** A type is accepted as a plain record. */
export type LicensingConfig = {
  expiring_days: number;
};

export const DEPS = {
  licenses: token<Collection<LicenseDoc>>('licensing:licenses'),
  activations: token<Collection<ActivationDoc>>('licensing:activations'),
  leases: token<Collection<SeatLeaseDoc>>('licensing:leases'),
  marks: token<Collection<StoreAccessMarkDoc>>('licensing:marks'),
  expiryMarks: token<Collection<ExpiryMarkDoc>>('licensing:expiryMarks'),
  clock: token<Clock>('licensing:clock'),
  ids: token<Ids>('licensing:ids'),
  log: token<Logger>('licensing:log'),
  cipher: token<Cipher>('licensing:cipher'),
  hasher: token<Pick<PasswordHasher, 'hash'>>('licensing:hasher'),
  signer: token<Signer>('licensing:signer'),
  audit: token<AuditLog>('licensing:audit'),
  projects: token<Pick<ProjectDirectory, 'get' | 'requireAccepting' | 'list'>>('licensing:projects'),
  brands: token<Pick<SellerBrands, 'find' | 'findCommon'>>('licensing:brands'),
  throttle: token<AttemptThrottle>('licensing:throttle'),
  mail: token<() => MailQueue | undefined>('licensing:mail'),
  /** Without a trailing slash. */
  baseUrl: token<() => string>('licensing:baseUrl'),
  machines: token<() => MachineInventory | undefined>('licensing:machines'),
  watchers: token<() => readonly LicenseChangeListener[]>('licensing:watchers'),
  emit: token<PluginContext['emit']>('licensing:emit'),
  config: token<LicensingConfig>('licensing:config'),
};

export type LicensingDeps = TokenValues<typeof DEPS>;
