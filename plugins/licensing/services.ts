import type { Instances, PluginContext } from '../../kernel/contract.js';
import { DEPS, type LicensingDeps } from './deps.js';
import { LicenseDirectoryAdapter } from './licenses/directory.js';
import { LicenseExpiryJob } from './licenses/expiry.js';
import { KeyHashService } from './licenses/key-hashes.js';
import { LicenseService } from './licenses/licenses.js';
import { StoreAccessMarks } from './licenses/marks.js';
import { LicenseChangeNotifier } from './licenses/watchers.js';
import { ActivationService } from './machines/activations.js';
import { MachineService } from './machines/machines.js';
import type { ActivationDoc, LicenseDoc } from './model/documents.js';
import { LicenseValidator } from './online/online.js';
import { LicenseSigningService } from './online/signing.js';
import { ACTIVATION_OUTBOX, LICENSE_OUTBOX, LicensingOutbox } from './outbox.js';

const SERVICES = {
  licenses: LicenseService,
  activations: ActivationService,
  machines: MachineService,
  directory: LicenseDirectoryAdapter,
  expiry: LicenseExpiryJob,
  hashes: KeyHashService,
  marks: StoreAccessMarks,
  watchers: LicenseChangeNotifier,
  online: LicenseValidator,
  signing: LicenseSigningService,
};

export type LicensingServices = Instances<typeof SERVICES> & {
  outboxes: readonly [LicensingOutbox<LicenseDoc>, LicensingOutbox<ActivationDoc>];
};

export function buildServices(scope: Pick<PluginContext, 'bind' | 'services'>, deps: LicensingDeps): LicensingServices {
  const ofLicenses = new LicensingOutbox(deps.licenses, deps);
  const ofActivations = new LicensingOutbox(deps.activations, deps);
  scope.bind(DEPS, deps);
  scope.bind(LICENSE_OUTBOX, ofLicenses);
  scope.bind(ACTIVATION_OUTBOX, ofActivations);
  return { ...scope.services(SERVICES), outboxes: [ofLicenses, ofActivations] };
}
