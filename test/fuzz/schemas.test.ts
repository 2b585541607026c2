/** The schemas of every route there is: no rule of a schema's own fails at bad input. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Schema as JoiSchema } from 'joi';
import { Failure } from '../../adapters/hapi/wire/failure.js';
import type { SchemaDescription } from '../../adapters/hapi/openapi/schema-description.js';
import { toJsonSchema } from '../../adapters/hapi/openapi/json-schema.js';
import {
  BodyValidator,
  validateParams,
  createParamsSchema,
  QueryValidator,
} from '../../adapters/hapi/validation/validators.js';
import type { RouteSpec } from '../../kernel/contract/index.js';
import { BUILTIN } from '../../config/compose/compose.js';
import { bootTestKernel } from '../harness.js';
import { scaleRepeats } from '../support/repeat-budget.js';
import { ADMIN_ACCOUNT } from '../support/service.js';
import { HOSTILE, valueOf } from './schema.js';

const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_124);

type Place = 'body' | 'query' | 'params';
interface Placed {
  name: string;
  place: Place;
  schema: JoiSchema;
  strict: boolean;
}

/**
 * Dates without a time, wrong zones, wildcards: what rules of their own were written for, and a
 * little more.
 */
const BAD: readonly unknown[] = [
  ...HOSTILE,
  '2027-01-01',
  '2027-01-01T00:00:00',
  '2027-02-30T00:00:00Z',
  'Mars/Olympus',
  '**/[',
  'x'.repeat(20_000),
  null,
  0,
  -1.5,
  true,
  [],
  ['2027-01-01'],
  {},
  { a: 'x'.repeat(20_000) },
  { '\ud800': '\udfff' },
];
const GOOD: readonly string[] = ['shop', 'web-1', 'a', '2026-11-20T08:15:30.123Z', 'Europe/Berlin', '0'.repeat(64)];

interface Described extends SchemaDescription {
  rules?: { name: string }[];
  schema?: Described;
}

/** Where in a schema a rule of its own stands. */
function customs(described: Described, path: readonly string[] = []): string[][] {
  const own = described.rules?.some(({ name }) => name === 'custom') === true ? [[...path]] : [];
  const inner: [string, Described][] = [
    ...Object.entries(described.keys ?? {}),
    ...(described.items ?? []).map((item): [string, Described] => ['0', item]),
  ];
  const others = (described.matches ?? []).flatMap(({ schema, then, otherwise }) =>
    [schema, then, otherwise].filter((one) => one !== undefined),
  );
  return [
    ...own,
    ...inner.flatMap(([name, one]) => customs(one, [...path, name])),
    ...others.flatMap((one) => customs(one, path)),
  ];
}

function at(path: readonly string[], value: unknown, base: unknown): unknown {
  const [head, ...rest] = path;
  if (head === undefined) return value;
  const inner = (base as Record<string, unknown> | undefined)?.[head];
  if (head === '0') return [at(rest, value, inner)];
  return { ...(typeof base === 'object' ? base : {}), [head]: at(rest, value, inner) };
}

describe(`fuzz: the schemas of every route (seed ${SEED})`, () => {
  let all: Placed[];

  before(async () => {
    const access = { admin_user: ADMIN_ACCOUNT.username, admin_password: ADMIN_ACCOUNT.password };
    const made = await bootTestKernel(BUILTIN, { sections: { auth: access } });
    const specs: RouteSpec[] = made.kernel.listRoutes().map(({ spec }) => spec);
    await made.stop();
    all = specs.flatMap((spec) =>
      (['body', 'query', 'params'] as const).flatMap((place) => {
        const schema = spec.input?.[place];
        const name = `${place} of ${[spec.method].flat().join('|')} ${spec.path}`;
        return schema === undefined ? [] : [{ name, place, schema, strict: spec.strictQuery ?? false }];
      }),
    );
    expect(all.length).to.be.greaterThan(100);
  });

  const words = fc.constantFrom(...GOOD);
  const valuesFor = (schema: JoiSchema): fc.Arbitrary<unknown> => valueOf(toJsonSchema(schema.describe()), words);

  it('validates invalid input with every custom schema rule without an exception', () => {
    let requested = 0;
    for (const { name, place, schema, strict } of all) {
      const described = schema.describe() as Described;
      const samples = fc.sample(valuesFor(schema), { numRuns: scaleRepeats(1), seed: SEED });
      for (const path of customs(described)) {
        for (const bad of BAD) {
          for (const base of [{}, ...samples]) {
            requested += 1;
            const given = at(path, bad, base);
            const outcome = checked(place, schema, strict, given);
            if (outcome instanceof Failure)
              expect(outcome.status, `${name}: ${JSON.stringify(given).slice(0, 300)}`).to.be.oneOf([400, 404, 422]);
          }
        }
      }
    }
    expect(requested).to.be.greaterThan(1_000);
  });
});

/** As the route does it. */
function checked(place: Place, schema: JoiSchema, strict: boolean, given: unknown): unknown {
  if (place === 'body') return new BodyValidator(schema).validate(given, 100);
  if (place === 'query') return new QueryValidator(schema, strict).validate({ ...(given as Record<string, unknown>) });
  return validateParams(createParamsSchema(schema), given as Record<string, string>);
}
