import type { LicenseStatus } from '../../../lib/formats/license-status.js';
import { getLicenseState } from '../model/states.js';
import type { LicenseDoc } from '../model/documents.js';

export type LicenseVerdict = Exclude<LicenseStatus, `machine_${string}`>;

/**
 * Returns the first status that applies: invalid, revoked, inactive, pending, product_mismatch,
 * expired; else active (contract 50).
 */
export function evaluateLicense(
  license: Pick<LicenseDoc, 'status' | 'expires_at' | 'product'> | null,
  product: string,
  now: number,
): LicenseVerdict {
  if (license === null) return 'invalid';
  if (license.status !== 'active') return license.status;
  if (license.product !== product) return 'product_mismatch';
  return getLicenseState(license, now);
}

export const STATUS_MESSAGES: Readonly<Record<LicenseStatus, string>> = {
  active: 'The license is active.',
  expired: 'The license has expired.',
  inactive: 'The license is switched off.',
  revoked: 'The license was revoked.',
  pending: 'The license waits for its approval.',
  invalid: 'There is no such license.',
  product_mismatch: 'The license is for another product.',
  machine_limit: 'The license is in use on as many machines as it allows.',
  machine_pending: 'This machine waits for its approval.',
  machine_blocked: 'This machine is blocked.',
};
