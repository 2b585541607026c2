/**
 * joi's `describe()` → JSON Schema 2020-12, as far as routes use joi. What JSON Schema cannot say (references between
 * fields, conditions) is left wider, never narrower: a client made from the description must not refuse what we take.
 */
export type JsonSchema = Record<string, unknown>;

interface Rule {
  name: string;
  args?: { limit?: unknown; regex?: unknown; base?: unknown };
}

/** What joi's `describe()` answers. */
export interface Description {
  type?: string;
  flags?: {
    presence?: string;
    only?: boolean;
    default?: unknown;
    description?: string;
    unknown?: boolean;
    match?: string;
  };
  keys?: Record<string, Description>;
  items?: Description[];
  ordered?: Description[];
  matches?: { schema?: Description; then?: Description; otherwise?: Description }[];
  patterns?: { regex?: string; rule?: Description }[];
  rules?: Rule[];
  allow?: unknown[];
  examples?: unknown[];
}

export const isRequired = (described: Description): boolean => described.flags?.presence === 'required';

export function jsonSchema(described: Description): JsonSchema {
  const allowed = (described.allow ?? []).filter((value) => isJson(value));
  const schema: JsonSchema = described.flags?.only === true ? only(allowed) : nullable(shape(described), allowed);
  const { description, default: preset } = described.flags ?? {};
  if (description !== undefined) schema['description'] = description;
  if (preset !== undefined && isJson(preset) && !isSpecial(preset)) schema['default'] = preset;
  if (described.examples?.length) schema['examples'] = described.examples.map((example) => unwrap(example));
  return schema;
}

/** joi writes an example given with options as `{value, …}`. */
const unwrap = (example: unknown): unknown =>
  typeof example === 'object' && example !== null && 'value' in example ? example.value : example;

/** joi's own markers: `{override: true}` in `allow`, `{special: 'deep'}` as a default. */
const isSpecial = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && ('override' in value || 'special' in value);

const isJson = (value: unknown): boolean =>
  value === null ||
  ['string', 'number', 'boolean'].includes(typeof value) ||
  (typeof value === 'object' && !isSpecial(value));

const TYPE_OF: Record<string, string> = { string: 'string', number: 'number', boolean: 'boolean', object: 'object' };

function only(values: unknown[]): JsonSchema {
  if (values.length === 1) return { const: values[0] };
  const types = [...new Set(values.map((value) => (value === null ? 'null' : TYPE_OF[typeof value])))];
  return { ...(types.length > 0 && { type: types.length === 1 ? types[0] : types }), enum: values };
}

/** Values allowed beside the type: null widens it, anything else (`''`, a word instead of a number) is an alternative. */
function nullable(schema: JsonSchema, allowed: unknown[]): JsonSchema {
  if (allowed.length === 0 || Object.keys(schema).length === 0) return schema;
  // `''` is allowed beside a type that has no lower limit: the type says it already.
  const emptyFits = schema['type'] === 'string' && !['minLength', 'pattern', 'format'].some((key) => key in schema);
  const others = allowed.filter((value) => value !== null && !(value === '' && emptyFits));
  const withNull = allowed.includes(null) ? [{ type: 'null' }] : [];
  if (others.length > 0) return { anyOf: [schema, { enum: others }, ...withNull] };
  if (typeof schema['type'] === 'string') return { ...schema, type: [schema['type'], 'null'] };
  return { anyOf: [schema, ...withNull] };
}

function shape(described: Description): JsonSchema {
  const rules = described.rules ?? [];
  switch (described.type ?? 'any') {
    case 'string':
      return { type: 'string', ...each(rules, stringRule) };
    case 'number':
      return {
        type: rules.some((rule) => rule.name === 'integer' || rule.name === 'port') ? 'integer' : 'number',
        ...each(rules, numberRule),
      };
    case 'boolean':
      return { type: 'boolean' };
    case 'date':
      return { type: 'string', format: 'date-time' };
    case 'binary':
      return { type: 'string', contentEncoding: 'base64' };
    case 'array':
      return arrayShape(described, rules);
    case 'object':
      return objectShape(described, rules);
    case 'alternatives':
      return alternatives(described);
    default:
      return {};
  }
}

const each = (rules: Rule[], one: (rule: Rule, limit: number) => JsonSchema): JsonSchema =>
  // A limit that is a reference to another field has no number.
  Object.assign(
    {},
    ...rules.map((rule) => one(rule, typeof rule.args?.limit === 'number' ? rule.args.limit : NaN)),
  ) as JsonSchema;

const limitOf = (name: string, limit: number): JsonSchema => (Number.isNaN(limit) ? {} : { [name]: limit });

function stringRule({ name, args }: Rule, limit: number): JsonSchema {
  switch (name) {
    case 'min':
      return limitOf('minLength', limit);
    case 'max':
      return limitOf('maxLength', limit);
    case 'length':
      return { ...limitOf('minLength', limit), ...limitOf('maxLength', limit) };
    case 'pattern':
      return pattern(args?.regex);
    case 'guid':
      return { format: 'uuid' };
    case 'email':
      return { format: 'email' };
    case 'uri':
      return { format: 'uri' };
    case 'isoDate':
      return { format: 'date-time' };
    default:
      return {};
  }
}

/** joi writes `/…/flags`; flags that change what matches cannot be said, so such a pattern is left out. */
function pattern(regex: unknown): JsonSchema {
  const text = regex instanceof RegExp ? String(regex) : regex;
  const parts = typeof text === 'string' ? /^\/(.*)\/([a-z]*)$/s.exec(text) : null;
  return parts && !/[imsv]/.test(parts[2] ?? '') ? { pattern: parts[1] } : {};
}

function numberRule({ name, args }: Rule, limit: number): JsonSchema {
  switch (name) {
    case 'min':
      return limitOf('minimum', limit);
    case 'max':
      return limitOf('maximum', limit);
    case 'greater':
      return limitOf('exclusiveMinimum', limit);
    case 'less':
      return limitOf('exclusiveMaximum', limit);
    case 'multiple':
      return typeof args?.base === 'number' ? { multipleOf: args.base } : {};
    case 'port':
      return { minimum: 0, maximum: 65_535 };
    default:
      return {};
  }
}

function arrayShape(described: Description, rules: Rule[]): JsonSchema {
  const items = (described.items ?? [])
    .filter((item) => item.flags?.presence !== 'forbidden')
    .map((item) => jsonSchema(item));
  const ordered = (described.ordered ?? []).map((item) => jsonSchema(item));
  const sizes = each(rules, ({ name }, limit) => {
    if (name === 'min') return limitOf('minItems', limit);
    if (name === 'max') return limitOf('maxItems', limit);
    if (name === 'length') return { ...limitOf('minItems', limit), ...limitOf('maxItems', limit) };
    return name === 'unique' ? { uniqueItems: true } : {};
  });
  return {
    type: 'array',
    ...(ordered.length > 0 && { prefixItems: ordered }),
    ...(items.length > 0 && { items: items.length === 1 ? items[0] : { anyOf: items } }),
    ...sizes,
  };
}

function objectShape(described: Description, rules: Rule[]): JsonSchema {
  const keys = Object.entries(described.keys ?? {}).filter(([, key]) => key.flags?.presence !== 'forbidden');
  const required = keys.filter(([, key]) => isRequired(key)).map(([name]) => name);
  const patterns = (described.patterns ?? []).filter((one) => one.rule !== undefined);
  const values = patterns.map((one) => jsonSchema(one.rule as Description));
  const sizes = each(rules, ({ name }, limit) => {
    if (name === 'min') return limitOf('minProperties', limit);
    return name === 'max' ? limitOf('maxProperties', limit) : {};
  });
  return {
    type: 'object',
    ...(keys.length > 0 && { properties: Object.fromEntries(keys.map(([name, key]) => [name, jsonSchema(key)])) }),
    ...(required.length > 0 && { required }),
    ...(values.length > 0 && { additionalProperties: values.length === 1 ? values[0] : { anyOf: values } }),
    ...sizes,
  };
}

function alternatives(described: Description): JsonSchema {
  const schemas = (described.matches ?? []).flatMap(({ schema, then, otherwise }) =>
    [schema, then, otherwise].filter((one) => one !== undefined).map((one) => jsonSchema(one)),
  );
  if (schemas.length === 0) return {};
  if (schemas.length === 1) return schemas[0]!;
  return {
    [described.flags?.match === 'one' ? 'oneOf' : described.flags?.match === 'all' ? 'allOf' : 'anyOf']: schemas,
  };
}
