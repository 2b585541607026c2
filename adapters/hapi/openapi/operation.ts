import type { MountedRoute, RouteSpec, StreamedInput } from '../../../ports/http/index.js';
import { AccessPolicy } from '../access/access-policy.js';
import { SESSION_COOKIE } from '../access/csrf.js';
import { toCookieName } from '../wire/cookies.js';
import type { Components } from './components.js';
import { isListed, isRequired, type SchemaDescription } from './schema-description.js';
import { toJsonSchema } from './json-schema.js';
import { buildResponses, type ResponseParts } from './responses.js';

type Json = Record<string, unknown>;

export function buildOperation(
  route: MountedRoute,
  place: { method: string; path: string; tag: string },
  operationId: string,
  parts: ResponseParts,
): Json {
  const { spec } = route;
  const { components } = parts;
  const policy = new AccessPolicy(spec.access, spec.bare);
  const parameters = [
    ...buildPathParameters(place.path, spec.input?.params && spec.input.params.describe(), components),
    ...buildQueryParameters(spec, components),
    ...buildHeaderParameters(spec, policy, place.method),
  ];
  const body = place.method === 'GET' ? null : buildRequestBody(spec, operationId, components);
  return {
    operationId,
    tags: [place.tag],
    summary: spec.summary,
    description: spec.description ?? `${spec.summary}.`,
    security: buildSecurity(policy, spec),
    ...(spec.tool && { 'x-mcp-tools': [spec.tool].flat().map((tool) => tool.name) }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: body }),
    responses: buildResponses(route, policy, operationId, parts),
  };
}

function buildSecurity(policy: AccessPolicy, { credentialIn = [] }: RouteSpec): Json[] {
  if (policy.public) return [];
  if (policy.basic) return [{ basic: [] }];
  const { scopes, anyToken, sharedKey, session, intake } = policy.describe();
  const places = credentialIn.map((place) => ({ [toSchemeName(place)]: [] }));
  if (places.length > 0) return places;
  return [
    ...scopes.map((scope) => ({ token: [scope] })),
    ...(anyToken ? [{ token: [] }] : []),
    ...(intake ? [{ intakeKey: [] }] : []),
    ...(sharedKey ? [{ sharedKey: [] }] : []),
    ...(session ? [{ session: [session] }] : []),
  ];
}

const toSchemeName = ({ name }: { name: string }): string =>
  name.toLowerCase().replaceAll(/[^a-z0-9]+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

const buildBearerScheme = (description: string): Json => ({ type: 'http', scheme: 'bearer', description });

/** @param routes for those with their own credential location */
export function buildSecuritySchemes(routes: readonly MountedRoute[], secure: boolean): Json {
  const own = routes.flatMap(({ spec }) => (spec.hidden === true ? [] : (spec.credentialIn ?? [])));
  return {
    token: buildBearerScheme(
      'A service token. The list contains the required scope; a `…:manage` scope implies its `…:read`.',
    ),
    sharedKey: buildBearerScheme('The value of `security.shared_key`.'),
    intakeKey: buildBearerScheme('A public intake key of a project, which can only report errors.'),
    basic: { type: 'http', scheme: 'basic', description: 'Required only where the path is protected.' },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: toCookieName(SESSION_COOKIE, secure),
      description: 'A signed-in account; changes also require `X-CSRF-Token`.',
    },
    ...Object.fromEntries(
      own.map((place) => [
        toSchemeName(place),
        {
          type: 'apiKey',
          ...place,
          description: 'The intake key, where the client’s protocol sends it.',
        },
      ]),
    ),
  };
}

function buildPathParameters(path: string, described: SchemaDescription | undefined, components: Components): Json[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) =>
    buildParameter('path', name, described?.keys?.[name] ?? { type: 'string' }, true, components),
  );
}

function buildQueryParameters({ input, credentialIn = [] }: RouteSpec, components: Components): Json[] {
  const { keys = {} } = (input?.query === undefined ? {} : input.query.describe()) as SchemaDescription;
  return Object.entries(keys)
    .filter(([name, key]) => isListed(key) && !credentialIn.some((place) => place.name === name))
    .map(([name, key]) => buildParameter('query', name, key, isRequired(key), components));
}

function buildHeaderParameters({ input }: RouteSpec, policy: AccessPolicy, method: string): Json[] {
  const changes = policy.session !== null && method !== 'GET';
  const all = {
    ...input?.headers,
    ...(changes && { 'X-CSRF-Token': 'With a session: the CSRF token of its pages.' }),
  };
  return Object.entries(all).map(([name, description]) => ({
    name,
    in: 'header',
    description,
    schema: { type: 'string' },
  }));
}

function buildParameter(
  place: 'path' | 'query',
  name: string,
  described: SchemaDescription,
  required: boolean,
  components: Components,
): Json {
  const { description, ...schema } = toJsonSchema(described, components.input);
  return {
    name,
    in: place,
    ...(required && { required: true }),
    ...(description !== undefined && { description }),
    schema,
  };
}

const BINARY_SCHEMA: Json = { type: 'string', format: 'binary' };
const STRING_SCHEMA: Json = { type: 'string' };

function buildStreamedBody({ mediaTypes, multipart }: StreamedInput): Json {
  const types = Object.fromEntries(mediaTypes.map((type) => [type, { schema: BINARY_SCHEMA }]));
  if (multipart === undefined) return types;
  const { file, fields } = multipart;
  const properties = { [file]: BINARY_SCHEMA, ...Object.fromEntries(fields.map((name) => [name, STRING_SCHEMA])) };
  // The form comes first, because openapi-generator reads only the first type.
  return { 'multipart/form-data': { schema: { type: 'object', required: [file], properties } }, ...types };
}

function buildRequestBody(spec: RouteSpec, operationId: string, components: Components): Json | null {
  const { input, limits } = spec;
  const required = !(input?.optionalBody ?? false);
  if (input?.stream) return { required: true, content: buildStreamedBody(input.stream) };
  if (limits?.payload === 'raw') {
    const types = [input?.mediaType ?? 'application/octet-stream'].flat();
    return { required, content: Object.fromEntries(types.map((type) => [type, { schema: BINARY_SCHEMA }])) };
  }
  if (input?.body === undefined) return null;
  const described = input.body.describe() as SchemaDescription;
  const empty = described.type === 'object' && Object.keys(described.keys ?? {}).length === 0 && !described.patterns;
  if (empty && !required) return null;
  const name = `${operationId[0]!.toUpperCase()}${operationId.slice(1)}Body`;
  return {
    required,
    content: Object.fromEntries(
      [input.mediaType ?? 'application/json']
        .flat()
        .map((type) => [type, { schema: components.buildBodySchema(described, name) }]),
    ),
  };
}
