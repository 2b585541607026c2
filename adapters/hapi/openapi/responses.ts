import type { ErrorCodes, MountedRoute, RouteSpec } from '../../../ports/http/index.js';
import type { AccessPolicy } from '../access/access-policy.js';
import { buildRef, type Components } from './components.js';
import { listBranches, getComponentName, type SchemaDescription, type JsonSchema } from './schema-description.js';
import { toInlineSchema, toJsonSchema } from './json-schema.js';
import { toCodeWithoutEnvelope } from '../wire/envelope.js';

type Json = Record<string, unknown>;

const REQUEST_ID_HEADER = { 'X-Request-Id': buildRef('headers', 'RequestId') };
const RATE_HEADERS = {
  'Retry-After': buildRef('headers', 'RetryAfter'),
  'RateLimit-Limit': buildRef('headers', 'Limit'),
  'RateLimit-Remaining': buildRef('headers', 'Remaining'),
  'RateLimit-Reset': buildRef('headers', 'Reset'),
};

export function listOutputs({
  output,
  status = 200,
}: Pick<RouteSpec, 'output' | 'status'>): [number, SchemaDescription | null][] {
  if (output !== undefined && !isOutputSchema(output)) {
    return Object.entries(output).map(([code, schema]) => [Number(code), schema.describe() as SchemaDescription]);
  }
  const described = (output === undefined ? null : output.describe()) as SchemaDescription | null;
  return [status].flat().map((code) => [code, described]);
}

const isOutputSchema = (
  output: NonNullable<RouteSpec['output']>,
): output is Extract<typeof output, { describe(): unknown }> =>
  typeof (output as { describe?: unknown }).describe === 'function';

export function buildResponses(route: MountedRoute, policy: AccessPolicy, id: string, parts: ResponseParts): Json {
  const { spec } = route;
  const outputs = listOutputs(spec);
  const name = (status: number): string =>
    `${id[0]!.toUpperCase()}${id.slice(1)}Answer${outputs.length > 1 ? status : ''}`;
  const successes = outputs.map(([status, described]) => [
    status,
    buildSuccessResponse(spec, described, name(status), parts),
  ]);
  return { ...Object.fromEntries(successes), ...buildErrorResponses(route, policy, parts) };
}

export interface ResponseParts {
  components: Components;
  shared: Record<string, Json>;
  codes: ErrorCodes;
}

function buildSuccessResponse(
  spec: RouteSpec,
  described: SchemaDescription | null,
  name: string,
  { components }: ResponseParts,
): Json {
  const content: Json = {};
  // A route may also answer text of another type on request.
  const forms = described?.type === 'alternatives' ? listBranches(described) : [];
  const texts = described?.type === 'string' ? [described] : forms.filter(isTextSchema);
  const json = texts.length === 0 ? described : (forms.find((form) => !isTextSchema(form)) ?? null);
  if (json !== null) content['application/json'] = { schema: buildAnswerSchema(json, name, spec, components) };
  else if (described === null) content['application/json'] = { schema: wrapInEnvelope({ type: 'object' }, spec) };
  for (const text of texts) {
    const schema = toJsonSchema(text, components.output);
    content[(schema['contentMediaType'] as string | undefined) ?? 'text/plain'] = { schema };
  }
  return { description: 'Success', headers: REQUEST_ID_HEADER, content };
}

const isTextSchema = ({ type }: SchemaDescription): boolean => type === 'string';

function buildAnswerSchema(
  described: SchemaDescription,
  name: string,
  spec: RouteSpec,
  components: Components,
): JsonSchema {
  if (described.type === 'alternatives') {
    const branches = listBranches(described);
    if (branches.length === 1) return buildAnswerSchema(branches[0]!, name, spec, components);
    return { anyOf: branches.map((one, at) => buildAnswerSchema(one, `${name}${at + 1}`, spec, components)) };
  }
  return components.register(
    getComponentName(described) ?? name,
    wrapInEnvelope(toInlineSchema(described, components.output), spec),
  );
}

function wrapInEnvelope(schema: JsonSchema, { bare, plain }: RouteSpec): JsonSchema {
  if (plain === true) return schema;
  const { properties = {}, required = [], ...rest } = schema as { properties?: Json; required?: string[] };
  if (bare === true) {
    const signed = schema['properties'] === undefined || 'signature' in properties;
    return signed ? schema : { ...schema, properties: { ...properties, warnings: WARNINGS_SCHEMA } };
  }
  const all = { status: STATUS_SCHEMAS.success, ...properties, warnings: properties['warnings'] ?? WARNINGS_SCHEMA };
  return { ...rest, properties: all, required: ['status', ...required] };
}

const WARNINGS_SCHEMA = {
  type: 'array',
  items: { type: 'string' },
  description: 'Warnings for an accepted request: unknown fields, and values that were adjusted',
};

const STATUS_SCHEMAS = {
  success: { type: 'string', const: 'success' },
  error: { type: 'string', const: 'error' },
};

function buildErrorResponses({ spec }: MountedRoute, policy: AccessPolicy, { shared, codes }: ResponseParts): Json {
  const byStatus = new Map<number, string[]>();
  for (const code of new Set([...listUsualErrorCodes(spec, policy), ...(spec.errors ?? [])])) {
    const [status] = codes[code] ?? [];
    if (status === undefined)
      throw new TypeError(`${spec.path}: ${code} is not an error code of the service or of a plugin`);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code].toSorted());
  }
  const answers = [...byStatus].map(([status, names]): [string, JsonSchema] => {
    const name = `${spec.bare === true ? 'Bare' : ''}${names.map(toPascalCase).join('Or')}`;
    shared[name] ??= buildErrorResponse(names, codes, status, spec.bare === true);
    return [String(status), buildRef('responses', name)];
  });
  return { ...Object.fromEntries(answers), default: buildRef('responses', spec.bare === true ? 'BareError' : 'Error') };
}

const toPascalCase = (code: string): string =>
  code.replaceAll(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

function listUsualErrorCodes(spec: RouteSpec, policy: AccessPolicy): string[] {
  const query = spec.input?.query && (spec.input.query.describe() as SchemaDescription);
  const streams = spec.input?.stream !== undefined;
  const takesBody = spec.input?.body !== undefined || spec.limits?.payload !== undefined;
  return [
    ...(query !== undefined || spec.strictQuery === true ? ['invalid_request'] : []),
    ...(query?.keys?.['cursor'] === undefined ? [] : ['invalid_cursor']),
    ...(streams ? ['invalid_request', 'payload_too_large', 'unsupported_media_type'] : []),
    ...(takesBody ? ['invalid_json', 'payload_too_large', 'unsupported_media_type'] : []),
    ...(spec.input?.body !== undefined || spec.input?.stream?.multipart ? ['validation_failed'] : []),
    ...(policy.public ? [] : ['unauthorized', 'insufficient_scope']),
    ...(policy.session === null ? [] : ['role_not_allowed', 'csrf_failed']),
    ...(spec.path.includes('{') ? ['not_found'] : []),
    ...(spec.limits?.rate === 'none' && policy.public ? [] : ['rate_limited']),
  ];
}

function buildErrorResponse(names: readonly string[], codes: ErrorCodes, status: number, bare: boolean): Json {
  const [code = ''] = names;
  const message = codes[code]?.[1] ?? '';
  const example = bare
    ? { status: toCodeWithoutEnvelope(code), message }
    : { status: 'error', error: { code, message, request_id: '0199e7a2-4c1e-7000-8000-3f5a1c9d2b47' } };
  return {
    description: names.map((name) => `\`${name}\`: ${codes[name]?.[1]}`).join(' '),
    headers: { ...REQUEST_ID_HEADER, ...(status === 429 && RATE_HEADERS) },
    content: { 'application/json': { schema: buildRef('schemas', bare ? 'BareError' : 'ErrorAnswer'), example } },
  };
}

const buildSchemaResponse = (description: string, schema: string): Json => ({
  description,
  headers: REQUEST_ID_HEADER,
  content: { 'application/json': { schema: buildRef('schemas', schema) } },
});

export const ANY_ERROR_RESPONSE: Json = {
  Error: buildSchemaResponse(
    'Any other error: `internal_error`, `overloaded`, `not_ready`, `insufficient_storage`',
    'ErrorAnswer',
  ),
};
export const ANY_BARE_ERROR_RESPONSE: Json = {
  BareError: buildSchemaResponse('Any other error, without the envelope', 'BareError'),
};

const FIELDS_SCHEMA = {
  type: 'object',
  additionalProperties: { type: 'string' },
  description: 'Path in the input → problem.',
};

export const ERROR_SCHEMA: JsonSchema = {
  type: 'object',
  required: ['status', 'error'],
  properties: {
    status: STATUS_SCHEMAS.error,
    error: {
      type: 'object',
      required: ['code', 'message', 'request_id'],
      properties: {
        code: { type: 'string', description: 'Stable; `x-error-codes` of this document lists all codes.' },
        message: { type: 'string', description: 'One human-readable sentence.' },
        fields: FIELDS_SCHEMA,
        request_id: { type: 'string' },
      },
    },
  },
};

export const BARE_ERROR_SCHEMA: JsonSchema = {
  type: 'object',
  required: ['status', 'message'],
  properties: {
    status: { type: 'string', description: 'The error code.' },
    message: { type: 'string', description: 'One human-readable sentence.' },
    fields: FIELDS_SCHEMA,
  },
};

export const RESPONSE_HEADERS: Json = {
  RequestId: { description: 'The request’s own `X-Request-Id`, or a generated one.', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds to wait.', schema: { type: 'integer' } },
  Limit: { description: 'Number of requests that the bucket allows.', schema: { type: 'integer' } },
  Remaining: { description: 'Calls left.', schema: { type: 'integer' } },
  Reset: { description: 'Seconds until the bucket is full again.', schema: { type: 'integer' } },
};
