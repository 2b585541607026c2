import type { ErrorCodes, MountedRoute, RouteSpec } from '../../../ports/http.js';
import type { AccessPolicy } from '../access/access-policy.js';
import { ref, type Components } from './components.js';
import { branchesOf, nameOf, type SchemaDescription, type JsonSchema } from './description.js';
import { inner, jsonSchema } from './json-schema.js';
import { bareCode } from '../wire/envelope.js';

type Json = Record<string, unknown>;

const REQUEST_ID = { 'X-Request-Id': ref('headers', 'RequestId') };
const RATE_HEADERS = {
  'Retry-After': ref('headers', 'RetryAfter'),
  'RateLimit-Limit': ref('headers', 'Limit'),
  'RateLimit-Remaining': ref('headers', 'Remaining'),
  'RateLimit-Reset': ref('headers', 'Reset'),
};

export function outputsOf({
  output,
  status = 200,
}: Pick<RouteSpec, 'output' | 'status'>): [number, SchemaDescription | null][] {
  if (output !== undefined && !isSchema(output)) {
    return Object.entries(output).map(([code, schema]) => [Number(code), schema.describe() as SchemaDescription]);
  }
  const described = (output === undefined ? null : output.describe()) as SchemaDescription | null;
  return [status].flat().map((code) => [code, described]);
}

const isSchema = (
  output: NonNullable<RouteSpec['output']>,
): output is Extract<typeof output, { describe(): unknown }> =>
  typeof (output as { describe?: unknown }).describe === 'function';

export function responses(route: MountedRoute, policy: AccessPolicy, id: string, parts: ResponseParts): Json {
  const { spec } = route;
  const outputs = outputsOf(spec);
  const name = (status: number): string =>
    `${id[0]!.toUpperCase()}${id.slice(1)}Answer${outputs.length > 1 ? status : ''}`;
  const successes = outputs.map(([status, described]) => [status, success(spec, described, name(status), parts)]);
  return { ...Object.fromEntries(successes), ...refusals(route, policy, parts) };
}

export interface ResponseParts {
  components: Components;
  shared: Record<string, Json>;
  codes: ErrorCodes;
}

function success(
  spec: RouteSpec,
  described: SchemaDescription | null,
  name: string,
  { components }: ResponseParts,
): Json {
  const content: Json = {};
  // A route may also answer text of another type on request.
  const forms = described?.type === 'alternatives' ? branchesOf(described) : [];
  const texts = described?.type === 'string' ? [described] : forms.filter(isText);
  const json = texts.length === 0 ? described : (forms.find((form) => !isText(form)) ?? null);
  if (json !== null) content['application/json'] = { schema: answer(json, name, spec, components) };
  else if (described === null) content['application/json'] = { schema: enveloped({ type: 'object' }, spec) };
  for (const text of texts) {
    const schema = jsonSchema(text, components.output);
    content[(schema['contentMediaType'] as string | undefined) ?? 'text/plain'] = { schema };
  }
  return { description: 'Success', headers: REQUEST_ID, content };
}

const isText = ({ type }: SchemaDescription): boolean => type === 'string';

function answer(described: SchemaDescription, name: string, spec: RouteSpec, components: Components): JsonSchema {
  if (described.type === 'alternatives') {
    const branches = branchesOf(described);
    if (branches.length === 1) return answer(branches[0]!, name, spec, components);
    return { anyOf: branches.map((one, at) => answer(one, `${name}${at + 1}`, spec, components)) };
  }
  return components.keep(nameOf(described) ?? name, enveloped(inner(described, components.output), spec));
}

function enveloped(schema: JsonSchema, { bare, plain }: RouteSpec): JsonSchema {
  if (plain === true) return schema;
  const { properties = {}, required = [], ...rest } = schema as { properties?: Json; required?: string[] };
  if (bare === true) {
    const signed = schema['properties'] === undefined || 'signature' in properties;
    return signed ? schema : { ...schema, properties: { ...properties, warnings: WARNINGS } };
  }
  const all = { status: STATUS.success, ...properties, warnings: properties['warnings'] ?? WARNINGS };
  return { ...rest, properties: all, required: ['status', ...required] };
}

const WARNINGS = {
  type: 'array',
  items: { type: 'string' },
  description:
    'What there is to say of a call that was taken: fields that it does not know, and what was done otherwise',
};

const STATUS = {
  success: { type: 'string', const: 'success' },
  error: { type: 'string', const: 'error' },
};

function refusals({ spec }: MountedRoute, policy: AccessPolicy, { shared, codes }: ResponseParts): Json {
  const byStatus = new Map<number, string[]>();
  for (const code of new Set([...usual(spec, policy), ...(spec.errors ?? [])])) {
    const [status] = codes[code] ?? [];
    if (status === undefined)
      throw new TypeError(`${spec.path}: ${code} is no error code of the service or of a plugin`);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code].toSorted());
  }
  const answers = [...byStatus].map(([status, names]): [string, JsonSchema] => {
    const name = `${spec.bare === true ? 'Bare' : ''}${names.map(pascal).join('Or')}`;
    shared[name] ??= failed(names, codes, status, spec.bare === true);
    return [String(status), ref('responses', name)];
  });
  return { ...Object.fromEntries(answers), default: ref('responses', spec.bare === true ? 'BareError' : 'Error') };
}

const pascal = (code: string): string =>
  code.replaceAll(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

function usual(spec: RouteSpec, policy: AccessPolicy): string[] {
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

function failed(names: readonly string[], codes: ErrorCodes, status: number, bare: boolean): Json {
  const [code = ''] = names;
  const message = codes[code]?.[1] ?? '';
  const example = bare
    ? { status: bareCode(code), message }
    : { status: 'error', error: { code, message, request_id: '0199e7a2-4c1e-7000-8000-3f5a1c9d2b47' } };
  return {
    description: names.map((name) => `\`${name}\`: ${codes[name]?.[1]}`).join(' '),
    headers: { ...REQUEST_ID, ...(status === 429 && RATE_HEADERS) },
    content: { 'application/json': { schema: ref('schemas', bare ? 'BareError' : 'ErrorAnswer'), example } },
  };
}

const whole = (description: string, schema: string): Json => ({
  description,
  headers: REQUEST_ID,
  content: { 'application/json': { schema: ref('schemas', schema) } },
});

export const ANY_ERROR: Json = {
  Error: whole('Any other error: `internal_error`, `overloaded`, `not_ready`, `insufficient_storage`', 'ErrorAnswer'),
};
export const ANY_BARE_ERROR: Json = { BareError: whole('Any other error, without the envelope', 'BareError') };

const fields = {
  type: 'object',
  additionalProperties: { type: 'string' },
  description: 'Path in the input → what is wrong.',
};

export const ERROR: JsonSchema = {
  type: 'object',
  required: ['status', 'error'],
  properties: {
    status: STATUS.error,
    error: {
      type: 'object',
      required: ['code', 'message', 'request_id'],
      properties: {
        code: { type: 'string', description: 'Stable; `x-error-codes` of this document names them all.' },
        message: { type: 'string', description: 'One sentence for a person.' },
        fields,
        request_id: { type: 'string' },
      },
    },
  },
};

export const BARE_ERROR: JsonSchema = {
  type: 'object',
  required: ['status', 'message'],
  properties: {
    status: { type: 'string', description: 'The error code.' },
    message: { type: 'string', description: 'One sentence for a person.' },
    fields,
  },
};

export const HEADERS: Json = {
  RequestId: { description: 'The request’s own `X-Request-Id`, or one made for it.', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds to wait.', schema: { type: 'integer' } },
  Limit: { description: 'Calls that the bucket holds.', schema: { type: 'integer' } },
  Remaining: { description: 'Calls left.', schema: { type: 'integer' } },
  Reset: { description: 'Seconds until the bucket is full again.', schema: { type: 'integer' } },
};
