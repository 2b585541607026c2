/** License states in responses of `validate` (contract 50, validate). */

export const LICENSE_STATUSES = [
  'active',
  'expired',
  'inactive',
  'revoked',
  'pending',
  'invalid',
  'product_mismatch',
  'machine_limit',
  'machine_pending',
  'machine_blocked',
] as const;
export type LicenseStatus = (typeof LICENSE_STATUSES)[number];

export const isLicenseStatus = (value: unknown): value is LicenseStatus =>
  (LICENSE_STATUSES as readonly unknown[]).includes(value);
