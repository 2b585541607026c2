/**
 * Renders the OpenAPI description: operations in groups with fields, answers and a curl command.
 * The index only reads names; fields are rendered per group on demand, because all together would
 * block the event loop.
 */
import { buildExample, resolveSchema, buildSchemaRows, describeType, type SchemaRow } from './schema.js';

type JsonObject = Record<string, unknown>;

export interface OperationRef {
  id: string;
  method: string;
  path: string;
  summary: string;
}

export interface ApiOperation extends OperationRef {
  description: string;
  access: string;
  parameters: (SchemaRow & { place: string })[];
  body: { rows: SchemaRow[]; type: string; required: boolean } | null;
  answers: { status: string; text: string; rows: SchemaRow[] }[];
  curl: string;
}

export interface ApiGroup {
  id: string;
  title: string;
  text: string;
  operations: OperationRef[];
}

const HTTP_METHODS = new Set(['get', 'post', 'put', 'patch', 'delete']);
const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const getText = (tree: JsonObject, key: string): string => (typeof tree[key] === 'string' ? tree[key] : '');
const toList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const toJsonObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

export function quoteForShell(value: string): string {
  return /^[\w./:@%+=,-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}

/** Titles of tags that are abbreviations or parts of a path. */
const GROUP_TITLES = new Map([
  ['otlp', 'OTLP'],
  ['mcp', 'MCP'],
  ['0', 'Source maps'],
]);

function getGroup(spec: JsonObject): { id: string; tag: string; title: string } {
  const tag =
    toList(spec['tags']).find((one): one is string => typeof one === 'string' && /[a-z0-9]/i.test(one)) ?? 'other';
  return { id: tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'), tag, title: GROUP_TITLES.get(tag) ?? tag };
}

function getContentSchema(content: unknown): { type: string; schema: unknown } | null {
  const [entry] = Object.entries(toJsonObject(content));
  return entry ? { type: entry[0], schema: toJsonObject(entry[1])['schema'] } : null;
}

/** Readable texts of the security schemes. */
const SECURITY_SCHEME_TEXTS = new Map<string, (needs: string) => string>(
  Object.entries({
    token: (scopes) => (scopes ? `a token with ${scopes}` : 'any token'),
    sharedKey: () => 'the shared key',
    session: (roles) => `a session (${roles || 'any role'})`,
  }),
);

function describeAccess(security: unknown): string {
  const ways = toList(security).map((way) => {
    const names = Object.entries(toJsonObject(way));
    if (names.length === 0) return 'no credential';
    return names
      .map(([name, needs]) => {
        const what = toList(needs).join(', ');
        return SECURITY_SCHEME_TEXTS.get(name)?.(what) ?? (what ? `${name} (${what})` : name);
      })
      .join(' and ');
  });
  return ways.length === 0 ? 'no credential' : [...new Set(ways)].join(', or ');
}

/** Where a command puts the credential; double quotes let the shell expand variables. */
interface CurlCredential {
  query?: string;
  option?: string;
}

function selectCredential(security: unknown, document: JsonObject): CurlCredential {
  const schemes = toJsonObject(toJsonObject(document['components'])['securitySchemes']);
  const names = toList(security).flatMap((way) => Object.keys(toJsonObject(way)));
  const name = names.find((one) => getText(toJsonObject(schemes[one]), 'in') === 'query') ?? names[0];
  if (name === undefined) return {};
  const way = toJsonObject(schemes[name]);
  const place = getText(way, 'in');
  if (place === 'query') return { query: `?${encodeURIComponent(getText(way, 'name'))}=$AOS_INTAKE_KEY` };
  if (place === 'cookie') return { option: `-b "${getText(way, 'name')}=$AOS_SESSION"` };
  if (place === 'header') return { option: `-H "${getText(way, 'name')}: $AOS_INTAKE_KEY"` };
  if (getText(way, 'scheme') === 'basic') return { option: '-u "$AOS_USER:$AOS_PASSWORD"' };
  return { option: `-H "Authorization: Bearer ${BEARER_VARIABLES.get(name) ?? '$SVC_TOKEN'}"` };
}

const BEARER_VARIABLES = new Map([
  ['sharedKey', '$SVC_SHARED_KEY'],
  ['intakeKey', '$AOS_INTAKE_KEY'],
]);

function buildCurlCommand(
  method: string,
  path: string,
  baseUrl: string,
  { query, option }: CurlCredential,
  body: { type: string; schema: unknown } | null,
  document: JsonObject,
): string {
  const place = quoteForShell(baseUrl.replace(/\/$/, '') + path);
  const url = query === undefined ? place : `${place}"${query}"`;
  const lines = [`curl ${method === 'GET' ? '' : `-X ${method} `}${url}`];
  if (option !== undefined) lines.push(option);
  if (body) {
    lines.push(`-H ${quoteForShell(`Content-Type: ${body.type}`)}`);
    const example = body.type.includes('json') ? JSON.stringify(buildExample(body.schema, document)) : '…';
    lines.push(`-d ${quoteForShell(example)}`);
  }
  return lines.join(' \\\n  ');
}

function buildOperation(ref: OperationRef, document: JsonObject, baseUrl: string): ApiOperation {
  const { method, path } = ref;
  const item = toJsonObject(toJsonObject(document['paths'])[path]);
  const spec = toJsonObject(item[method.toLowerCase()]);
  const body = getContentSchema(resolveSchema(spec['requestBody'], document)['content']);
  const security = spec['security'] ?? document['security'];
  const parameters = [...toList(item['parameters']), ...toList(spec['parameters'])].map((one) => {
    const parameter = resolveSchema(one, document);
    const schema = parameter['schema'];
    const [row] = buildSchemaRows({ properties: { x: schema } }, document);
    return {
      name: getText(parameter, 'name'),
      place: getText(parameter, 'in'),
      type: describeType(schema, document),
      required: parameter['required'] === true,
      text: getText(parameter, 'description') || (row?.text ?? ''),
    };
  });
  const answers = Object.entries(toJsonObject(spec['responses'])).map(([status, answer]) => {
    const found = resolveSchema(answer, document);
    const content = getContentSchema(found['content']);
    // All errors share one shape, explained in the overview, so only successes are rendered.
    const rows = content && status.startsWith('2') ? buildSchemaRows(content.schema, document) : [];
    return { status, text: getText(found, 'description'), rows };
  });
  return {
    ...ref,
    description: getText(spec, 'description'),
    access: describeAccess(security),
    parameters,
    body: body && {
      rows: buildSchemaRows(body.schema, document),
      type: body.type,
      required: resolveSchema(spec['requestBody'], document)['required'] === true,
    },
    answers,
    curl: buildCurlCommand(method, path, baseUrl, selectCredential(security, document), body, document),
  };
}

/** Groups are sorted by name, operations keep the document's order. */
export function buildApiIndex(openapi: object): ApiGroup[] {
  const groups = new Map<string, ApiGroup>();
  const tags = toList((openapi as JsonObject)['tags']).map((tag) => toJsonObject(tag));
  for (const [path, item] of Object.entries(toJsonObject((openapi as JsonObject)['paths']))) {
    for (const [method, spec] of Object.entries(toJsonObject(item))) {
      if (!HTTP_METHODS.has(method) || !isJsonObject(spec)) continue;
      const { id, tag: name, title } = getGroup(spec);
      const text = getText(toJsonObject(tags.find((tag) => tag['name'] === name)), 'description').replaceAll('`', '');
      const group = groups.get(id) ?? { id, title, text, operations: [] };
      groups.set(id, group);
      const anchor = `${method}${path}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
      group.operations.push({
        id: anchor.replace(/-$/, ''),
        method: method.toUpperCase(),
        path,
        summary: getText(spec, 'summary'),
      });
    }
  }
  return [...groups.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** @param baseUrl `server.base_url`, for the commands */
export function buildApiOperations(openapi: object, group: ApiGroup, baseUrl: string): ApiOperation[] {
  return group.operations.map((ref) => buildOperation(ref, openapi as JsonObject, baseUrl));
}
