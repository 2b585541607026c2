import {
  token,
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

export interface LicensingDeps {
  licenses: Collection<LicenseDoc>;
  activations: Collection<ActivationDoc>;
  leases: Collection<SeatLeaseDoc>;
  marks: Collection<StoreAccessMarkDoc>;
  expiryMarks: Collection<ExpiryMarkDoc>;
  clock: Clock;
  ids: Ids;
  log: Logger;
  cipher: Cipher;
  hasher: Pick<PasswordHasher, 'hash'>;
  signer: Signer;
  audit: AuditLog;
  projects: Pick<ProjectDirectory, 'get' | 'requireAccepting' | 'list'>;
  brands: Pick<SellerBrands, 'find' | 'findCommon'>;
  throttle: AttemptThrottle;
  mail: () => MailQueue | undefined;
  /** Without a trailing slash. */
  baseUrl: () => string;
  machines: () => MachineInventory | undefined;
  watchers: () => readonly LicenseChangeListener[];
  emit: PluginContext['emit'];
  config: LicensingConfig;
}

export const DEPS = token<LicensingDeps>('licensing.deps');
