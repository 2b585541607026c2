/** Lists and calls the routes' tools for MCP. */
import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import type { HttpRequest } from '../../ports/http.js';
import type { RouteAnswer, RouteTool, RouteTools } from '../../ports/tools.js';
import { MOST_TEXT, TEXT, toolResult } from './result.js';
import { lean } from './schema.js';

const LEAST_TEXT = 200;
/** The only argument that is not the route's own: how much of each long text is shown. For tools that only read. */
const TEXT_LIMIT = 'text_limit';
const TEXT_LIMIT_SCHEMA = { type: 'integer' };

export class Toolbox {
  readonly #tools = new Map<string, { route: RouteTool; listed: Tool }>();

  constructor(private readonly routes: RouteTools) {
    for (const route of routes.list()) this.#tools.set(route.name, { route, listed: listed(route) });
  }

  list(): Tool[] {
    return [...this.#tools.values()].map((tool) => tool.listed);
  }

  /** Null: there is no such tool. */
  async call(name: string, args: Record<string, unknown>, request: HttpRequest): Promise<CallToolResult | null> {
    const route = this.#tools.get(name)?.route;
    if (route === undefined) return null;
    const { [TEXT_LIMIT]: asked, ...rest } = args;
    const own = takesTextLimit(route);
    const limit = own ? (asked ?? route.textLimit ?? TEXT) : TEXT;
    if (!isLimit(limit)) return toolResult(wrongLimit(request.id));
    const answer = await this.routes.call(name, own ? rest : args, request);
    const { untrusted: outside = [], answer: shown, lines, heading } = route;
    return answer && toolResult(answer, { outside, textLimit: limit, answer: shown, lines, heading });
  }
}

const isLimit = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= LEAST_TEXT && value <= MOST_TEXT;

const wrongLimit = (requestId: string): RouteAnswer => ({
  status: 422,
  headers: {},
  body: {
    error: {
      code: 'validation_failed',
      message: 'Some arguments are wrong.',
      fields: { [TEXT_LIMIT]: `must be a whole number from ${LEAST_TEXT} to ${MOST_TEXT}` },
      request_id: requestId,
    },
  },
});

const takesTextLimit = (route: RouteTool): boolean =>
  route.readOnly === true && !Object.hasOwn(route.input['properties'] as object, TEXT_LIMIT);

/**
 * No output schema: it would make up most of the list, and the answer is fenced, cut and shortened anyway. Hints that
 * equal the protocol's defaults are left out.
 */
function listed(route: RouteTool): Tool {
  const { name, title, description, readOnly = false, destructive = false, idempotent = readOnly } = route;
  const input = lean(route.input) as Tool['inputSchema'];
  return {
    name,
    title,
    description,
    inputSchema: takesTextLimit(route)
      ? { ...input, properties: { ...input.properties, [TEXT_LIMIT]: TEXT_LIMIT_SCHEMA } }
      : input,
    // A tool reaches nothing but this service.
    annotations: {
      ...(readOnly
        ? { readOnlyHint: true }
        : { destructiveHint: destructive, ...(idempotent && { idempotentHint: true }) }),
      openWorldHint: false,
    },
  };
}
