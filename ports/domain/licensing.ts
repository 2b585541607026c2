/**
 * What the licensing plugin offers the others (contract 50): who may open a product's release store, and its events.
 */
import { event, extensionPoint, token } from '../token.js';

/** A line of a product's `.htpasswd` (contract 40, access files). */
export interface LicenseCredential {
  /** `lic_` and the first 16 hex characters of the key's SHA-256. */
  name: string;
  /** bcrypt, cost 8, `$2y$`. */
  hash: string;
  /** Null: it does not end. */
  valid_until: string | null;
}

/** Licenses as the release store needs them. */
export interface LicenseDirectory {
  /** Every license of the product that is active and not expired now, by name. */
  opening(product: string): AsyncIterable<LicenseCredential>;
  /** Changes, durably and before the change itself, whenever what `opening` answers may change for any product. */
  mark(): Promise<string>;
  /** The active license with this SHA-256 of its key, hex; null: none. */
  byKeySha256(sha256: string): Promise<{ id: string; product: string } | null>;
}

export const LICENSES = token<LicenseDirectory>('licensing.directory');

/**
 * Who must know at once that the licenses of a product changed: awaited, for a few seconds at most, before the answer.
 */
export interface LicenseWatcher {
  /** @param product null: of several */
  changed(product: string | null): Promise<void>;
}

export const LICENSE_WATCHERS = extensionPoint<LicenseWatcher>('licensing.watchers');

/** Data of every event of a license (contract 50, events). */
export interface LicenseEvent {
  id: string;
  product: string;
  client_ref: string | null;
  status: 'pending' | 'active' | 'inactive' | 'revoked' | 'expired';
  expires_at: string | null;
}

export const LICENSE_CREATED = event<LicenseEvent>('license.created');
export const LICENSE_CHANGED = event<LicenseEvent>('license.changed');
export const LICENSE_EXPIRING = event<LicenseEvent>('license.expiring');
export const LICENSE_EXPIRED = event<LicenseEvent>('license.expired');
export const LICENSE_MACHINE_PENDING = event<LicenseEvent>('license.machine_pending');
