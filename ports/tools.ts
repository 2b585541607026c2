/** Routes as tools for the MCP endpoint. */
import type { HttpRequest, ToolSpec } from './http/index.js';

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

/** Response with its envelope. */
export interface RouteAnswer {
  status: number;
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  body: Record<string, unknown>;
}

export interface RouteTools {
  list(): readonly RouteTool[];
  /**
   * Calls a tool with credential, address and id of the handler's own `request`. Its rate limit
   * class is not counted again.
   * @returns null for an unknown tool
   */
  call(name: string, args: Readonly<Record<string, unknown>>, request: HttpRequest): Promise<RouteAnswer | null>;
}
