/**
 * Renders JSON Schema as table rows and as example values for /docs/api. A client-side
 * documentation page would require scripts.
 */
type Tree = Record<string, unknown>;

export interface SchemaRow {
  /** `checks.database.ok`, `items[].id` */
  name: string;
  type: string;
  required: boolean;
  text: string;
}

const DEPTH = 5;
const ROWS = 200;

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const words = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

export function resolve(schema: unknown, document: Tree, depth = 0): Tree {
  if (!isTree(schema) || depth > 10) return {};
  if (schema['$ref'] === undefined && schema['allOf'] === undefined) return schema;
  const { $ref: ref, allOf, ...rest } = schema;
  if (typeof ref === 'string') return { ...resolve(target(ref, document), document, depth + 1), ...rest };
  if (!Array.isArray(allOf)) return schema;
  return allOf.map((part) => resolve(part, document, depth + 1)).reduce(join, rest);
}

function target(ref: string, document: Tree): unknown {
  if (!ref.startsWith('#/')) return {};
  const keys = ref.slice(2).split('/');
  return keys.reduce<unknown>((at, key) => {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    return isTree(at) && Object.hasOwn(at, name) ? at[name] : {};
  }, document);
}

function join(a: Tree, b: Tree): Tree {
  const properties = {
    ...(isTree(a['properties']) ? a['properties'] : {}),
    ...(isTree(b['properties']) ? b['properties'] : {}),
  };
  return { ...a, ...b, properties, required: [...list(a['required']), ...list(b['required'])] };
}

/** Returns `string (uuid)`, `array of string` or `object or null`. */
export function typeOf(schema: unknown, document: Tree, depth = 0): string {
  const s = resolve(schema, document);
  const choices = [...list(s['anyOf']), ...list(s['oneOf'])];
  if (choices.length > 0 && depth < DEPTH) {
    return [...new Set(choices.map((choice) => typeOf(choice, document, depth + 1)))].join(' or ');
  }
  if (s['const'] !== undefined) return words(s['const']);
  const types = Array.isArray(s['type']) ? s['type'].map(words) : typeof s['type'] === 'string' ? [s['type']] : [];
  if (types.includes('array') && depth < DEPTH) {
    return types.map((t) => (t === 'array' ? `array of ${typeOf(s['items'], document, depth + 1)}` : t)).join(' or ');
  }
  const format = typeof s['format'] === 'string' ? ` (${s['format']})` : '';
  return types.length > 0 ? types.join(' or ') + format : isTree(s['properties']) ? 'object' : 'any';
}

const LIMITS: readonly [key: string, says: string][] = [
  ['minLength', 'at least # characters'],
  ['maxLength', 'at most # characters'],
  ['minimum', 'from #'],
  ['maximum', 'to #'],
  ['minItems', 'at least # elements'],
  ['maxItems', 'at most # elements'],
  ['pattern', 'matches #'],
  ['default', 'default #'],
];

function textOf(s: Tree): string {
  const description = typeof s['description'] === 'string' ? s['description'] : '';
  const choices = Array.isArray(s['enum']) ? `one of ${s['enum'].map(words).join(', ')}` : '';
  const limits = LIMITS.filter(([key]) => s[key] !== undefined).map(([key, says]) =>
    says.replace('#', () => words(s[key])),
  );
  return [description, [choices, ...limits].filter(Boolean).join(', ')].filter(Boolean).join(' · ');
}

/** Returns the fields of an object schema, nested ones by path, limited to `MAX_ROWS`. */
export function rowsOf(schema: unknown, document: Tree): SchemaRow[] {
  const rows: SchemaRow[] = [];
  const named = new Set<string>();
  walk(schema, '', 0);
  return rows;

  function walk(part: unknown, prefix: string, depth: number): void {
    const s = resolve(part, document);
    if (depth > DEPTH) return;
    if (s['items'] !== undefined) walk(s['items'], `${prefix}[]`, depth + 1);
    for (const choice of [...list(s['anyOf']), ...list(s['oneOf'])]) walk(choice, prefix, depth + 1);
    if (!isTree(s['properties'])) return;
    const required = list(s['required']);
    for (const [key, child] of Object.entries(s['properties'])) {
      if (rows.length >= ROWS) return;
      const name = prefix === '' ? key : `${prefix}.${key}`;
      const own = resolve(child, document);
      if (!named.has(name)) {
        named.add(name);
        rows.push({ name, type: typeOf(child, document), required: required.includes(key), text: textOf(own) });
      }
      walk(own, name, depth + 1);
    }
  }
}

/**
 * Returns a valid value: from examples, then defaults, then by type. Contains only required fields.
 */
export function exampleOf(schema: unknown, document: Tree, depth = 0): unknown {
  const s = resolve(schema, document);
  const given = [s['example'], ...list(s['examples']), s['default'], s['const'], ...list(s['enum'])].find(
    (v) => v !== undefined && v !== null,
  );
  if (given !== undefined) return given;
  if (depth > DEPTH) return null;
  const choices = [...list(s['anyOf']), ...list(s['oneOf'])];
  if (choices.length > 0) return exampleOf(choices[0], document, depth + 1);
  const type = Array.isArray(s['type']) ? s['type'][0] : s['type'];
  if (type === 'array') return s['items'] === undefined ? [] : [exampleOf(s['items'], document, depth + 1)];
  if (type === 'integer' || type === 'number') return typeof s['minimum'] === 'number' ? s['minimum'] : 1;
  if (type === 'boolean') return true;
  if (type === 'string')
    return s['format'] === 'date-time'
      ? '2026-11-20T08:15:30.123Z'
      : s['format'] === 'uri'
        ? 'https://example.org/'
        : 'text';
  const properties = isTree(s['properties']) ? s['properties'] : {};
  const wanted = list(s['required']);
  const entries = Object.entries(properties).filter(([key]) => wanted.includes(key));
  return Object.fromEntries(entries.map(([key, child]) => [key, exampleOf(child, document, depth + 1)]));
}
