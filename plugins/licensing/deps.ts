/** What the services of this plugin are built on. A test binds its own value in place of this one. */
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

/** Declared as a type, not as an interface, so that a list of plugins accepts it as a plain record. */
export type LicensingConfig = {
  expiring_days: number;
};

export interface LicensingDeps {
  licenses: Collection<LicenseDoc>;
  activations: Collection<ActivationDoc>;
  marks: Collection<OpeningMarkDoc>;
  /** In the same collection. */
  expiryMarks: Collection<ExpiryMarkDoc>;
  clock: Clock;
  ids: Ids;
  log: Logger;
  cipher: Cipher;
  hasher: Pick<PasswordHasher, 'hash'>;
  signer: Signer;
  audit: AuditLog;
  projects: Pick<ProjectDirectory, 'get' | 'accepting' | 'list'>;
  /** Whose page a customer sees. */
  brands: Pick<SellerBrands, 'of' | 'common'>;
  throttle: AttemptThrottle;
  /** Listeners for changes of what opens the release store. */
  watchers: () => readonly LicenseWatcher[];
  emit: PluginContext['emit'];
  config: LicensingConfig;
}

export const DEPS = token<LicensingDeps>('licensing.deps');
