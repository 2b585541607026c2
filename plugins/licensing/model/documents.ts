import type { Doc, Json } from '../../../ports/store/index.js';
import type { StoredState } from './states.js';

/** Stored in the document whose change caused it (docs/consistency.md). */
export type LicensingOutboxEntry = {
  id: string;
  event: string;
  at: string;
  data: { [name: string]: Json };
};

export interface WithOutbox extends Doc {
  product: string;
  outbox: LicensingOutboxEntry[];
  outbox_at: string | null;
}

export interface LicenseDoc extends WithOutbox {
  key_sha256: string;
  key_masked: string;
  key_sealed: string;
  /** bcrypt, cost 8; null until computed. */
  key_hash: string | null;
  hash_due?: string;
  client_ref: string | null;
  /** Product and `client_ref`, unique; absent without a `client_ref`. */
  ref_key?: string;
  licensee: string | null;
  email: string | null;
  search: string;
  status: StoredState;
  expires_at: string | null;
  max_activations: number | null;
  require_approval: boolean;
  /** A store must not interpret the names within. */
  features: string;
  notes: string | null;
  /** Contract 97, floating seats. Absent in older licenses; read by `getLicenseTerms`. */
  floating?: boolean;
  lease_seconds?: number;
  overdraft?: number;
  grace_days?: number;
  /** JSON text of a list of `Entitlement`. */
  entitlements?: string;
  created_at: string;
  created_by: string;
  updated_at: string;
  /** Compared by writes. */
  rev: number;
  last_validated_at: string | null;
  last_validated_version: string | null;
  /** Absent once sent, and while the license is not active. */
  expire_due?: string;
  warn_due?: string;
  /** On the page /license, at most the last three. */
  customer_releases: string[];
}

export const ACTIVATION_STATES = ['active', 'pending', 'blocked', 'released'] as const;
export type ActivationState = (typeof ACTIVATION_STATES)[number];

export interface ActivationDoc extends WithOutbox {
  license_id: string;
  machine_id: string;
  machine_name: string | null;
  platform: string | null;
  app_version: string | null;
  status: ActivationState;
  first_seen: string;
  last_seen: string;
  /** Unique: license, kind and number. */
  slot?: string;
  slot_n?: number;
  /** Of its `.lic`, which retains its slot. */
  file_until?: string;
}

/** Of a floating license; its id derives from key and machine. */
export interface SeatLeaseDoc extends Doc {
  license_id: string;
  product: string;
  machine_id: string;
  machine_name: string | null;
  platform: string | null;
  app_version: string | null;
  /** Secret: the credential that releases the lease. */
  lease_id: string;
  taken_at: string;
  renewed_at: string;
  expires_at: string;
  /** Of the writer (seats/lease-times.ts). */
  epoch: string;
  due_ms: number;
  /** Unique: license and number. Absent once released. */
  seat?: string;
  seat_n?: number;
  released_at?: string;
}

/** Time up to which expiries were reported (expiry-job.ts). */
export interface ExpiryMarkDoc extends Doc {
  until: string;
  taken_back_at?: string;
}

export interface StoreAccessMarkDoc extends Doc {
  n: number;
  open: { id: string; at: string }[];
}
