import type { SchemaDescription, JsonSchema, DescribedRule } from './schema-description.js';

export const mergeRules = (
  rules: DescribedRule[],
  one: (rule: DescribedRule, limit: number) => JsonSchema,
): JsonSchema =>
  // A limit that refers to another field has no number.
  Object.assign(
    {},
    ...rules.map((rule) => one(rule, typeof rule.args?.limit === 'number' ? rule.args.limit : NaN)),
  ) as JsonSchema;

export const toLimit = (name: string, limit: number): JsonSchema => (Number.isNaN(limit) ? {} : { [name]: limit });

/** @param strict states that joi rejects `''` unless it is allowed */
export function buildStringSchema(described: SchemaDescription, rules: DescribedRule[], strict: boolean): JsonSchema {
  const keywords = mergeRules(rules, toStringKeyword);
  const filled = strict && keywords['minLength'] === undefined && !(described.allow ?? []).includes('');
  const patterns = rules.flatMap((rule) => (rule.name === 'pattern' ? toPatternKeywords(rule) : []));
  return {
    type: 'string',
    ...(filled && { minLength: 1 }),
    ...keywords,
    ...(patterns.length === 1 ? patterns[0] : patterns.length > 1 ? { allOf: patterns } : {}),
  };
}

function toStringKeyword({ name }: DescribedRule, limit: number): JsonSchema {
  switch (name) {
    case 'min':
      return toLimit('minLength', limit);
    case 'max':
      return toLimit('maxLength', limit);
    case 'length':
      return { ...toLimit('minLength', limit), ...toLimit('maxLength', limit) };
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

/**
 * Control characters written as ranges, the only class that every regular expression dialect
 * supports.
 */
const CONTROL_CLASS = '[\\u0000-\\u001F\\u007F-\\u009F]';

/** An escaped zero after an even number of backslashes. */
const NUL_PATTERN = /(?<!\\)((?:\\\\)*)\\0(?!\d)/g;

/** Flags that change the match, and Unicode classes that engines name differently, are omitted. */
function toPatternKeywords({ args }: DescribedRule): JsonSchema[] {
  const { regex, options } = args ?? {};
  const text = regex instanceof RegExp ? String(regex) : regex;
  const [, source = '', flags = ''] = (typeof text === 'string' ? /^\/(.*)\/([a-z]*)$/s.exec(text) : null) ?? [];
  const pattern = source.replaceAll('\\p{Cc}', CONTROL_CLASS).replaceAll(NUL_PATTERN, '$1\\u0000');
  if (pattern === '' || /[imsv]/.test(flags) || /\\p\{/i.test(pattern)) return [];
  return [options?.invert === true ? { not: { pattern } } : { pattern }];
}

export const buildNumberSchema = (rules: DescribedRule[]): JsonSchema => ({
  type: rules.some(({ name }) => name === 'integer' || name === 'port') ? 'integer' : 'number',
  ...mergeRules(rules, toNumberKeyword),
});

function toNumberKeyword({ name, args }: DescribedRule, limit: number): JsonSchema {
  switch (name) {
    case 'min':
      return toLimit('minimum', limit);
    case 'max':
      return toLimit('maximum', limit);
    case 'greater':
      return toLimit('exclusiveMinimum', limit);
    case 'less':
      return toLimit('exclusiveMaximum', limit);
    case 'multiple':
      return typeof args?.base === 'number' ? { multipleOf: args.base } : {};
    case 'sign':
      return args?.sign === 'positive' ? { exclusiveMinimum: 0 } : { exclusiveMaximum: 0 };
    case 'port':
      return { minimum: 0, maximum: 65_535 };
    default:
      return {};
  }
}
