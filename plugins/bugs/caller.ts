/** Who calls a service of this plugin, whichever way the call came in. */
import { denied, ServiceError } from '../../kernel/errors.js';
import type { HttpRequest, Principal } from '../../ports/http.js';

export interface Caller {
  /** Token id, or `user:<account id>`: what a lease and a report belong to. */
  id: string;
  /** What history shows: a token's name, an account's name. */
  name: string;
  /** The only project that this caller may touch; null: all. */
  project: string | null;
  /** May work on items, not only report them. */
  manage: boolean;
  kind: 'token' | 'session' | 'system';
  /** An agent calls a tool (MCP) instead of the route: it may have been talked into it by what it read. */
  by_tool?: boolean;
}

export const SYSTEM_CALLER: Caller = { id: 'system', name: 'system', project: null, manage: true, kind: 'system' };

/** @throws ServiceError unauthorized when nobody is asking */
export const callerIn = ({ principal, tool }: Pick<HttpRequest, 'principal' | 'tool'>): Caller => ({
  ...callerOf(principal),
  by_tool: tool !== undefined,
});

/** @throws ServiceError unauthorized when nobody is asking */
export function callerOf(principal: Principal): Caller {
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
    const { id, name, project, scopes } = principal;
    return { id, name, project, manage: scopes.includes('bugtracker:manage'), kind: 'token' };
  }
  throw new ServiceError('unauthorized', 'This needs a token.');
}

/** @throws ServiceError insufficient_scope for another project than the token's own (contract 10, tokens) */
export function mayTouch(caller: Caller, project: string): void {
  if (caller.project !== null && caller.project !== project) throw denied('This token belongs to another project.');
}
