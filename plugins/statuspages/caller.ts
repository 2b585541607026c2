import type { Principal } from '../../kernel/contract/index.js';

export const getTokenProject = (principal: Principal): string | null =>
  principal.kind === 'token' ? principal.project : null;

/** At most 100 characters. */
export function getPrincipalName(principal: Principal): string {
  if (principal.kind === 'session') return principal.username.slice(0, 100);
  return principal.kind === 'token' ? principal.name.slice(0, 100) : principal.kind.replace('_', ' ');
}

/** A host outside `statuspages.hosts` shows no login, so a wrong name locks users out. */
export const canSetHost = (principal: Principal): boolean => principal.kind === 'session' && principal.role === 'admin';
