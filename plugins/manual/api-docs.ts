/**
 * Renders the OpenAPI description: operations in groups with fields, answers and a curl command.
 * The index only reads names; fields are rendered per group on demand, because all together would
 * block the event loop.
 */
import { exampleOf, resolve, rowsOf, typeOf, type SchemaRow } from './schema.js';

type Tree = Record<string, unknown>;

export interface OperationRef {
  id: string;
  method: string;
  path: string;
  summary: string;
}

export interface Operation extends OperationRef {
  description: string;
  access: string;
  parameters: (SchemaRow & { place: string })[];
  body: { rows: SchemaRow[]; type: string; required: boolean } | null;
  answers: { status: string; text: string; rows: SchemaRow[] }[];
  curl: string;
}

export interface Group {
  id: string;
  title: string;
  text: string;
  operations: OperationRef[];
}

const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete']);
const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);
const textAt = (tree: Tree, key: string): string => (typeof tree[key] === 'string' ? tree[key] : '');
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const tree = (value: unknown): Tree => (isTree(value) ? value : {});

export function shellQuote(value: string): string {
  return /^[\w./:@%+=,-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}

function groupOf(spec: Tree): { id: string; title: string } {
  const title =
    list(spec['tags']).find((tag): tag is string => typeof tag === 'string' && /[a-z0-9]/i.test(tag)) ?? 'other';
  const id = title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return { id, title };
}

function contentSchema(content: unknown): { type: string; schema: unknown } | null {
  const [entry] = Object.entries(tree(content));
  return entry ? { type: entry[0], schema: tree(entry[1])['schema'] } : null;
}

/** Readable texts of the security schemes. */
const WAYS = new Map<string, (needs: string) => string>(
  Object.entries({
    token: (scopes) => (scopes ? `a token with ${scopes}` : 'any token'),
    sharedKey: () => 'the shared key',
    session: (roles) => `a session (${roles || 'any role'})`,
  }),
);

function accessOf(security: unknown): string {
  const ways = list(security).map((way) => {
    const names = Object.entries(tree(way));
    if (names.length === 0) return 'no credential';
    return names
      .map(([name, needs]) => {
        const what = list(needs).join(', ');
        return WAYS.get(name)?.(what) ?? (what ? `${name} (${what})` : name);
      })
      .join(' and ');
  });
  return ways.length === 0 ? 'no credential' : [...new Set(ways)].join(', or ');
}

/** Where a command puts the credential; double quotes let the shell expand variables. */
interface Credential {
  query?: string;
  option?: string;
}

function credentialOf(security: unknown, document: Tree): Credential {
  const schemes = tree(tree(document['components'])['securitySchemes']);
  const names = list(security).flatMap((way) => Object.keys(tree(way)));
  const name = names.find((one) => textAt(tree(schemes[one]), 'in') === 'query') ?? names[0];
  if (name === undefined) return {};
  const way = tree(schemes[name]);
  const place = textAt(way, 'in');
  if (place === 'query') return { query: `?${encodeURIComponent(textAt(way, 'name'))}=$AOS_INTAKE_KEY` };
  if (place === 'cookie') return { option: `-b "${textAt(way, 'name')}=$AOS_SESSION"` };
  if (place === 'header') return { option: `-H "${textAt(way, 'name')}: $AOS_INTAKE_KEY"` };
  if (textAt(way, 'scheme') === 'basic') return { option: '-u "$AOS_USER:$AOS_PASSWORD"' };
  return { option: `-H "Authorization: Bearer ${BEARERS.get(name) ?? '$SVC_TOKEN'}"` };
}

const BEARERS = new Map([
  ['sharedKey', '$SVC_SHARED_KEY'],
  ['intakeKey', '$AOS_INTAKE_KEY'],
]);

function curlOf(
  method: string,
  path: string,
  baseUrl: string,
  { query, option }: Credential,
  body: { type: string; schema: unknown } | null,
  document: Tree,
): string {
  const place = shellQuote(baseUrl.replace(/\/$/, '') + path);
  const url = query === undefined ? place : `${place}"${query}"`;
  const lines = [`curl ${method === 'GET' ? '' : `-X ${method} `}${url}`];
  if (option !== undefined) lines.push(option);
  if (body) {
    lines.push(`-H ${shellQuote(`Content-Type: ${body.type}`)}`);
    const example = body.type.includes('json') ? JSON.stringify(exampleOf(body.schema, document)) : '…';
    lines.push(`-d ${shellQuote(example)}`);
  }
  return lines.join(' \\\n  ');
}

function operationOf(ref: OperationRef, document: Tree, baseUrl: string): Operation {
  const { method, path } = ref;
  const item = tree(tree(document['paths'])[path]);
  const spec = tree(item[method.toLowerCase()]);
  const body = contentSchema(resolve(spec['requestBody'], document)['content']);
  const security = spec['security'] ?? document['security'];
  const parameters = [...list(item['parameters']), ...list(spec['parameters'])].map((one) => {
    const parameter = resolve(one, document);
    const schema = parameter['schema'];
    const [row] = rowsOf({ properties: { x: schema } }, document);
    return {
      name: textAt(parameter, 'name'),
      place: textAt(parameter, 'in'),
      type: typeOf(schema, document),
      required: parameter['required'] === true,
      text: textAt(parameter, 'description') || (row?.text ?? ''),
    };
  });
  const answers = Object.entries(tree(spec['responses'])).map(([status, answer]) => {
    const found = resolve(answer, document);
    const content = contentSchema(found['content']);
    // All errors share one shape, explained in the overview, so only successes are rendered.
    const rows = content && status.startsWith('2') ? rowsOf(content.schema, document) : [];
    return { status, text: textAt(found, 'description'), rows };
  });
  return {
    ...ref,
    description: textAt(spec, 'description'),
    access: accessOf(security),
    parameters,
    body: body && {
      rows: rowsOf(body.schema, document),
      type: body.type,
      required: resolve(spec['requestBody'], document)['required'] === true,
    },
    answers,
    curl: curlOf(method, path, baseUrl, credentialOf(security, document), body, document),
  };
}

/** Groups are sorted by name, operations keep the document's order. */
export function apiIndex(openapi: object): Group[] {
  const groups = new Map<string, Group>();
  const tags = list((openapi as Tree)['tags']).map((tag) => tree(tag));
  for (const [path, item] of Object.entries(tree((openapi as Tree)['paths']))) {
    for (const [method, spec] of Object.entries(tree(item))) {
      if (!METHODS.has(method) || !isTree(spec)) continue;
      const { id, title } = groupOf(spec);
      const text = textAt(tree(tags.find((tag) => tag['name'] === title)), 'description');
      const group = groups.get(id) ?? { id, title, text, operations: [] };
      groups.set(id, group);
      const anchor = `${method}${path}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
      group.operations.push({
        id: anchor.replace(/-$/, ''),
        method: method.toUpperCase(),
        path,
        summary: textAt(spec, 'summary'),
      });
    }
  }
  return [...groups.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** @param baseUrl `server.base_url`, for the commands */
export function apiOperations(openapi: object, group: Group, baseUrl: string): Operation[] {
  return group.operations.map((ref) => operationOf(ref, openapi as Tree, baseUrl));
}
