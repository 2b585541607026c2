import type { Principal } from '../../../kernel/contract/index.js';

export type ReaderAccess = 'all' | 'public' | 'none';

/** Returns null for all. */
export const getBoundProject = (principal: Principal): string | null =>
  principal.kind === 'token' ? principal.project : null;

/** Members see no responses or full URLs and change nothing. */
export const isAdmin = (principal: Principal): boolean => principal.kind !== 'session' || principal.role === 'admin';

/** Private addresses' responses are for administrators and tokens of the whole service. */
export function getReaderAccess(principal: Principal): ReaderAccess {
  if (!isAdmin(principal)) return 'none';
  return getBoundProject(principal) === null ? 'all' : 'public';
}

/** The path may contain a secret. */
export const getUrlOrigin = (url: string): string => (URL.canParse(url) ? new URL(url).origin : '');
