import type { Principal } from '../../../kernel/contract.js';

export type ReaderAccess = 'all' | 'public' | 'none';

/** Returns the only project that a token may access, or null. */
export const getBoundProject = (principal: Principal): string | null =>
  principal.kind === 'token' ? principal.project : null;

/** Members see neither responses nor full URLs, and cannot change anything. */
export const isAdmin = (principal: Principal): boolean => principal.kind !== 'session' || principal.role === 'admin';

/** Responses of private addresses are for administrators and tokens of the whole service. */
export function getReaderAccess(principal: Principal): ReaderAccess {
  if (!isAdmin(principal)) return 'none';
  return getBoundProject(principal) === null ? 'all' : 'public';
}

/** Returns scheme and host, because the path may contain a secret. */
export const getUrlOrigin = (url: string): string => (URL.canParse(url) ? new URL(url).origin : '');
