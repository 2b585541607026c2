/** The outboxes of licenses and of activations, each one for the whole process. */
import { token } from '../../kernel/contract.js';
import type { ActivationDoc, LicenseDoc } from './model.js';
import type { Outbox } from './outbox.js';

export const LICENSE_OUTBOX = token<Outbox<LicenseDoc>>('licensing.license_outbox');
export const ACTIVATION_OUTBOX = token<Outbox<ActivationDoc>>('licensing.activation_outbox');
