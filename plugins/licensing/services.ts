import type { Instances, PluginContext } from '../../kernel/contract.js';
import { DEPS, type LicensingDeps } from './deps.js';
import { LicenseDirectoryAdapter } from './licenses/directory.js';
import { LicenseExpiry } from './licenses/expiry.js';
import { KeyHashes } from './licenses/key-hashes.js';
import { Licenses } from './licenses/licenses.js';
import { OpeningMarks } from './licenses/marks.js';
import { LicenseChangeNotifier } from './licenses/watchers.js';
import { Activations } from './machines/activations.js';
import { LicensedMachines } from './machines/machines.js';
import type { ActivationDoc, LicenseDoc } from './model/documents.js';
import { LicenseValidator } from './online/online.js';
import { Signing } from './online/signing.js';
import { ACTIVATION_OUTBOX, LICENSE_OUTBOX, LicensingOutbox } from './outbox.js';

const SERVICES = {
  licenses: Licenses,
  activations: Activations,
  machines: LicensedMachines,
  directory: LicenseDirectoryAdapter,
  expiry: LicenseExpiry,
  hashes: KeyHashes,
  marks: OpeningMarks,
  watchers: LicenseChangeNotifier,
  online: LicenseValidator,
  signing: Signing,
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
