import { expect } from 'chai';
import fc from 'fast-check';
import joi, { type Schema } from 'joi';
import { validateBody } from '../../../../plugins/licensing/online/questions.js';
import { fastCheck, fastQuery } from '../../../../adapters/hapi/validation/fast-check.js';
import { errorBody, intakeBody } from '../../../../plugins/errorstream/body.js';
import { heartbeatBody } from '../../../../plugins/watchdog/http/schemas.js';

const joiTakesAsItIs = (schema: Schema, value: unknown): boolean => {
  const options = { convert: false, stripUnknown: { objects: true, arrays: false } };
  const taken = schema.validate(value, options);
  return taken.error === undefined && JSON.stringify(taken.value) === JSON.stringify(value);
};

const REPORT = {
  project: 'shop',
  error_level: 'error',
  error_message: 'boom',
  exception_class: null,
  line: 7,
  occurred_at: '2026-11-20T08:15:30.123Z',
  tags: ['a', ''],
  context: { any: { thing: [1, null] } },
  breadcrumbs: [{}, 'x'],
};

/** Schemas with what the quick look knows, and with what it must leave to joi. */
const SCHEMAS: Record<string, Schema> = {
  'error report': errorBody,
  'one or many': intakeBody,
  heartbeat: heartbeatBody,
  limits: joi.object({ a: joi.string().min(2).max(3), b: joi.number().min(-1).max(5), c: joi.array().min(1).max(2) }),
  'nested keys': joi.object({ a: joi.object({ a: joi.number().integer().required() }).required() }),
  defaults: joi.object({ a: joi.string().default('x'), b: joi.any() }),
  'only these': joi.object({
    a: joi.string().valid('a', 'ab'),
    b: joi.number().valid(1),
    c: joi.boolean().valid(true),
  }),
  forbidden: joi.object({ a: joi.any().forbidden(), b: joi.string().invalid('a') }),
  converting: joi.object({ a: joi.string().trim().lowercase(), b: joi.string().empty('a'), c: joi.number().unsafe() }),
  renamed: joi.object({ b: joi.any() }).rename('a', 'b'),
  together: joi.object({ a: joi.any(), b: joi.any() }).or('a', 'b').nand('a', 'b'),
  unknown: joi.object({ a: joi.any() }).unknown(),
  patterned: joi.object().pattern(/a/, joi.number()),
  'patterned texts': joi.object({
    a: joi
      .string()
      .pattern(/^A\/?b?$/i)
      .message('an a'),
    b: joi.string().pattern(/a/, { invert: true }),
    c: joi.string().pattern(/a/, 'name').min(2),
  }),
  conditional: joi.object({ a: joi.any(), b: joi.any().when('a', { is: 1, otherwise: joi.required() }) }),
  'one of two': joi.object({
    a: joi.alternatives(joi.string().max(1), joi.number()),
    b: joi.array().items(joi.string(), joi.number()),
  }),
  referring: joi.object({ a: joi.number(), b: joi.number().min(joi.ref('a')) }),
  'required element': joi.object({
    a: joi.array().items(joi.string().required()),
    b: joi.array().items(joi.number()).unique(),
  }),
};

/** Schemas of queries, whose values are texts. */
const QUERIES: Record<string, Schema> = {
  ...SCHEMAS,
  asked: joi.object({
    a: joi.string().max(3).required(),
    b: joi.string().allow('').max(2).default('x'),
    c: joi.array().items(joi.string()),
  }),
  converted: joi.object({ a: joi.number().default(5), b: joi.boolean().default(false), c: joi.string().isoDate() }),
  numbers: joi.object({
    a: joi.number().integer().min(1).max(100),
    b: joi.number().valid(1, 60).required(),
    c: joi.number().multiple(3),
  }),
  'made defaults': joi.object({
    a: joi.any().default(() => 'x'),
    b: joi.object({ c: joi.any().default(1) }).default(),
  }),
};
const numbers = ['1', '60', '0', '007', '-1', '1e1', ' 1', '1.0', '100', '101', '900719925474099', '9007199254740993'];
const given = fc.constantFrom('', 'a', 'ab', 'abcd', ' A ', ...numbers, 'true', '2026-11-20T08:15:30Z');
const query = fc
  .dictionary(fc.constantFrom('a', 'b', 'c', 'z'), fc.oneof(given, fc.array(given, { minLength: 1, maxLength: 3 })))
  .map((sample) => Object.assign(Object.create(null) as Record<string, unknown>, sample));

const scalar = fc.constantFrom<unknown>(null, '', 'a', 'ab', 'abcd', ' A ', '1', 0, 1, 1.5, -7, 2 ** 53, true, false);
const inner = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('a', 'b', 'z'), scalar),
);
const report = fc.record(
  Object.fromEntries(
    [...Object.keys(REPORT), 'unknown'].map((key) => [
      key,
      fc.oneof(inner, fc.constant(REPORT[key as keyof typeof REPORT])),
    ]),
  ),
  { requiredKeys: [] },
);
const value = fc.oneof(
  inner,
  fc.dictionary(fc.constantFrom('a', 'b', 'c', 'z'), inner),
  report,
  fc.array(report, { maxLength: 3 }),
);

describe('hapi: fast check', () => {
  for (const [name, schema] of Object.entries(SCHEMAS)) {
    it(`accepts only what joi accepts unchanged: ${name}`, () => {
      const sure = fastCheck(schema);
      fc.assert(
        fc.property(value, (sample) => {
          if (sure(sample)) expect(joiTakesAsItIs(schema, sample), JSON.stringify(sample)).to.equal(true);
        }),
        { numRuns: 2_000 },
      );
    });
  }

  for (const [name, schema] of Object.entries(QUERIES)) {
    it(`converts a query as joi does: ${name}`, () => {
      for (const strict of [false, true]) {
        const quick = fastQuery(schema, strict);
        fc.assert(
          fc.property(query, (sample) => {
            const made = quick(sample);
            if (made === null) return;
            const { value: taken, error } = schema.validate(sample, strict ? {} : { stripUnknown: { objects: true } });
            expect(error).to.equal(undefined);
            expect(made).to.deep.equal(taken);
          }),
          { numRuns: 1_000 },
        );
      }
    });
  }

  it('accepts valid queries, with and without defaults, and leaves unknown names to joi where they count', () => {
    const schema = joi.object({ a: joi.string().required(), b: joi.string().allow('').default('x'), c: joi.string() });
    const quick = fastQuery(schema, false);
    expect(quick({ a: '1' })).to.deep.equal({ a: '1', b: 'x' });
    expect(quick({ a: '1', b: '', c: '3', z: '4' })).to.deep.equal({ a: '1', b: '', c: '3' });
    for (const wrong of [{}, { a: '' }, { a: ['1', '2'] }, { a: '1', c: '' }]) expect(quick(wrong)).to.equal(null);
    const strict = fastQuery(schema, true);
    expect(strict({ a: '1', c: '3' })).to.deep.equal({ a: '1', b: 'x', c: '3' });
    expect(strict({ a: '1', z: '4' })).to.equal(null);
  });

  it('accepts a plain number of a query, within its bounds', () => {
    const quick = fastQuery(joi.object({ a: joi.number().integer().min(1).max(100) }), true);
    expect(quick({ a: '60' })).to.deep.equal({ a: 60 });
    for (const other of ['0', '101', '060', '6e1', '60.0', ' 60', '+60', ''])
      expect(quick({ a: other })).to.equal(null);
  });

  it('accepts a valid report, alone and in a list, with each optional field', () => {
    const sure = fastCheck(intakeBody);
    expect(sure(REPORT)).to.equal(true);
    expect(sure([REPORT, REPORT])).to.equal(true);
    for (const key of Object.keys(REPORT)) {
      const { [key as 'line']: _, ...rest } = REPORT;
      expect(sure(rest), key).to.equal(!['project', 'error_level', 'error_message'].includes(key));
    }
  });

  it('accepts a license request, whose texts have named and inverted patterns', () => {
    const sure = fastCheck(validateBody);
    const question = { license_key: 'ABCDE', product: 'shop', machine_id: 'web-1', app_version: '1.4.2', nonce: 'a b' };
    expect(sure(question)).to.equal(true);
    expect(sure({ ...question, machine_id: null, app_version: '', nonce: null })).to.equal(true);
    for (const wrong of [{ product: 'No slug' }, { machine_id: 'web\n1' }, { app_version: '\ud800' }, { nonce: 1 }])
      expect(sure({ ...question, ...wrong }), JSON.stringify(wrong)).to.equal(false);
  });

  it('accepts a heartbeat whose source fits its pattern', () => {
    const sure = fastCheck(heartbeatBody);
    const beat = { source: 'web-1', status: 'ok', interval: 60, message: null, checks: {}, metrics: { cpu: 12.5 } };
    expect(sure(beat)).to.equal(true);
    for (const source of ['web 1', '', '..', 'x'.repeat(129)])
      expect(sure({ ...beat, source }), source).to.equal(false);
  });

  it('leaves the rest to joi', () => {
    const sure = fastCheck(intakeBody);
    for (const wrong of [
      { ...REPORT, unknown: 1 },
      { ...REPORT, line: 1.5 },
      { ...REPORT, line: 2 ** 31 },
      { ...REPORT, project: '' },
      { ...REPORT, project: 'x'.repeat(65) },
      { ...REPORT, occurred_at: 'yesterday' },
      { ...REPORT, tags: [1] },
      { ...REPORT, context: [] },
      [],
      Array.from({ length: 101 }, () => REPORT),
      null,
      'x',
    ]) {
      expect(sure(wrong), JSON.stringify(wrong)?.slice(0, 80)).to.equal(false);
    }
  });
});
