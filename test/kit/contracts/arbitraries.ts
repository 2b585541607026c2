/**
 * Random documents, filters, sorts and updates of one small shape, so that they overlap: `s` and
 * `o.s` are text, `n` a number, `f` a boolean, `t` a text array. Each may be missing or null. Text
 * excludes NUL and code points above U+FFFF, which servers and drivers handle differently; the
 * contract tests those separately.
 */
import fc from 'fast-check';
import type { Doc, Filter, Json, Sort, Update } from '../../../ports/store/index.js';

const text = fc.oneof(
  fc.constantFrom(
    '',
    'a',
    'A',
    'ab',
    'b',
    'ä',
    '1',
    '[1]',
    '{',
    'true',
    'null',
    '%',
    '_',
    "'",
    '"',
    '\\',
    '.*',
    '\ufffd',
    '\n',
  ),
  fc.string({ unit: 'grapheme-ascii', maxLength: 4 }),
);
const number = fc.oneof(fc.integer({ min: -2, max: 3 }), fc.constantFrom(0.5, 1e10, -1e15, 2 ** 40));
const arbitraryOptional = <V>(value: fc.Arbitrary<V>): fc.Arbitrary<V | null | undefined> =>
  fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: fc.constantFrom(null, undefined) });
/** Fields that updates modify are missing rather than null (ports/store/index.ts, Update). */
const arbitraryPresent = <V>(value: fc.Arbitrary<V>): fc.Arbitrary<V | undefined> =>
  fc.option(value, { nil: undefined, freq: 5 });

const id = fc.nat({ max: 60 }).map((n) => `r${String(n).padStart(2, '0')}`);

export const arbitraryDoc: fc.Arbitrary<Doc & { [key: string]: Json }> = fc
  .record({
    id,
    s: arbitraryOptional(text),
    n: arbitraryPresent(number),
    f: arbitraryOptional(fc.boolean()),
    t: arbitraryPresent(fc.array(text, { maxLength: 4 })),
    o: arbitraryPresent(fc.record({ s: arbitraryOptional(text), k: arbitraryPresent(number) })),
  })
  .map((doc) => JSON.parse(JSON.stringify(doc)) as Doc & { [key: string]: Json });

const textCondition: fc.Arbitrary<Filter[string]> = fc.oneof(
  text,
  fc.constant(null),
  fc.record(
    {
      in: fc.array(fc.oneof(text, fc.constant(null)), { maxLength: 5 }),
      ne: fc.oneof(text, fc.constant(null)),
      gt: text,
      gte: text,
      lt: text,
      lte: text,
      exists: fc.boolean(),
      prefix: text,
      contains: fc.oneof(text, fc.array(text, { maxLength: 3 })),
    },
    { requiredKeys: [] },
  ),
  text.map((prefix) => ({ prefix })),
);
const numberCondition: fc.Arbitrary<Filter[string]> = fc.oneof(
  number,
  fc.record(
    {
      in: fc.array(fc.oneof(number, fc.constantFrom('1', true, null))),
      gt: number,
      gte: number,
      lt: number,
      lte: number,
    },
    { requiredKeys: [] },
  ),
  fc.constantFrom(null, '1', true, false, { ne: 1 }, { exists: true }, { gt: '' }),
);
const flagCondition: fc.Arbitrary<Filter[string]> = fc.constantFrom(
  true,
  false,
  null,
  1,
  0,
  { ne: true },
  { in: [true, null] },
  { exists: true },
);
const listCondition: fc.Arbitrary<Filter[string]> = fc.oneof(
  text.map((has) => ({ has })),
  fc.array(text, { maxLength: 3 }).map((has_any) => ({ has_any })),
);

const flatFilter: fc.Arbitrary<Filter> = fc.record(
  {
    s: textCondition,
    n: numberCondition,
    f: flagCondition,
    t: listCondition,
    'o.s': textCondition,
    id: id.map((gte) => ({ gte })),
  },
  { requiredKeys: [] },
);
/** More conditions would rarely match. */
const sparseFilter = fc
  .tuple(flatFilter, fc.shuffledSubarray(['s', 'n', 'f', 't', 'o.s', 'id'], { maxLength: 2 }))
  .map(([filter, keys]): Filter =>
    Object.fromEntries(keys.filter((key) => key in filter).map((key) => [key, filter[key]])),
  );
export const arbitraryFilter: fc.Arbitrary<Filter> = fc.oneof(
  { weight: 3, arbitrary: sparseFilter },
  {
    weight: 1,
    arbitrary: fc
      .tuple(sparseFilter, fc.array(sparseFilter, { minLength: 1, maxLength: 3 }))
      .map(([filter, or]): Filter => Object.assign({}, filter, { or })),
  },
);

export const arbitrarySort: fc.Arbitrary<Sort> = fc.uniqueArray(
  fc.tuple(fc.constantFrom('s', 'n', 'o.s', 'id'), fc.constantFrom('asc' as const, 'desc' as const)),
  { maxLength: 3, selector: ([path]) => path },
);

const wholeNumber = fc.integer({ min: -3, max: 3 });
/** One operator per field, so that paths do not collide. */
export const arbitraryUpdate: fc.Arbitrary<Update> = fc
  .tuple(
    fc.constantFrom<(value: string, by: number) => Update>(
      (value) => ({ set: { s: value } }),
      () => ({ unset: ['s'] }),
      (value) => ({ max: { s: value } }),
      () => ({}),
    ),
    fc.constantFrom<(value: string, by: number) => Update>(
      (_, by) => ({ inc: { n: by } }),
      (_, by) => ({ min: { n: by } }),
      (_, by) => ({ max: { n: by }, inc: { 'o.k': by } }),
      (value) => ({ setOnInsert: { 'o.s': value } }),
    ),
    fc.constantFrom<(value: string, by: number) => Update>(
      (value, by) => ({ push: { t: { each: [value, 'x'], keep: Math.abs(by) } } }),
      (value) => ({ pull: { t: { in: [value, 'a', 'b'] } } }),
      () => ({}),
    ),
    text,
    wholeNumber,
  )
  .map(([a, b, c, value, by]) => {
    const parts = [a(value, by), b(value, by), c(value, by)];
    // `max` may come from two of them.
    const max = Object.assign({}, ...parts.map((part) => part.max ?? {})) as NonNullable<Update['max']>;
    return Object.assign({}, ...parts, { max }) as Update;
  });
