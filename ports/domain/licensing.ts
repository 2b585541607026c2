/** Licensing for other plugins (contract 50): release store credentials and events. */
import { event, extensionPoint, token } from '../token.js';

/** An entry of a product's `.htpasswd` (contract 40, access files). */
export interface LicenseCredential {
  /** `lic_` and the first 16 hex characters of the key's SHA-256. */
  name: string;
  /** bcrypt, cost 8, `$2y$`. */
  hash: string;
  /** Null: no expiry. */
  valid_until: string | null;
}

/** Licenses for the release store. */
export interface LicenseDirectory {
  /** Iterates the active, unexpired licenses of a product by name. */
  iterateCredentials(product: string): AsyncIterable<LicenseCredential>;
  /**
   * Returns a durable revision that changes before the result of `iterateCredentials` can, for any
   * product.
   */
  getRevision(): Promise<string>;
  /** Finds the active license by its key's SHA-256 (hex), or null. */
  findByKeySha256(sha256: string): Promise<{ id: string; product: string } | null>;
}

export const LICENSES = token<LicenseDirectory>('licensing.directory');

/** Notified when licenses change; awaited for a few seconds before the response. */
export interface LicenseChangeListener {
  /** @param product null: several products */
  onChange(product: string | null): Promise<void>;
}

export const LICENSE_CHANGE_LISTENERS = extensionPoint<LicenseChangeListener>('licensing.watchers');

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
