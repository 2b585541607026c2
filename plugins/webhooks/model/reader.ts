/** Who reads, and how much of a webhook they may see (contract 10, roles and tokens; contract 70, delivery). Pure. */
import type { Principal } from '../../../kernel/contract.js';

/** How much of receivers' answers: all, none, or those from public addresses alone. */
export type ReaderAccess = 'all' | 'public' | 'none';

/** A token that is bound to a project sees and touches that project's alone. */
export const getBoundProject = (principal: Principal): string | null =>
  principal.kind === 'token' ? principal.project : null;

/** Members see neither answers nor whole URLs, and change nothing. */
export const isAdmin = (principal: Principal): boolean => principal.kind !== 'session' || principal.role === 'admin';

/** What a private address answers is for administrators and for tokens of the whole service. */
export function getReaderAccess(principal: Principal): ReaderAccess {
  if (!isAdmin(principal)) return 'none';
  return getBoundProject(principal) === null ? 'all' : 'public';
}

/** Scheme and host: a URL may carry a secret in its path. */
export const getUrlOrigin = (url: string): string => (URL.canParse(url) ? new URL(url).origin : '');
