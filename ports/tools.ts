/**
 * Routes as tools: what the MCP endpoint lists and calls. A call goes through the same pipeline as a request of its own
 * (credential, scopes, limits, validation, envelope), so there is one set of rules. Rejected: calling a route's
 * `handle` directly, which would know none of these.
 */
import type { HttpRequest, ToolSpec } from './http.js';

export { UserText, type UserTextPart } from './http/tool.js';

export interface RouteTool extends Pick<
  ToolSpec,
  | 'name'
  | 'title'
  | 'description'
  | 'readOnly'
  | 'destructive'
  | 'idempotent'
  | 'untrusted'
  | 'textLimit'
  | 'answer'
  | 'refusal'
> {
  /** JSON Schema 2020-12 of the arguments, an object. */
  input: Record<string, unknown>;
}

/** What the route answered, the envelope included. */
export interface RouteAnswer {
  status: number;
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  body: Record<string, unknown>;
}

export interface RouteTools {
  list(): readonly RouteTool[];
  /**
   * Calls a tool with the credential, the address and the id of `request`, which must be the one that a handler was
   * given. That request has been counted by its rate limit, so one of the same class is not counted again. Null: there
   * is no such tool.
   */
  call(name: string, args: Readonly<Record<string, unknown>>, request: HttpRequest): Promise<RouteAnswer | null>;
}
