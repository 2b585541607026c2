/** The caller and its project (contract 10, tokens). */
import type { Principal } from '../../kernel/contract.js';

/** The only project that the caller may touch; null: all. */
export const getOwnProject = (principal: Principal): string | null =>
  principal.kind === 'token' ? principal.project : null;

/** At most 100 characters. */
export function getPrincipalName(principal: Principal): string {
  if (principal.kind === 'session') return principal.username.slice(0, 100);
  return principal.kind === 'token' ? principal.name.slice(0, 100) : principal.kind.replace('_', ' ');
}

/**
 * Whether the caller may say which host shows a page, beyond those of `statuspages.hosts`: such a host shows nothing
 * else, the login of the service included, so a wrong name shuts others out of it.
 */
export const canSetHost = (principal: Principal): boolean => principal.kind === 'session' && principal.role === 'admin';
