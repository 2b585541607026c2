import type { Principal } from '../../kernel/contract/index.js';

/** Returns the only project that the caller may access; null: all. */
export const getBoundProject = (principal: Principal): string | null =>
  principal.kind === 'token' ? principal.project : null;

export function getCallerName(principal: Principal): string {
  if (principal.kind === 'session') return principal.username.slice(0, 100);
  return principal.kind === 'token' ? principal.name.slice(0, 100) : principal.kind;
}
