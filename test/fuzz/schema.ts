/** Values after a JSON schema of the interface description, and hostile ones in their place. */
import fc from 'fast-check';

export interface Schema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
}

/** What breaks parsers, paths, queries and pages. */
export const HOSTILE: readonly string[] = [
  '',
  ' ',
  '\u0000',
  '\u001f',
  '\ud800',
  '\ufeff',
  '../../etc/passwd',
  '%00',
  '%',
  '%ff%fe',
  "' OR 1=1 --",
  '$where',
  '{"$gt":""}',
  '__proto__',
  'constructor',
  '<script>alert(1)</script>',
  '{{constructor}}',
  '${7*7}',
  'a'.repeat(5000),
  '𐍈'.repeat(500),
  '(a+)+$',
  '[',
  '-1',
  '0',
  '1e309',
  '9007199254740993',
  'NaN',
  'null',
  'true',
  '2026-13-45T99:99:99Z',
  '0001-01-01T00:00:00.000Z',
  '+275760-09-13T00:00:00.001Z',
  'http://127.0.0.1:9/',
  'http://user:pass@[::1]/',
  'javascript:alert(1)',
];

const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
};

const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...HOSTILE) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<unknown>(null, true, -1, 0, 1.5, 1e308, -1e308, 2 ** 53, [], {}, [[]], nested(200)),
  },
  { weight: 2, arbitrary: fc.jsonValue() },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 300 }) },
);

/**
 * Values that the schema allows, more or less; one in ten parts is hostile.
 * @param words strings that mean something to the service: ids, slugs, names
 */
export function valueOf(schema: Schema | undefined, words: fc.Arbitrary<string>, depth = 0): fc.Arbitrary<unknown> {
  const proper = schema === undefined || depth > 6 ? fc.jsonValue() : properValue(schema, words, depth);
  return fc.oneof({ weight: 9, arbitrary: proper }, { weight: 1, arbitrary: hostileValue });
}

function properValue(schema: Schema, words: fc.Arbitrary<string>, depth: number): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (choices !== undefined) return fc.oneof(...choices.map((choice) => properValue(choice, words, depth)));
  const types = schema.type === undefined ? ['object'] : [schema.type].flat();
  return fc.oneof(...types.map((type) => typed(type, schema, words, depth)));
}

function typed(type: string, schema: Schema, words: fc.Arbitrary<string>, depth: number): fc.Arbitrary<unknown> {
  switch (type) {
    case 'string':
      return fc.oneof(words, fc.string({ minLength: schema.minLength ?? 0, maxLength: 60, unit: 'grapheme' }));
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1000, max: Math.min(schema.maximum ?? 100_000, 2 ** 31 - 1) });
    case 'number':
      return fc.double({ min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e6, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(valueOf(schema.items, words, depth + 1), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 6, 6),
      });
    default:
      return objectOf(schema, words, depth);
  }
}

function objectOf(schema: Schema, words: fc.Arbitrary<string>, depth: number): fc.Arbitrary<unknown> {
  const known = Object.entries(schema.properties ?? {}).map(
    ([name, inner]) => [name, fc.option(valueOf(inner, words, depth + 1), { nil: undefined })] as const,
  );
  const more = fc.dictionary(fc.oneof(words, fc.constantFrom(...HOSTILE)), valueOf(undefined, words, depth + 4), {
    maxKeys: 2,
  });
  return fc
    .tuple(fc.record(Object.fromEntries(known)), fc.option(more, { freq: 3, nil: {} }))
    .map(([proper, extra]) => Object.assign({}, extra, proper));
}
