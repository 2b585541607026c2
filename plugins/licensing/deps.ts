import {
  token,
  type Clock,
  type Collection,
  type Ids,
  type Logger,
  type PluginContext,
} from '../../kernel/contract.js';
import type { Cipher } from '../../ports/cipher.js';
import type { AttemptThrottle } from '../../ports/domain/access.js';
import type { AuditLog } from '../../ports/domain/audit.js';
import type { LicenseWatcher } from '../../ports/domain/licensing.js';
import type { ProjectDirectory, SellerBrands } from '../../ports/domain/projects.js';
import type { PasswordHasher } from '../../ports/hasher.js';
import type { Signer } from '../../ports/signer.js';
import type { ActivationDoc, LicenseDoc, ExpiryMarkDoc, OpeningMarkDoc } from './model/documents.js';

/** A type rather than an interface, so that a list of plugins accepts it as a plain record. */
export type LicensingConfig = {
  expiring_days: number;
};

export interface LicensingDeps {
  licenses: Collection<LicenseDoc>;
  activations: Collection<ActivationDoc>;
  marks: Collection<OpeningMarkDoc>;
  expiryMarks: Collection<ExpiryMarkDoc>;
  clock: Clock;
  ids: Ids;
  log: Logger;
  cipher: Cipher;
  hasher: Pick<PasswordHasher, 'hash'>;
  signer: Signer;
  audit: AuditLog;
  projects: Pick<ProjectDirectory, 'get' | 'accepting' | 'list'>;
  brands: Pick<SellerBrands, 'of' | 'common'>;
  throttle: AttemptThrottle;
  watchers: () => readonly LicenseWatcher[];
  emit: PluginContext['emit'];
  config: LicensingConfig;
}

export const DEPS = token<LicensingDeps>('licensing.deps');
