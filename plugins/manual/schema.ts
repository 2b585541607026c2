/**
 * Renders JSON Schema as table rows and as example values for /docs/api. A client-side
 * documentation page would require scripts.
 */
type JsonObject = Record<string, unknown>;

export interface SchemaRow {
  /** `checks.database.ok`, `items[].id` */
  name: string;
  type: string;
  required: boolean;
  text: string;
}

const MAX_DEPTH = 5;
const MAX_ROWS = 200;

const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const toList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const formatValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

export function resolveSchema(schema: unknown, document: JsonObject, depth = 0): JsonObject {
  if (!isJsonObject(schema) || depth > 10) return {};
  if (schema['$ref'] === undefined && schema['allOf'] === undefined) return schema;
  const { $ref: ref, allOf, ...rest } = schema;
  if (typeof ref === 'string') return { ...resolveSchema(findReference(ref, document), document, depth + 1), ...rest };
  if (!Array.isArray(allOf)) return schema;
  return allOf.map((part) => resolveSchema(part, document, depth + 1)).reduce(mergeSchemas, rest);
}

function findReference(ref: string, document: JsonObject): unknown {
  if (!ref.startsWith('#/')) return {};
  const keys = ref.slice(2).split('/');
  return keys.reduce<unknown>((at, key) => {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    return isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : {};
  }, document);
}

function mergeSchemas(a: JsonObject, b: JsonObject): JsonObject {
  const properties = {
    ...(isJsonObject(a['properties']) ? a['properties'] : {}),
    ...(isJsonObject(b['properties']) ? b['properties'] : {}),
  };
  return { ...a, ...b, properties, required: [...toList(a['required']), ...toList(b['required'])] };
}

/** Returns `string (uuid)`, `array of string` or `object or null`. */
export function describeType(schema: unknown, document: JsonObject, depth = 0): string {
  const s = resolveSchema(schema, document);
  const choices = [...toList(s['anyOf']), ...toList(s['oneOf'])];
  if (choices.length > 0 && depth < MAX_DEPTH) {
    return [...new Set(choices.map((choice) => describeType(choice, document, depth + 1)))].join(' or ');
  }
  if (s['const'] !== undefined) return formatValue(s['const']);
  const types = Array.isArray(s['type'])
    ? s['type'].map(formatValue)
    : typeof s['type'] === 'string'
      ? [s['type']]
      : [];
  if (types.includes('array') && depth < MAX_DEPTH) {
    return types
      .map((t) => (t === 'array' ? `array of ${describeType(s['items'], document, depth + 1)}` : t))
      .join(' or ');
  }
  const format = typeof s['format'] === 'string' ? ` (${s['format']})` : '';
  return types.length > 0 ? types.join(' or ') + format : isJsonObject(s['properties']) ? 'object' : 'any';
}

const LIMIT_TEXTS: readonly [key: string, says: string][] = [
  ['minLength', 'at least # characters'],
  ['maxLength', 'at most # characters'],
  ['minimum', 'from #'],
  ['maximum', 'to #'],
  ['minItems', 'at least # elements'],
  ['maxItems', 'at most # elements'],
  ['pattern', 'matches #'],
  ['default', 'default #'],
];

function describeSchema(s: JsonObject): string {
  const description = typeof s['description'] === 'string' ? s['description'] : '';
  const choices = Array.isArray(s['enum']) ? `one of ${s['enum'].map(formatValue).join(', ')}` : '';
  const limits = LIMIT_TEXTS.filter(([key]) => s[key] !== undefined).map(([key, says]) =>
    says.replace('#', () => formatValue(s[key])),
  );
  return [description, [choices, ...limits].filter(Boolean).join(', ')].filter(Boolean).join(' · ');
}

/** Returns the fields of an object schema, nested ones by path, limited to `MAX_ROWS`. */
export function buildSchemaRows(schema: unknown, document: JsonObject): SchemaRow[] {
  const rows: SchemaRow[] = [];
  const named = new Set<string>();
  walk(schema, '', 0);
  return rows;

  function walk(part: unknown, prefix: string, depth: number): void {
    const s = resolveSchema(part, document);
    if (depth > MAX_DEPTH) return;
    if (s['items'] !== undefined) walk(s['items'], `${prefix}[]`, depth + 1);
    for (const choice of [...toList(s['anyOf']), ...toList(s['oneOf'])]) walk(choice, prefix, depth + 1);
    if (!isJsonObject(s['properties'])) return;
    const required = toList(s['required']);
    for (const [key, child] of Object.entries(s['properties'])) {
      if (rows.length >= MAX_ROWS) return;
      const name = prefix === '' ? key : `${prefix}.${key}`;
      const own = resolveSchema(child, document);
      if (!named.has(name)) {
        named.add(name);
        rows.push({
          name,
          type: describeType(child, document),
          required: required.includes(key),
          text: describeSchema(own),
        });
      }
      walk(own, name, depth + 1);
    }
  }
}

/**
 * Returns a valid value: from examples, then defaults, then by type. Contains only required fields.
 */
export function buildExample(schema: unknown, document: JsonObject, depth = 0): unknown {
  const s = resolveSchema(schema, document);
  const given = [s['example'], ...toList(s['examples']), s['default'], s['const'], ...toList(s['enum'])].find(
    (v) => v !== undefined && v !== null,
  );
  if (given !== undefined) return given;
  if (depth > MAX_DEPTH) return null;
  const choices = [...toList(s['anyOf']), ...toList(s['oneOf'])];
  if (choices.length > 0) return buildExample(choices[0], document, depth + 1);
  const type = Array.isArray(s['type']) ? s['type'][0] : s['type'];
  if (type === 'array') return s['items'] === undefined ? [] : [buildExample(s['items'], document, depth + 1)];
  if (type === 'integer' || type === 'number') return typeof s['minimum'] === 'number' ? s['minimum'] : 1;
  if (type === 'boolean') return true;
  if (type === 'string')
    return s['format'] === 'date-time'
      ? '2026-11-20T08:15:30.123Z'
      : s['format'] === 'uri'
        ? 'https://example.org/'
        : 'text';
  const properties = isJsonObject(s['properties']) ? s['properties'] : {};
  const wanted = toList(s['required']);
  const entries = Object.entries(properties).filter(([key]) => wanted.includes(key));
  return Object.fromEntries(entries.map(([key, child]) => [key, buildExample(child, document, depth + 1)]));
}
