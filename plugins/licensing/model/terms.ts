import { DAY_MS, toIsoString } from '../../../lib/time.js';
import { MAX_ACTIVATIONS } from './fields.js';
import type { LicenseDoc } from './documents.js';

export interface Entitlement {
  name: string;
  /** RFC 3339; null: as long as the license. */
  until: string | null;
}

export const DEFAULT_TERMS = { floating: false, lease_seconds: 900, overdraft: 0, grace_days: 0 } as const;

export interface LicenseTerms {
  floating: boolean;
  lease_seconds: number;
  overdraft: number;
  grace_days: number;
}

type StoredTerms = Pick<LicenseDoc, 'floating' | 'lease_seconds' | 'overdraft' | 'grace_days'>;

export function getLicenseTerms({
  floating = DEFAULT_TERMS.floating,
  lease_seconds = DEFAULT_TERMS.lease_seconds,
  overdraft = DEFAULT_TERMS.overdraft,
  grace_days = DEFAULT_TERMS.grace_days,
}: StoredTerms): LicenseTerms {
  return { floating, lease_seconds, overdraft, grace_days };
}

/** Machines that may use a floating license concurrently. */
export const getSeatLimit = ({ max_activations, overdraft = 0 }: Pick<LicenseDoc, 'max_activations' | 'overdraft'>) =>
  max_activations === null ? MAX_ACTIVATIONS : max_activations + overdraft;

export const parseEntitlements = ({ entitlements = '[]' }: Pick<LicenseDoc, 'entitlements'>): Entitlement[] =>
  JSON.parse(entitlements) as Entitlement[];

/** Formats for the store; a missing `until` becomes null. */
export const formatEntitlements = (list: readonly { name: string; until?: string | null }[]): string =>
  JSON.stringify(list.map(({ name, until = null }) => ({ name, until })));

/** @param now milliseconds since 1970 */
export const listCurrentEntitlements = (license: Pick<LicenseDoc, 'entitlements'>, now: number): Entitlement[] =>
  parseEntitlements(license).filter(({ until }) => until === null || Date.parse(until) > now);

/** RFC 3339; null without one. */
export function getGraceEnd(license: Pick<LicenseDoc, 'expires_at' | 'grace_days'>): string | null {
  const { expires_at, grace_days = 0 } = license;
  return expires_at === null || grace_days === 0 ? null : toIsoString(Date.parse(expires_at) + grace_days * DAY_MS);
}
