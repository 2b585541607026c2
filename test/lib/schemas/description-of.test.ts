/** What joi says of a schema, without its check of that. */
import { expect } from 'chai';
import joi from 'joi';
import { descriptionOf } from '../../../lib/schemas/description-of.js';

describe('descriptionOf', () => {
  it('returns what joi returns, at every level', () => {
    const inner = joi.object({ at: joi.date().iso().required(), text: joi.string().pattern(/^a+$/u).allow(null) });
    const schema = joi
      .object({
        list: joi.array().items(inner).min(1),
        either: joi.alternatives(joi.number().integer().max(7), joi.ref('list'), inner.meta({ name: 'inner' })),
        when: joi.any().when('list', { is: joi.exist(), otherwise: joi.forbidden() }),
      })
      .pattern(joi.string(), joi.boolean().default(true));
    expect(descriptionOf(schema)).to.deep.equal(schema.describe());
  });

  it('restores joi, also when it throws', () => {
    const asserted = (): unknown => Object.entries(joi).find(([name]) => name === 'assert')?.[1];
    const before = asserted();
    descriptionOf(joi.string());
    expect(asserted()).to.equal(before);
    // A schema of its own: `joi.string()` is one for all.
    const broken = Object.assign(joi.string().label('broken'), {
      describe: () => {
        throw new Error('no account');
      },
    });
    expect(() => descriptionOf(broken)).to.throw('no account');
    expect(asserted()).to.equal(before);
    expect(() => joi.assert(1, joi.string())).to.throw('must be a string');
  });
});
