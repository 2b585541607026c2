import type { LicenseEvent } from '../../../ports/domain/licensing.js';
import type { Json } from '../../../ports/store/index.js';
import type { ActivationDoc, SeatLeaseDoc, LicenseDoc } from './documents.js';
import { getLicenseState, type LicenseState } from './states.js';
import { getLicenseTerms, parseEntitlements, type Entitlement } from './terms.js';

export interface LicenseView {
  id: string;
  key: string;
  client_ref: string | null;
  product: string;
  project: string;
  licensee: string | null;
  email: string | null;
  status: LicenseState;
  expires_at: string | null;
  max_activations: number | null;
  require_approval: boolean;
  features: { [name: string]: Json };
  notes: string | null;
  floating: boolean;
  lease_seconds: number;
  overdraft: number;
  grace_days: number;
  entitlements: Entitlement[];
  cache_ttl_hours: number;
  created_at: string;
  created_by: string;
  updated_at: string;
  last_validated_at: string | null;
  last_validated_version: string | null;
}

export const parseFeatures = ({ features }: Pick<LicenseDoc, 'features'>): { [name: string]: Json } =>
  JSON.parse(features) as { [name: string]: Json };

/** @param key in the response to its creation; otherwise the mask */
export function toLicenseView(
  doc: LicenseDoc,
  cache_ttl_hours: number,
  now: number,
  key = doc.key_masked,
): LicenseView {
  const { id, client_ref, product, licensee, email, expires_at, max_activations, require_approval } = doc;
  const { notes, created_at, created_by, updated_at, last_validated_at, last_validated_version } = doc;
  return {
    id,
    key,
    client_ref,
    product,
    project: product,
    licensee,
    email,
    status: getLicenseState(doc, now),
    expires_at,
    max_activations,
    require_approval,
    features: parseFeatures(doc),
    notes,
    ...getLicenseTerms(doc),
    entitlements: parseEntitlements(doc),
    cache_ttl_hours,
    created_at,
    created_by,
    updated_at,
    last_validated_at,
    last_validated_version,
  };
}

export type ActivationView = Pick<
  ActivationDoc,
  | 'id'
  | 'license_id'
  | 'machine_id'
  | 'machine_name'
  | 'platform'
  | 'app_version'
  | 'status'
  | 'first_seen'
  | 'last_seen'
> & { file_until: string | null };

export function toActivationView(doc: ActivationDoc): ActivationView {
  const { id, license_id, machine_id, machine_name, platform, app_version, status, first_seen, last_seen } = doc;
  return {
    id,
    license_id,
    machine_id,
    machine_name,
    platform,
    app_version,
    status,
    first_seen,
    last_seen,
    file_until: doc.file_until ?? null,
  };
}

export type LeaseView = Pick<
  SeatLeaseDoc,
  | 'id'
  | 'license_id'
  | 'machine_id'
  | 'machine_name'
  | 'platform'
  | 'app_version'
  | 'taken_at'
  | 'renewed_at'
  | 'expires_at'
>;

/** The client's `lease_id` would release the lease. */
export function toLeaseView(doc: SeatLeaseDoc): LeaseView {
  const { id, license_id, machine_id, machine_name, platform, app_version, taken_at, renewed_at, expires_at } = doc;
  return { id, license_id, machine_id, machine_name, platform, app_version, taken_at, renewed_at, expires_at };
}

/** Builds the data of license events (contract 50, events). */
export function toEventData(
  { id, product, client_ref, status, expires_at }: Pick<LicenseDoc, keyof LicenseEvent>,
  now: number,
): LicenseEvent & { [name: string]: Json } {
  return { id, product, client_ref, status: getLicenseState({ status, expires_at }, now), expires_at };
}
