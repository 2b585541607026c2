/**
 * Posted forms by a schema of the interface: each fault a sentence at its control, all of them at
 * once.
 */
import { expect } from 'chai';
import joi from 'joi';
import { ServiceError } from '../../../kernel/errors.js';
import { fromForm } from '../../../kernel/forms/form-validation.js';

/** The faults of one control, or of several. */
function faults(schema: joi.ObjectSchema, given: object): Record<string, string> {
  try {
    fromForm(schema, given);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error.status).to.equal(422);
    expect(error.code).to.equal('validation_failed');
    return error.fields ?? {};
  }
  return {};
}
const fault = (rule: joi.Schema, value: unknown): string | undefined =>
  faults(joi.object({ field: rule }), value === undefined ? {} : { field: value })['field'];

describe('kernel: forms', () => {
  it('returns the values converted by the schema, without unknown fields', () => {
    const schema = joi.object({ n: joi.number(), on: joi.boolean().default(false) });
    expect(fromForm(schema, { n: '7', csrf_token: 'x' })).to.deep.equal({ n: 7, on: false });
  });

  it('reports all errors together, one sentence per control', () => {
    const schema = joi.object({
      name: joi.string().required(),
      n: joi.number().integer().min(1),
      kind: joi.string().valid('a', 'b', 'c', null),
      list: joi.array().items(joi.string().max(3)).min(1),
    });
    expect(faults(schema, { name: '', n: 'many', kind: 'x', list: ['abcd', 'abcde'] })).to.deep.equal({
      name: 'Required',
      n: 'Enter a number.',
      kind: 'Choose a, b or c.',
      list: 'Must have at most 3 characters (now 4).',
    });
  });

  it('uses messages for users instead of the validator’s messages', () => {
    const cases: [joi.Schema, unknown, string][] = [
      [joi.any().required(), undefined, 'Required'],
      [joi.string().min(1), '', 'Required'],
      [joi.string().min(12), 'abc', 'Must have at least 12 characters (now 3).'],
      [joi.string().max(1000), 'é'.repeat(1200), 'Must have at most 1,000 characters (now 1,200).'],
      [joi.number().min(5), 4, 'Must be at least 5.'],
      [joi.number().max(1440), 2000, 'Must be at most 1,440.'],
      [joi.number().integer(), 1.5, 'Enter a whole number.'],
      [joi.array().items(joi.string()).min(1), [], 'Choose at least one.'],
      [joi.array().items(joi.string()).max(2), ['a', 'b', 'c'], 'Choose at most 2.'],
      [joi.string().uri({ scheme: ['http', 'https'] }), 'x', 'Enter a URL that starts with https:// or http://.'],
      [joi.string().email({ tlds: false }), 'x', 'Enter an e-mail address, for example ada@example.com.'],
      [joi.string().pattern(/^[a-z]+$/, 'lower-case letters'), 'A', 'Use lower-case letters.'],
      [joi.string().pattern(/x/, { invert: true, name: 'free of x' }), 'x', 'Must be free of x.'],
    ];
    for (const [rule, value, text] of cases) expect(fault(rule, value), text).to.equal(text);
  });

  it('prefers the messages of the schema, as sentences', () => {
    expect(fault(joi.string().pattern(/\S/).message('must not be empty'), ' ')).to.equal('This must not be empty.');
    expect(fault(joi.number().messages({ 'number.base': 'is no port' }), 'x')).to.equal('This is no port.');
    expect(
      fault(
        joi.any().custom((_, { message }) => message({ custom: 'two of them overlap' })),
        1,
      ),
    ).to.equal('Two of them overlap.');
    const either = joi.object({ a: joi.any(), b: joi.any() }).oxor('a', 'b');
    expect(faults(either.messages({ 'object.oxor': '`a` and `b` do not go together' }), { a: 1, b: 2 })).to.deep.equal({
      a: 'A and b do not go together.',
    });
  });

  it('reports many errors', () => {
    const schema = joi.object({ list: joi.array().items(joi.number()) });
    expect(faults(schema, { list: Array.from({ length: 5000 }, () => 'x') })).to.deep.equal({
      list: 'Enter a number.',
    });
  });
});
