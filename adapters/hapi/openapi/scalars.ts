/** Texts and numbers as JSON Schema: type, limits, formats and patterns. */
import type { SchemaDescription, JsonSchema, DescribedRule } from './description.js';

/** The schemas of all rules, merged. */
export const each = (rules: DescribedRule[], one: (rule: DescribedRule, limit: number) => JsonSchema): JsonSchema =>
  // A limit that refers to another field has no number.
  Object.assign(
    {},
    ...rules.map((rule) => one(rule, typeof rule.args?.limit === 'number' ? rule.args.limit : NaN)),
  ) as JsonSchema;

export const limitOf = (name: string, limit: number): JsonSchema => (Number.isNaN(limit) ? {} : { [name]: limit });

/** A text's schema. @param strict also states that joi refuses `''` unless it is allowed */
export function stringShape(described: SchemaDescription, rules: DescribedRule[], strict: boolean): JsonSchema {
  const said = each(rules, stringRule);
  const filled = strict && said['minLength'] === undefined && !(described.allow ?? []).includes('');
  const patterns = rules.flatMap((rule) => (rule.name === 'pattern' ? patternOf(rule) : []));
  return {
    type: 'string',
    ...(filled && { minLength: 1 }),
    ...said,
    ...(patterns.length === 1 ? patterns[0] : patterns.length > 1 ? { allOf: patterns } : {}),
  };
}

function stringRule({ name }: DescribedRule, limit: number): JsonSchema {
  switch (name) {
    case 'min':
      return limitOf('minLength', limit);
    case 'max':
      return limitOf('maxLength', limit);
    case 'length':
      return { ...limitOf('minLength', limit), ...limitOf('maxLength', limit) };
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

/** Control characters, written out: the only class that every dialect of regular expressions reads alike. */
const CONTROL = '[\\u0000-\\u001F\\u007F-\\u009F]';

/** An escaped zero, behind whole pairs of backslashes. */
const NUL = /(?<!\\)((?:\\\\)*)\\0(?!\d)/g;

/**
 * A pattern, which joi writes as `/…/flags`; an inverted one says what the text must not hold. Flags that change what
 * matches, and classes of Unicode that engines name differently, cannot be said and are left out.
 */
function patternOf({ args }: DescribedRule): JsonSchema[] {
  const { regex, options } = args ?? {};
  const text = regex instanceof RegExp ? String(regex) : regex;
  const [, source = '', flags = ''] = (typeof text === 'string' ? /^\/(.*)\/([a-z]*)$/s.exec(text) : null) ?? [];
  // Other engines read `\0` differently.
  const pattern = source.replaceAll('\\p{Cc}', CONTROL).replaceAll(NUL, '$1\\u0000');
  if (pattern === '' || /[imsv]/.test(flags) || /\\p\{/i.test(pattern)) return [];
  return [options?.invert === true ? { not: { pattern } } : { pattern }];
}

export const numberShape = (rules: DescribedRule[]): JsonSchema => ({
  type: rules.some(({ name }) => name === 'integer' || name === 'port') ? 'integer' : 'number',
  ...each(rules, numberRule),
});

function numberRule({ name, args }: DescribedRule, limit: number): JsonSchema {
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
    case 'sign':
      return args?.sign === 'positive' ? { exclusiveMinimum: 0 } : { exclusiveMaximum: 0 };
    case 'port':
      return { minimum: 0, maximum: 65_535 };
    default:
      return {};
  }
}
