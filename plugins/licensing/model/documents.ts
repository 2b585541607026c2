/** The stored documents of the licensing plugin. */
import type { Doc, Json } from '../../../ports/store.js';
import type { StoredState } from './states.js';

/** An event that waits in the document whose change caused it (docs/consistency.md). */
export type LicensingOutboxEntry = {
  /** The event's id. */
  id: string;
  event: string;
  at: string;
  data: { [name: string]: Json };
};

export interface WithOutbox extends Doc {
  product: string;
  outbox: LicensingOutboxEntry[];
  /** Time and id of the newest entry; null when the outbox is empty. */
  outbox_at: string | null;
}

export interface LicenseDoc extends WithOutbox {
  key_sha256: string;
  key_masked: string;
  /** The key, readable with the data key alone. */
  key_sealed: string;
  /** bcrypt of the key, cost 8; null until it is computed. */
  key_hash: string | null;
  /** Since when the hash is missing; absent once it is there. */
  hash_due?: string;
  client_ref: string | null;
  /** Product and `client_ref`, unique; absent without a `client_ref`. */
  ref_key?: string;
  licensee: string | null;
  email: string | null;
  /** The text that `q` searches, in lower case. */
  search: string;
  status: StoredState;
  expires_at: string | null;
  max_activations: number | null;
  require_approval: boolean;
  /** JSON text, because a store must not interpret the names within. */
  features: string;
  notes: string | null;
  created_at: string;
  created_by: string;
  updated_at: string;
  /** Rises with every change by an administrator; writes compare it. */
  rev: number;
  last_validated_at: string | null;
  last_validated_version: string | null;
  /** When `license.expired` is sent; absent once sent, and while the license is not active. */
  expire_due?: string;
  /** When `license.expiring` is sent; absent likewise. */
  warn_due?: string;
  /** Times when the customer released machines on the page /license, at most the last three. */
  customer_releases: string[];
}

export const ACTIVATION_STATES = ['active', 'pending', 'blocked', 'released'] as const;
export type ActivationState = (typeof ACTIVATION_STATES)[number];

/** One machine of one license; its id follows from both. */
export interface ActivationDoc extends WithOutbox {
  license_id: string;
  machine_id: string;
  machine_name: string | null;
  platform: string | null;
  app_version: string | null;
  status: ActivationState;
  first_seen: string;
  last_seen: string;
  /** The place that the machine holds, unique: license, kind and number. Absent without a place. */
  slot?: string;
  /** The number of that place. */
  slot_n?: number;
  /** Until when a `.lic` of this machine is good, which keeps its place as long. Absent without a file. */
  file_until?: string;
}

/** One document: the time by the clock up to which ends of licenses were told (expiry.ts). */
export interface ExpiryMarkDoc extends Doc {
  until: string;
  /** When ends that were told too early were made due again last. */
  taken_back_at?: string;
}

/** Announces changes of what opens the release store (marks.ts). */
export interface OpeningMarkDoc extends Doc {
  /** Rises with every finished change. */
  n: number;
  /** Changes under way. */
  open: { id: string; at: string }[];
}
