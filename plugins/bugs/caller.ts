import { requireProject, ServiceError } from '../../kernel/errors.js';
import type { HttpRequest, Principal } from '../../ports/http/index.js';

export interface BugCaller {
  /** Token id, or `user:<account id>`. Leases and reports belong to it. */
  id: string;
  name: string;
  /** Null for all. */
  project: string | null;
  manage: boolean;
  kind: 'token' | 'session' | 'system';
  agent?: string;
  by_tool?: boolean;
}

/** Derived from the credential, because a token may choose any name. */
export type AuthorKind = 'person' | 'agent' | 'integration';

/** Forges, user feedback and other plugins act as the system. */
export const getAuthorKind = ({ kind }: Pick<BugCaller, 'kind'>): AuthorKind =>
  kind === 'session' ? 'person' : kind === 'token' ? 'agent' : 'integration';

export const SYSTEM_CALLER: BugCaller = { id: 'system', name: 'system', project: null, manage: true, kind: 'system' };

/** @throws ServiceError unauthorized when the caller is not authenticated */
export const getRequestCaller = ({ principal, tool }: Pick<HttpRequest, 'principal' | 'tool'>): BugCaller => ({
  ...toBugCaller(principal),
  by_tool: tool !== undefined,
});

/** @throws ServiceError unauthorized when the caller is not authenticated */
export function toBugCaller(principal: Principal): BugCaller {
  if (principal.kind === 'session') {
    return {
      id: `user:${principal.account_id}`,
      name: principal.username,
      project: null,
      manage: true,
      kind: 'session',
    };
  }
  if (principal.kind === 'token') {
    const { id, name, project, scopes, agent } = principal;
    const manage = scopes.includes('bugtracker:manage');
    return { id, name, project, manage, kind: 'token', ...(agent !== undefined && { agent }) };
  }
  throw new ServiceError('unauthorized', 'Requires a token.');
}

/**
 * @throws ServiceError insufficient_scope for a project other than the token's (contract 10,
 *   tokens)
 */
export const checkProjectAccess = (caller: BugCaller, project: string): void => requireProject(caller.project, project);
