import type { Principal } from '../../../kernel/contract/index.js';
import { denied } from '../../../kernel/errors.js';

/** @throws ServiceError insufficient_scope when the token is for another project */
export function checkProductAccess(principal: Principal, product: string): void {
  if (principal.kind !== 'token' || principal.project === null || principal.project === product) return;
  throw denied(`The token is limited to project ${principal.project}.`);
}

export const getTokenProduct = (principal: Principal): string | null =>
  principal.kind === 'token' ? principal.project : null;

export function getCallerName(principal: Principal): string {
  if (principal.kind === 'session') return principal.username;
  if (principal.kind === 'token') return `token ${principal.name}`;
  return principal.kind === 'shared_key' ? 'shared key' : 'public';
}
