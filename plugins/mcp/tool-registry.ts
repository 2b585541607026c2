import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import type { HttpRequest } from '../../ports/http/index.js';
import type { RouteAnswer, RouteTool, RouteTools } from '../../ports/tools.js';
import { MAX_TEXT_CHARACTERS, DEFAULT_TEXT_CHARACTERS, buildToolResult } from './tool-result.js';
import { simplifySchema } from './input-schema.js';

const MIN_TEXT_CHARACTERS = 200;
/**
 * Argument that read-only tools get in addition to the route's own: characters shown of each long
 * text.
 */
const TEXT_LIMIT_ARGUMENT = 'text_limit';
const TEXT_LIMIT_SCHEMA = { type: 'integer' };

export class ToolRegistry {
  readonly #tools = new Map<string, { route: RouteTool; listed: Tool }>();

  constructor(private readonly routes: RouteTools) {
    for (const route of routes.list()) this.#tools.set(route.name, { route, listed: toTool(route) });
  }

  listTools(): Tool[] {
    return [...this.#tools.values()].map((tool) => tool.listed);
  }

  async callTool(name: string, args: Record<string, unknown>, request: HttpRequest): Promise<CallToolResult | null> {
    const route = this.#tools.get(name)?.route;
    if (route === undefined) return null;
    const { [TEXT_LIMIT_ARGUMENT]: requestedLimit, ...rest } = args;
    const own = hasTextLimit(route);
    const limit = own ? (requestedLimit ?? DEFAULT_TEXT_CHARACTERS) : (route.textLimit ?? DEFAULT_TEXT_CHARACTERS);
    if (!isTextLimit(limit)) return buildToolResult(buildLimitError(request.id));
    const answer = await this.routes.call(name, own ? rest : args, request);
    const { untrusted: outside = [], answer: shape, refusal } = route;
    return answer && buildToolResult(answer, { outside, textLimit: limit, answer: shape, refusal });
  }
}

const isTextLimit = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= MIN_TEXT_CHARACTERS && value <= MAX_TEXT_CHARACTERS;

const buildLimitError = (requestId: string): RouteAnswer => ({
  status: 422,
  headers: {},
  body: {
    error: {
      code: 'validation_failed',
      message: 'Some arguments are not valid.',
      fields: { [TEXT_LIMIT_ARGUMENT]: `must be a whole number from ${MIN_TEXT_CHARACTERS} to ${MAX_TEXT_CHARACTERS}` },
      request_id: requestId,
    },
  },
});

/** A tool that shows short texts by design has no such argument. */
const hasTextLimit = (route: RouteTool): boolean =>
  route.readOnly === true &&
  route.textLimit === undefined &&
  !Object.hasOwn(route.input['properties'] as object, TEXT_LIMIT_ARGUMENT);

/**
 * Every agent reads the list on start, so it omits output schemas and includes only hints that
 * clients use to ask for confirmation.
 */
function toTool(route: RouteTool): Tool {
  const { name, title, description } = route;
  const input = simplifySchema(route.input) as Tool['inputSchema'];
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: hasTextLimit(route)
      ? { ...input, properties: { ...input.properties, [TEXT_LIMIT_ARGUMENT]: TEXT_LIMIT_SCHEMA } }
      : input,
    ...toAnnotations(route),
  };
}

/** Returns hints that differ from the protocol's defaults, by which a tool is destructive. */
function toAnnotations({ readOnly, destructive, idempotent }: RouteTool): Pick<Tool, 'annotations'> {
  const hints = {
    // Codex asks for confirmation unless a tool is marked as non-destructive and closed-world.
    ...(readOnly === true
      ? { readOnlyHint: true }
      : destructive !== true && { destructiveHint: false, openWorldHint: false }),
    ...(readOnly !== true && idempotent === true && { idempotentHint: true }),
  };
  return Object.keys(hints).length === 0 ? {} : { annotations: hints };
}
