/**
 * A call is injected into this server's router with the caller's credential, so the same policy,
 * limits and schemas apply.
 */
import type { ServerInjectOptions, ServerInjectResponse } from '@hapi/hapi';
import type { HttpRequest, MountedRoute, RouteSpec, ToolSpec } from '../../../ports/http/index.js';
import type { RouteAnswer, RouteTool, RouteTools } from '../../../ports/tools.js';
import { IncomingRequest, type ToolCallContext } from '../wire/incoming-request.js';
import { buildFailureResponse } from '../wire/envelope.js';
import { Failure } from '../wire/failure.js';
import type { SchemaDescription, JsonSchema } from '../openapi/schema-description.js';
import { toJsonSchema } from '../openapi/json-schema.js';

type InputPart = 'params' | 'query' | 'body';
type InjectRequest = (request: ServerInjectOptions) => Promise<ServerInjectResponse>;

interface ToolArguments {
  properties: Record<string, JsonSchema>;
  required: string[];
  places: Map<string, InputPart>;
}

const FORWARDED_HEADERS = ['authorization', 'x-forwarded-for', 'user-agent'];

/** A name that body and query share belongs to the body. */
const ARGUMENT_SOURCES: readonly InputPart[] = ['params', 'body', 'query'];

function collectArguments({ input }: RouteSpec, tool: ToolSpec): ToolArguments {
  const found: ToolArguments = { properties: {}, required: [], places: new Map() };
  for (const place of ARGUMENT_SOURCES) {
    const schema = input?.[place];
    if (schema === undefined) continue;
    const described = schema.describe() as SchemaDescription;
    const { properties = {}, required = [] } = toJsonSchema(described) as Partial<ToolArguments>;
    for (const [name, schema] of Object.entries(properties)) {
      if (found.places.has(name)) continue;
      const fixed = tool.fixed !== undefined && Object.hasOwn(tool.fixed, name);
      if (!fixed && (tool.omit?.includes(name) || tool.only?.includes(name) === false)) continue;
      found.places.set(name, place);
      if (fixed) continue;
      found.properties[name] = describeArgument(place === 'query' ? allowSingleValue(schema) : schema, tool, name);
      if (required.includes(name)) found.required.push(name);
    }
  }
  return found;
}

function allowSingleValue(schema: JsonSchema): JsonSchema {
  const { type, items } = schema as { type?: unknown; items?: { type?: unknown } };
  if (type !== 'array') return schema;
  const one = typeof items?.type === 'string' ? items.type : 'string';
  return { ...schema, type: [one, 'array'] };
}

function describeArgument(schema: JsonSchema, { describe, defaults, choices }: ToolSpec, name: string): JsonSchema {
  const { description: own, ...bare } = schema as JsonSchema & { description?: unknown };
  const description = describe?.[name] ?? own;
  const chosen = getChoices(choices, name);
  return {
    ...bare,
    ...(chosen !== undefined && { enum: [...chosen] }),
    ...(description !== undefined && description !== '' && { description }),
    ...(defaults !== undefined && Object.hasOwn(defaults, name) && { default: defaults[name] }),
  };
}

const getChoices = (choices: ToolSpec['choices'], name: string): readonly string[] | undefined =>
  choices !== undefined && Object.hasOwn(choices, name) ? choices[name] : undefined;

class MountedTool {
  readonly listed: RouteTool;
  readonly #arguments: ToolArguments;

  constructor(
    private readonly route: RouteSpec,
    private readonly tool: ToolSpec,
  ) {
    this.#arguments = collectArguments(route, tool);
    const { properties, required } = this.#arguments;
    const { name, title, description, readOnly, destructive, idempotent, untrusted, textLimit, answer, refusal } = tool;
    this.listed = {
      name,
      ...(title !== undefined && { title }),
      description,
      ...(readOnly !== undefined && { readOnly }),
      ...(destructive !== undefined && { destructive }),
      ...(idempotent !== undefined && { idempotent }),
      ...(untrusted !== undefined && { untrusted }),
      ...(textLimit !== undefined && { textLimit }),
      ...(answer !== undefined && { answer }),
      ...(refusal !== undefined && { refusal }),
      input: { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false },
    };
  }

  explainArguments(body: Record<string, unknown>): Record<string, unknown> {
    const error = body['error'] as { code?: unknown } | undefined;
    if (error?.code !== 'validation_failed' && error?.code !== 'invalid_request') return body;
    const { properties, required } = this.#arguments;
    const takes = Object.keys(properties).map((name) => (required.includes(name) ? `${name} (required)` : name));
    return { ...body, error: { ...error, takes: takes.join(', ') } };
  }

  buildRequest(
    given: Readonly<Record<string, unknown>>,
  ): Pick<ServerInjectOptions, 'method' | 'url' | 'payload'> | Failure {
    const { places, properties, required } = this.#arguments;
    const args = { ...this.tool.defaults, ...given };
    const unknown = Object.keys(given).filter((name) => !Object.hasOwn(properties, name));
    const missing = required.filter((name) => args[name] === undefined);
    const wrong = Object.entries(given).flatMap(([name, value]) => this.#findInvalidChoices(name, value));
    if (unknown.length + missing.length + wrong.length > 0) {
      const fields = [
        ...missing.map((name) => [name, 'is required']),
        ...wrong,
        ...unknown.map((name) => [name.slice(0, 200), `is not an argument of ${this.tool.name}`]),
      ];
      const message = `Some arguments of ${this.tool.name} are not valid.`;
      return new Failure('validation_failed', message, { fields: Object.fromEntries(fields.slice(0, 50)) });
    }
    const all = Object.entries({ ...args, ...this.tool.fixed });
    const at = (place: InputPart): [string, unknown][] => all.filter(([name]) => places.get(name) === place);
    const url = this.#buildUrl(Object.fromEntries(at('params')), at('query'));
    if (url instanceof Failure) return url;
    const method = [this.route.method].flat()[0]!;
    const body = this.route.input?.body && method !== 'GET' ? JSON.stringify(Object.fromEntries(at('body'))) : null;
    return { method, url, ...(body !== null && { payload: body }) };
  }

  #findInvalidChoices(name: string, value: unknown): [name: string, wrong: string][] {
    const choices = getChoices(this.tool.choices, name);
    if (choices === undefined || typeof value !== 'string' || choices.includes(value)) return [];
    return [[name, `must be one of ${choices.join(', ')}`]];
  }

  #buildUrl(params: Record<string, unknown>, query: [string, unknown][]): string | Failure {
    const names = [...this.route.path.matchAll(/\{([^*?}]+)[^}]*\}/g)].map(([, name]) => name!);
    const wrong = names.find((name) => !isPathSegment(params[name]));
    if (wrong !== undefined) return new Failure('not_found', `No object found for this ${wrong}.`);
    const path = this.route.path.replace(/\{([^*?}]+)[^}]*\}/g, (_, name: string) =>
      encodeURIComponent(String(params[name])),
    );
    const search = new URLSearchParams();
    for (const [name, value] of query) for (const one of toQueryValues(value)) search.append(name, one);
    return search.size === 0 ? path : `${path}?${search.toString()}`;
  }
}

/** `.` and `..` would be resolved, and a lone surrogate cannot be encoded. */
const isPathSegment = (value: unknown): boolean =>
  (typeof value === 'number' || typeof value === 'string') &&
  !['', '.', '..'].includes(String(value)) &&
  !/\p{Cs}/u.test(String(value));

function toQueryValues(value: unknown): string[] {
  return [value].flat().flatMap((one) => {
    if (one === null || one === undefined) return [];
    return [typeof one === 'string' ? one : JSON.stringify(one)];
  });
}

export class RouteToolRegistry implements RouteTools {
  readonly #tools: ReadonlyMap<string, MountedTool>;

  constructor(
    routes: readonly MountedRoute[],
    private readonly inject: InjectRequest,
  ) {
    this.#tools = new Map(
      routes.flatMap(({ spec }) =>
        [spec.tool ?? []].flat().map((tool): [string, MountedTool] => [tool.name, new MountedTool(spec, tool)]),
      ),
    );
  }

  list(): readonly RouteTool[] {
    return [...this.#tools.values()].map(({ listed }) => listed);
  }

  async call(name: string, args: Readonly<Record<string, unknown>>, request: HttpRequest): Promise<RouteAnswer | null> {
    const tool = this.#tools.get(name);
    if (tool === undefined) return null;
    if (!(request instanceof IncomingRequest))
      throw new TypeError('a tool must be called with the request passed to a handler');
    const toolRequest = tool.buildRequest(args);
    if (toolRequest instanceof Failure) {
      const body = tool.explainArguments(parseObject(String(buildFailureResponse(toolRequest, request.id).body)));
      return { status: toolRequest.status, headers: {}, body };
    }
    const { rawHeaders, peer } = request;
    const passed = FORWARDED_HEADERS.flatMap((header) =>
      rawHeaders[header] === undefined ? [] : [[header, rawHeaders[header]]],
    );
    const response = await this.inject({
      ...toolRequest,
      headers: {
        ...(Object.fromEntries(passed) as Record<string, string>),
        'x-request-id': request.id,
        ...(toolRequest.payload !== undefined && { 'content-type': 'application/json' }),
      },
      ...(peer !== undefined && { remoteAddress: peer }),
      app: { counted: 'api', tool: name, outer: request } satisfies ToolCallContext,
    });
    return {
      status: response.statusCode,
      headers: response.headers as Record<string, string>,
      body: tool.explainArguments(parseObject(response.payload)),
    };
  }
}

const parseObject = (json: string): Record<string, unknown> => JSON.parse(json) as Record<string, unknown>;
