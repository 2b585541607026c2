/** Reads what the provider says about a user. Nothing here trusts an unverified address. */
import type { Role } from '../../../ports/http/index.js';
import { isEmail } from '../accounts/profile.js';
import type { OidcSettings } from './settings.js';
import type { ExternalProfile } from './port.js';

export type Claims = Readonly<Record<string, unknown>>;

const MAX_GROUPS = 2_000;
const ROLE_RANK: readonly Role[] = ['admin', 'member', 'installer'];

const readText = (claims: Claims, name: string, max: number): string | null => {
  const value = claims[name];
  const text = typeof value === 'string' ? value.normalize('NFC').replace(/\p{C}/gu, '').trim() : '';
  return text === '' ? null : Array.from(text).slice(0, max).join('');
};

/** A claim's own name may have dots: `https://example.com/groups`. */
function findClaim(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let at: unknown = claims;
  for (const key of path.split('.')) {
    if (typeof at !== 'object' || at === null || Array.isArray(at) || !Object.hasOwn(at, key)) return undefined;
    at = (at as Claims)[key];
  }
  return at;
}

export const hasClaim = (claims: Claims, path: string): boolean => findClaim(claims, path) !== undefined;

/** One group as text, or a list. */
export function readGroups(claims: Claims, path: string): string[] {
  const found = [findClaim(claims, path)].flat(1);
  return found.filter((one) => typeof one === 'string').slice(0, MAX_GROUPS);
}

/** Some providers send the word. */
export const readVerifiedEmail = (claims: Claims): string | null => {
  const email = readText(claims, 'email', 254);
  const verified = claims['email_verified'] === true || claims['email_verified'] === 'true';
  return email !== null && verified && isEmail(email) ? email : null;
};

export function readProfile(claims: Claims, subject: string): ExternalProfile {
  const email = readVerifiedEmail(claims);
  const username = readText(claims, 'preferred_username', 64) ?? email ?? readText(claims, 'name', 64) ?? subject;
  return { username, full_name: readText(claims, 'name', 100), email, email_verified: email !== null };
}

/**
 * Returns the highest role of the user's groups, or the default one.
 * @returns null when no group has a role
 */
export function resolveRole(groups: readonly string[], settings: OidcSettings): Role | null {
  const { role_map, default_role } = settings;
  const mapped = new Set(groups.flatMap((group) => (Object.hasOwn(role_map, group) ? [role_map[group]] : [])));
  return ROLE_RANK.find((role) => mapped.has(role)) ?? default_role;
}

/** The whole domain counts: `example.com` does not allow `mail.example.com`. */
export function isDomainAllowed(email: string | null, allowed: readonly string[]): boolean {
  if (allowed.length === 0) return true;
  return email !== null && allowed.includes(email.slice(email.lastIndexOf('@') + 1).toLowerCase());
}
