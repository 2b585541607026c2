/** License states in responses of `validate` (contract 50, validate; contract 97). */

export const LICENSE_STATUSES = [
  'active',
  'grace',
  'expired',
  'inactive',
  'revoked',
  'pending',
  'invalid',
  'product_mismatch',
  'no_seat_free',
  'machine_limit',
  'machine_pending',
  'machine_blocked',
] as const;
export type LicenseStatus = (typeof LICENSE_STATUSES)[number];

/** Returns whether the license may be used. */
export const isValidStatus = (status: unknown): boolean => status === 'active' || status === 'grace';

export const isLicenseStatus = (value: unknown): value is LicenseStatus =>
  (LICENSE_STATUSES as readonly unknown[]).includes(value);
