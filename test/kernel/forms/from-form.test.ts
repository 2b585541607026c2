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
      name: 'Fill this in.',
      n: 'Give a number.',
      kind: 'Choose a, b or c.',
      list: 'Write at most 3 characters; these are 4.',
    });
  });

  it('uses messages for users instead of the validator’s messages', () => {
    const cases: [joi.Schema, unknown, string][] = [
      [joi.any().required(), undefined, 'Fill this in.'],
      [joi.string().min(1), '', 'Fill this in.'],
      [joi.string().min(12), 'abc', 'Write at least 12 characters; these are 3.'],
      [joi.string().max(1000), 'é'.repeat(1200), 'Write at most 1,000 characters; these are 1,200.'],
      [joi.number().min(5), 4, 'Give 5 or more.'],
      [joi.number().max(1440), 2000, 'Give 1,440 or less.'],
      [joi.number().integer(), 1.5, 'Give a whole number.'],
      [joi.array().items(joi.string()).min(1), [], 'Choose at least one.'],
      [joi.array().items(joi.string()).max(2), ['a', 'b', 'c'], 'Give at most 2.'],
      [
        joi.string().uri({ scheme: ['http', 'https'] }),
        'x',
        'Give a whole address that begins with https:// or http://.',
      ],
      [joi.string().email({ tlds: false }), 'x', 'Give an e-mail address such as ada@example.com.'],
      [joi.string().pattern(/^[a-z]+$/, 'lower-case letters'), 'A', 'Use lower-case letters.'],
      [joi.string().pattern(/x/, { invert: true, name: 'free of x' }), 'x', 'The text must be free of x.'],
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
    expect(faults(schema, { list: Array.from({ length: 5000 }, () => 'x') })).to.deep.equal({ list: 'Give a number.' });
  });
});
