import { bindAll, type Instances, type PluginContext } from '../../kernel/contract/index.js';
import { DEPS, type LicensingDeps } from './deps.js';
import { LicenseDirectoryAdapter } from './licenses/directory.js';
import { LicenseExpiryJob } from './licenses/expiry-job.js';
import { KeyHashService } from './licenses/key-hashes.js';
import { LicenseService } from './licenses/license-service.js';
import { StoreAccessMarks } from './licenses/store-access-marks.js';
import { LicenseChangeNotifier } from './licenses/change-notifier.js';
import { ActivationService } from './machines/activation-service.js';
import { MachineService } from './machines/machine-service.js';
import type { ActivationDoc, LicenseDoc } from './model/documents.js';
import { FloatingSeatService } from './seats/floating-seats.js';
import { SeatAdministration } from './seats/seat-administration.js';
import { LicenseValidator } from './validation/license-validator.js';
import { LicenseSigningService } from './validation/license-signer.js';
import { ACTIVATION_OUTBOX, LICENSE_OUTBOX, LicensingOutbox } from './outbox.js';

const SERVICES = {
  licenses: LicenseService,
  activations: ActivationService,
  machines: MachineService,
  seats: FloatingSeatService,
  seatAdministration: SeatAdministration,
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
  bindAll(scope, DEPS, deps);
  scope.bind(LICENSE_OUTBOX, ofLicenses);
  scope.bind(ACTIVATION_OUTBOX, ofActivations);
  return { ...scope.services(SERVICES), outboxes: [ofLicenses, ofActivations] };
}
