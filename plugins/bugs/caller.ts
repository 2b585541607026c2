/** The caller of a service of this plugin: a token, a person, or the service itself. */
import { requireProject, ServiceError } from '../../kernel/errors.js';
import type { HttpRequest, Principal } from '../../ports/http.js';

export interface BugCaller {
  /** Token id, or `user:<account id>`. Leases and reports belong to it. */
  id: string;
  /** The name in the history: a token's name or an account's name. */
  name: string;
  /** The only project that this caller may touch; null: all. */
  project: string | null;
  /** May work on items, not only report them. */
  manage: boolean;
  kind: 'token' | 'session' | 'system';
  /** The only agent name that the caller's token may claim under. */
  agent?: string;
  /** An agent calls a tool (MCP) instead of the route. Text that the agent read may have talked it into the call. */
  by_tool?: boolean;
}

/** Who wrote a comment, by the credential and not by the name: a token may call itself anything. */
export type AuthorKind = 'person' | 'agent' | 'integration';

/** Forges, feedback of an application's users and other plugins act as the system. */
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
  throw new ServiceError('unauthorized', 'This needs a token.');
}

/** @throws ServiceError insufficient_scope for another project than the token's own (contract 10, tokens) */
export const checkProjectAccess = (caller: BugCaller, project: string): void => requireProject(caller.project, project);
