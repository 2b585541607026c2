/** Licensing for other plugins (contract 50). */
import { event, extensionPoint, token } from '../token.js';

/** An entry of a product's `.htpasswd` (contract 40, access files). */
export interface LicenseCredential {
  name: string;
  /** bcrypt, cost 8, `$2y$`. */
  hash: string;
  valid_until: string | null;
}

/** Licenses for the release store. */
export interface LicenseDirectory {
  /** Active and unexpired only, by name. */
  iterateCredentials(product: string): AsyncIterable<LicenseCredential>;
  /** Durable; changes before the result of `iterateCredentials` can. */
  getRevision(): Promise<string>;
  /** Finds the active license by its key's SHA-256 (hex), or null. */
  findByKeySha256(sha256: string): Promise<{ id: string; product: string } | null>;
}

export const LICENSES = token<LicenseDirectory>('licensing.directory');

/** Notified when licenses change; awaited for a few seconds. */
export interface LicenseChangeListener {
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
