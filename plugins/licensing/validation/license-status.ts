import type { LicenseStatus } from '../../../lib/formats/license-status.js';
import { getLicenseState } from '../model/states.js';
import type { LicenseDoc } from '../model/documents.js';
import { getGraceEnd } from '../model/terms.js';

export type LicenseVerdict = Exclude<LicenseStatus, `machine_${string}` | 'no_seat_free'>;

/**
 * Returns the first that applies: invalid, revoked, inactive, pending, product_mismatch, grace,
 * expired; else active (contracts 50 and 97).
 */
export function evaluateLicense(
  license: Pick<LicenseDoc, 'status' | 'expires_at' | 'product' | 'grace_days'> | null,
  product: string,
  now: number,
): LicenseVerdict {
  if (license === null) return 'invalid';
  if (license.status !== 'active') return license.status;
  if (license.product !== product) return 'product_mismatch';
  const state = getLicenseState(license, now);
  const graceEnd = getGraceEnd(license);
  return state === 'expired' && graceEnd !== null && now < Date.parse(graceEnd) ? 'grace' : state;
}

export const STATUS_MESSAGES: Readonly<Record<LicenseStatus, string>> = {
  active: 'The license is active.',
  grace: 'The license has expired and is in its grace period: renew it.',
  expired: 'The license has expired.',
  inactive: 'The license is inactive.',
  revoked: 'The license was revoked.',
  pending: 'The license is waiting for approval.',
  invalid: 'License not found.',
  product_mismatch: 'The license is for another product.',
  no_seat_free: 'All seats of the license are in use: try again when one is free.',
  machine_limit: 'The license is in use on its maximum number of machines.',
  machine_pending: 'This machine is waiting for approval.',
  machine_blocked: 'This machine is blocked.',
};

/** A file cannot give its seat back. */
export const FLOATING_FILE_MESSAGE = 'The license is floating: it must be validated online and has no license files.';
