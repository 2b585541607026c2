/** The plugin's services that its routes, pages and jobs use; what those need follows from their constructors. */
import type { Instances, PluginContext } from '../../kernel/contract.js';
import { DEPS, type Deps } from './deps.js';
import { OpeningLicenses } from './licenses/directory.js';
import { Expiry } from './licenses/expiry.js';
import { KeyHashes } from './licenses/key-hashes.js';
import { Licenses } from './licenses/licenses.js';
import { OpeningMarks } from './licenses/marks.js';
import { LicenseWatchers } from './licenses/watchers.js';
import { Activations } from './machines/activations.js';
import { Machines } from './machines/machines.js';
import type { ActivationDoc, LicenseDoc } from './model/documents.js';
import { Online } from './online/online.js';
import { Signing } from './online/signing.js';
import { ACTIVATION_OUTBOX, LICENSE_OUTBOX, LicensingOutbox } from './outbox.js';

const SERVICES = {
  licenses: Licenses,
  activations: Activations,
  machines: Machines,
  directory: OpeningLicenses,
  expiry: Expiry,
  hashes: KeyHashes,
  marks: OpeningMarks,
  watchers: LicenseWatchers,
  online: Online,
  signing: Signing,
};

export type Services = Instances<typeof SERVICES> & {
  outboxes: readonly [LicensingOutbox<LicenseDoc>, LicensingOutbox<ActivationDoc>];
};

/** @param scope the plugin's own container */
export function buildServices(scope: Pick<PluginContext, 'bind' | 'services'>, deps: Deps): Services {
  const ofLicenses = new LicensingOutbox(deps.licenses, deps);
  const ofActivations = new LicensingOutbox(deps.activations, deps);
  scope.bind(DEPS, deps);
  scope.bind(LICENSE_OUTBOX, ofLicenses);
  scope.bind(ACTIVATION_OUTBOX, ofActivations);
  return { ...scope.services(SERVICES), outboxes: [ofLicenses, ofActivations] };
}
