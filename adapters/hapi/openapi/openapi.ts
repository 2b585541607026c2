/** OpenAPI 3.1 of the mounted routes (contract 95): made from the table that also mounts them, so it cannot disagree. */
import type { MountedRoute, RouteSpec } from '../../../ports/http.js';
import { AccessPolicy } from '../access/access-policy.js';
import { isRequired, jsonSchema, type Description, type JsonSchema } from './json-schema.js';

type Json = Record<string, unknown>;

const ref = (kind: string, name: string): Json => ({ $ref: `#/components/${kind}/${name}` });

/** The document. @param about `base_url` empty: the server is the one that answered */
export function describeRoutes(routes: readonly MountedRoute[], about: { version: string; base_url: string }): Json {
  const paths: Record<string, Json> = {};
  const ids = new Set<string>();
  const tags = new Set<string>();
  for (const { spec } of routes) {
    if (spec.hidden) continue;
    for (const path of [spec.path, ...(spec.aliases ?? [])]) {
      const address = path.replace(/\{([^*?}]+)[*?]?\d*\}/g, '{$1}');
      for (const method of [spec.method].flat()) {
        tags.add(tagOf(address));
        (paths[address] ??= {})[method.toLowerCase()] = operation(spec, address, uniqueId(ids, method, address));
      }
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'AOS',
      summary: 'Application Operations Service',
      description:
        'Errors and bugs, agents, monitors, releases, licenses. Answers carry `status: success` and the data, or `status: error` and `error.code`; ' +
        'the license endpoints answer without this envelope. Every answer carries `X-Request-Id`. Coding agents can use operations with `x-mcp-tools` ' +
        'as tools of the Model Context Protocol at `POST /mcp`.',
      version: about.version,
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: about.base_url || '/' }],
    tags: [...tags].sort().map((name) => ({ name })),
    paths,
    components: { schemas: SCHEMAS, responses: RESPONSES, headers: HEADERS, securitySchemes: SECURITY },
  };
}

/** `/api/bugtracker/v1/bugs` → `bugtracker`. */
const tagOf = (path: string): string => {
  const [first = 'root', second] = path.split('/').filter((part) => part !== '' && !part.startsWith('{'));
  return first === 'api' ? (second ?? 'api') : first;
};

/** `GET /api/bugtracker/v1/bugs/{id}` → `getBugtrackerBugsById`; a number goes behind the second of a kind. */
function uniqueId(taken: Set<string>, method: string, path: string): string {
  const words = path
    .split('/')
    .filter((part) => part !== '' && part !== 'api' && part !== 'v1')
    .flatMap((part) => part.replace(/^\{/, 'by-').split(/\W+/))
    .filter((word) => word !== '');
  const id = method.toLowerCase() + words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
  let name = id;
  for (let n = 2; taken.has(name); n++) name = `${id}${n}`;
  taken.add(name);
  return name;
}

function operation(spec: RouteSpec, path: string, operationId: string): Json {
  const policy = new AccessPolicy(spec.access, spec.bare);
  const { input, limits } = spec;
  const takesBody = input?.body !== undefined || limits?.payload !== undefined;
  const parameters = [...pathParameters(path, input?.params?.describe()), ...queryParameters(spec)];
  return {
    operationId,
    tags: [tagOf(path)],
    summary: spec.summary,
    ...(spec.description !== undefined && { description: spec.description }),
    security: security(policy),
    ...(spec.tool && { 'x-mcp-tools': [spec.tool].flat().map((tool) => tool.name) }),
    ...(parameters.length > 0 && { parameters }),
    ...(takesBody && { requestBody: requestBody(spec) }),
    responses: { [String(spec.status ?? 200)]: success(spec), ...refusals(spec, policy, takesBody) },
  };
}

function security(policy: AccessPolicy): Json[] {
  if (policy.public) return [];
  const { scopes, anyToken, sharedKey, session } = policy.describe();
  return [
    ...scopes.map((scope) => ({ token: [scope] })),
    ...(anyToken ? [{ token: [] }] : []),
    ...(sharedKey ? [{ sharedKey: [] }] : []),
    ...(session ? [{ session: [session] }] : []),
  ];
}

function pathParameters(path: string, described: Description | undefined): Json[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => {
    const known = described?.keys?.[name];
    return parameter('path', name, known ?? { type: 'string' }, true);
  });
}

function queryParameters({ input }: RouteSpec): Json[] {
  const { keys = {} } = (input?.query?.describe() ?? {}) as Description;
  return Object.entries(keys)
    .filter(([, key]) => key.flags?.presence !== 'forbidden')
    .map(([name, key]) => parameter('query', name, key, isRequired(key)));
}

function parameter(place: 'path' | 'query', name: string, described: Description, required: boolean): Json {
  const { description, ...schema } = jsonSchema(described);
  return {
    name,
    in: place,
    ...(required && { required: true }),
    ...(description !== undefined && { description }),
    schema,
  };
}

function requestBody({ input, limits }: RouteSpec): Json {
  const schema = input?.body ? jsonSchema(input.body.describe()) : {};
  const type = limits?.payload === 'raw' ? 'application/octet-stream' : 'application/json';
  return { required: !(input?.optionalBody ?? false), content: { [type]: { schema } } };
}

function success(spec: RouteSpec): Json {
  const schema = spec.output ? jsonSchema(spec.output.describe()) : { type: 'object' };
  const headers = { 'X-Request-Id': ref('headers', 'RequestId') };
  if (schema['type'] === 'string') return { description: 'Success', headers, content: { 'text/plain': { schema } } };
  return {
    description: 'Success',
    headers,
    content: { 'application/json': { schema: spec.bare || spec.plain ? schema : enveloped(schema) } },
  };
}

function enveloped(schema: JsonSchema): JsonSchema {
  if (schema['type'] !== 'object') return { allOf: [ref('schemas', 'Success'), schema] };
  const { properties = {}, required = [], ...rest } = schema as { properties?: Json; required?: string[] };
  return { ...rest, properties: { status: { const: 'success' }, ...properties }, required: ['status', ...required] };
}

function refusals(spec: RouteSpec, policy: AccessPolicy, takesBody: boolean): Json {
  const name = spec.bare ? 'BareError' : 'Error';
  const answer = ref('responses', name);
  const limited = ref('responses', spec.bare ? 'BareRateLimited' : 'RateLimited');
  return {
    ...((takesBody || spec.input?.query || spec.strictQuery) && { '400': answer }),
    ...(!policy.public && { '401': answer, '403': answer }),
    ...(spec.path.includes('{') && { '404': answer }),
    ...(takesBody && { '413': answer, '415': answer, '422': answer }),
    ...(spec.limits?.rate !== 'none' && { '429': limited }),
    default: answer,
  };
}

const errorFields = {
  type: 'object',
  additionalProperties: { type: 'string' },
  description: 'Path in the input → what is wrong.',
};

const SCHEMAS: Json = {
  Success: { type: 'object', properties: { status: { const: 'success' } }, required: ['status'] },
  Error: {
    type: 'object',
    required: ['status', 'error'],
    properties: {
      status: { const: 'error' },
      error: {
        type: 'object',
        required: ['code', 'message', 'request_id'],
        properties: {
          code: { type: 'string', description: 'Stable; the table of codes is in the documentation.' },
          message: { type: 'string' },
          fields: errorFields,
          request_id: { type: 'string' },
        },
      },
    },
  },
  BareError: {
    type: 'object',
    required: ['status', 'message'],
    properties: {
      status: { type: 'string', description: 'The error code.' },
      message: { type: 'string' },
      fields: errorFields,
    },
  },
};

const HEADERS: Json = {
  RequestId: { description: 'The request’s own `X-Request-Id`, or one made for it.', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds to wait.', schema: { type: 'integer' } },
  Limit: { description: 'Calls that the bucket holds.', schema: { type: 'integer' } },
  Remaining: { description: 'Calls left.', schema: { type: 'integer' } },
  Reset: { description: 'Seconds until the bucket is full again.', schema: { type: 'integer' } },
};

const failed = (description: string, schema: string, headers: Json = {}): Json => ({
  description,
  headers: { 'X-Request-Id': ref('headers', 'RequestId'), ...headers },
  content: { 'application/json': { schema: ref('schemas', schema) } },
});

const rateHeaders = {
  'Retry-After': ref('headers', 'RetryAfter'),
  'RateLimit-Limit': ref('headers', 'Limit'),
  'RateLimit-Remaining': ref('headers', 'Remaining'),
  'RateLimit-Reset': ref('headers', 'Reset'),
};

const RESPONSES: Json = {
  Error: failed('An error', 'Error'),
  BareError: failed('An error, without the envelope', 'BareError'),
  RateLimited: failed('Too many calls', 'Error', rateHeaders),
  BareRateLimited: failed('Too many calls', 'BareError', rateHeaders),
};

const SECURITY: Json = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description: 'A service token. The list names the scope it needs; a `…:manage` scope implies its `…:read`.',
  },
  sharedKey: { type: 'http', scheme: 'bearer', description: 'The value of `security.shared_key`.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'svc_session',
    description: 'A signed-in account; changes also carry `X-CSRF-Token`.',
  },
};
