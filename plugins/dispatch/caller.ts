/** Who asks, for the history, and what their token may touch. */
import type { Principal } from '../../kernel/contract.js';

/** The only project that the caller may touch; null: all. */
export const getBoundProject = (principal: Principal): string | null =>
  principal.kind === 'token' ? principal.project : null;

/** At most 100 characters. */
export function getCallerName(principal: Principal): string {
  if (principal.kind === 'session') return principal.username.slice(0, 100);
  return principal.kind === 'token' ? principal.name.slice(0, 100) : principal.kind;
}
