/**
 * What JSON Schema cannot express becomes wider, never narrower, so that generated clients accept
 * what the service accepts (docs/decisions/013-openapi-by-our-own-hand.md).
 */
import {
  listBranches,
  getComponent,
  isRequired,
  type SchemaDescription,
  type JsonSchema,
  type DescribedRule,
} from './schema-description.js';
import { mergeRules, toLimit, buildNumberSchema, buildStringSchema } from './scalars.js';

export interface SchemaOptions {
  strict?: boolean;
  /** Registers a named schema and returns a reference to it. */
  keep?: (name: string, schema: JsonSchema) => JsonSchema;
}

export function toJsonSchema(described: SchemaDescription, options: SchemaOptions = {}): JsonSchema {
  const component = getComponent(described);
  if (component === undefined || options.keep === undefined) return buildSchema(described, options);
  const { flags = {}, allow = [] } = described;
  const reference = options.keep(component.name, toInlineSchema(described, options));
  const preset = getDefaultValue(described);
  const siblings = {
    ...(flags.description !== component.description && { description: flags.description }),
    ...(preset !== undefined && { default: preset }),
  };
  if (allow.includes(null)) return { anyOf: [reference, { type: 'null' }], ...siblings };
  return { ...reference, ...siblings };
}

export function toInlineSchema(described: SchemaDescription, options: SchemaOptions): JsonSchema {
  const { flags = {}, allow = [], ...rest } = described;
  const { default: _default, description: _description, ...own } = flags;
  const description = getComponent(described)?.description;
  const nonNullValues = allow.filter((value) => value !== null);
  return buildSchema(
    { ...rest, flags: { ...own, ...(description !== undefined && { description }) }, allow: nonNullValues },
    options,
  );
}

function buildSchema(described: SchemaDescription, options: SchemaOptions): JsonSchema {
  const allowed = (described.allow ?? []).filter((value) => isJsonValue(value));
  const schema: JsonSchema =
    described.flags?.only === true ? buildEnum(allowed) : addAllowedValues(buildShape(described, options), allowed);
  const { description } = described.flags ?? {};
  const preset = getDefaultValue(described);
  if (description !== undefined) schema['description'] = description;
  if (preset !== undefined) schema['default'] = preset;
  if (described.examples?.length) schema['examples'] = described.examples.map((example) => unwrapExample(example));
  return Object.assign(schema, ...(described.metas ?? []).map(({ json }) => json ?? {})) as JsonSchema;
}

function getDefaultValue({ flags }: SchemaDescription): unknown {
  const preset = flags?.default;
  return preset !== undefined && isJsonValue(preset) && !isJoiMarker(preset) ? preset : undefined;
}

const unwrapExample = (example: unknown): unknown =>
  typeof example === 'object' && example !== null && 'value' in example ? example.value : example;

/** joi's own markers: `{override: true}` in `allow`, `{special: 'deep'}` as a default. */
const isJoiMarker = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && ('override' in value || 'special' in value);

const isJsonValue = (value: unknown): boolean =>
  value === null ||
  ['string', 'number', 'boolean'].includes(typeof value) ||
  (typeof value === 'object' && !isJoiMarker(value));

const JSON_TYPES: Record<string, string> = { string: 'string', number: 'number', boolean: 'boolean', object: 'object' };

/** Client generators mishandle `const` of an optional member. Booleans get none. */
function buildEnum(values: unknown[]): JsonSchema {
  const types = [
    ...new Set(
      values.map((value) => (value === null ? 'null' : Number.isInteger(value) ? 'integer' : JSON_TYPES[typeof value])),
    ),
  ];
  if (types.length === 1 && types[0] === 'boolean') return { type: 'boolean' };
  return { ...(types.length > 0 && { type: types.length === 1 ? types[0] : types }), enum: values };
}

/** Null widens the type, anything else becomes an alternative. */
function addAllowedValues(schema: JsonSchema, allowed: unknown[]): JsonSchema {
  if (allowed.length === 0 || Object.keys(schema).length === 0) return schema;
  const narrow = ['minLength', 'pattern', 'format', 'allOf'].some((key) => key in schema);
  const emptyFits = schema['type'] === 'string' && !narrow;
  const others = allowed.filter((value) => value !== null && !(value === '' && emptyFits));
  const withNull = allowed.includes(null) ? [{ type: 'null' }] : [];
  // Alternatives would generate a union.
  if (schema['type'] === 'string' && others.length === 1 && others[0] === '')
    return addAllowedValues(dropTextLimits(schema), withNull.length > 0 ? [null] : []);
  if (others.length > 0) return { anyOf: [schema, buildEnum(others), ...withNull] };
  if (!allowed.includes(null)) return schema;
  if (typeof schema['type'] === 'string') return { ...schema, type: [schema['type'], 'null'] };
  return { anyOf: [schema, ...withNull] };
}

function dropTextLimits({
  minLength: _min,
  pattern: _pattern,
  format: _format,
  allOf: _all,
  ...rest
}: JsonSchema): JsonSchema {
  return rest;
}

function buildShape(described: SchemaDescription, options: SchemaOptions): JsonSchema {
  const rules = described.rules ?? [];
  switch (described.type ?? 'any') {
    case 'string':
      return buildStringSchema(described, rules, options.strict ?? false);
    case 'number':
      return buildNumberSchema(rules);
    case 'boolean':
      return { type: 'boolean' };
    case 'date':
      return { type: 'string', format: 'date-time' };
    case 'binary':
      return { type: 'string', contentEncoding: 'base64' };
    case 'array':
      return buildArraySchema(described, rules, options);
    case 'object':
      return buildObjectSchema(described, rules, options);
    case 'alternatives':
      return buildAlternatives(described, options);
    case 'link':
      return buildLinkSchema(described, options);
    default:
      return {};
  }
}

/** `joi.link('#TreeNode')`. */
function buildLinkSchema({ link }: SchemaDescription, { keep }: SchemaOptions): JsonSchema {
  const [id] = link?.ref?.path ?? [];
  return keep !== undefined && typeof id === 'string' ? { $ref: `#/components/schemas/${id}` } : {};
}

function buildArraySchema(described: SchemaDescription, rules: DescribedRule[], options: SchemaOptions): JsonSchema {
  const items = (described.items ?? [])
    .filter((item) => item.flags?.presence !== 'forbidden')
    .map((item) => toJsonSchema(item, options));
  const ordered = (described.ordered ?? []).map((item) => toJsonSchema(item, options));
  const sizes = mergeRules(rules, ({ name }, limit) => {
    if (name === 'min') return toLimit('minItems', limit);
    if (name === 'max') return toLimit('maxItems', limit);
    if (name === 'length') return { ...toLimit('minItems', limit), ...toLimit('maxItems', limit) };
    return name === 'unique' ? { uniqueItems: true } : {};
  });
  return {
    type: 'array',
    ...(ordered.length > 0 && { prefixItems: ordered }),
    items: items.length === 0 ? {} : items.length === 1 ? items[0] : { anyOf: items },
    ...sizes,
  };
}

function buildObjectSchema(described: SchemaDescription, rules: DescribedRule[], options: SchemaOptions): JsonSchema {
  const keys = Object.entries(described.keys ?? {}).filter(
    ([, { flags }]) => flags?.presence !== 'forbidden' && flags?.result !== 'strip',
  );
  const required = keys.filter(([, key]) => isRequired(key)).map(([name]) => name);
  const patterns = (described.patterns ?? []).filter((one) => one.rule !== undefined);
  const values = patterns.map((one) => toJsonSchema(one.rule as SchemaDescription, options));
  const sizes = mergeRules(rules, ({ name }, limit) => {
    if (name === 'min') return toLimit('minProperties', limit);
    return name === 'max' ? toLimit('maxProperties', limit) : {};
  });
  const closed = described.flags?.unknown === false;
  return {
    type: 'object',
    ...(keys.length > 0 && {
      properties: Object.fromEntries(keys.map(([name, key]) => [name, toJsonSchema(key, options)])),
    }),
    ...(required.length > 0 && { required }),
    ...(closed && { additionalProperties: false }),
    ...(values.length > 0 && { additionalProperties: values.length === 1 ? values[0] : { anyOf: values } }),
    ...sizes,
  };
}

function buildAlternatives(described: SchemaDescription, options: SchemaOptions): JsonSchema {
  const schemas = listBranches(described).map((one) => toJsonSchema(one, options));
  if (schemas.length === 0) return {};
  if (schemas.length === 1) return schemas[0]!;
  const match = described.flags?.match;
  return { [match === 'one' ? 'oneOf' : match === 'all' ? 'allOf' : 'anyOf']: schemas };
}
