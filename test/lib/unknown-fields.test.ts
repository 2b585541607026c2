import { expect } from 'chai';
import fc from 'fast-check';
import joi from 'joi';
import { listUnknownFields } from '../../lib/unknown-fields.js';

const schema = joi.object({
  name: joi.string(),
  set: joi.object({ title: joi.string() }),
  list: joi.array().items(joi.object({ a: joi.any() })),
  tags: joi.object(),
  counts: joi.object().pattern(joi.string(), joi.number()),
  open: joi.object({ b: joi.object({ c: joi.any() }) }).unknown(),
  either: joi.alternatives(joi.string(), joi.object({ x: joi.any() })),
  checked_elsewhere: joi.object().unknown().meta({ validated_elsewhere: true }),
  two: joi.alternatives(joi.object({ x: joi.any() }), joi.object({ y: joi.any() })),
});
const reported = (body: unknown): string[] => listUnknownFields(schema.describe(), body);
const no = (path: string): string => `${path} is no field of this call`;

describe('lib: unknown fields', () => {
  it('reports unknown fields, including within objects and lists', () => {
    expect(reported({ name: 'a', customer: 1 })).to.deep.equal([no('customer')]);
    expect(reported({ set: { title: 'a', titel: 'b' }, list: [{ a: 1 }, { b: 1 }] })).to.deep.equal([
      no('set.titel'),
      no('list.1.b'),
    ]);
    expect(reported({ either: { x: 1, z: 1 } })).to.deep.equal([no('either.z')]);
    expect(reported(JSON.parse('{"__proto__":1,"constructor":2,"toString":3}'))).to.deep.equal([
      no('__proto__'),
      no('constructor'),
      no('toString'),
    ]);
  });

  it('ignores maps with arbitrary keys, and alternatives', () => {
    expect(reported({ tags: { any: { thing: 1 } }, counts: { cpu: 1 }, two: { z: 1 } })).to.deep.equal([]);
    expect(reported({ open: { other: 1, b: { c: 1, d: 1 } } })).to.deep.equal([no('open.b.d')]);
    for (const other of [null, 'x', 7, [], [{ name: 1 }]]) expect(reported(other)).to.deep.equal([]);
  });

  it('reports only removed fields for an object that is validated elsewhere', () => {
    const checked = { any: 1 };
    const dropped = (value: object): string[] => (value === checked ? ['__proto__'] : []);
    expect(listUnknownFields(schema.describe(), { checked_elsewhere: checked }, dropped)).to.deep.equal([
      no('checked_elsewhere.__proto__'),
    ]);
  });

  it('returns at most ten sentences, with truncated and sanitized names', () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`f${i}`, 1]));
    expect(reported(many)).to.have.length(10);
    expect(reported(many).at(-1)).to.equal('more fields are not fields of this request');
    expect(reported({ [`a\n\u202e\ud800${'x'.repeat(5_000)}`]: 1 })[0]).to.equal(
      no(`a\ufffd\ufffd\ufffd${'x'.repeat(96)}`),
    );
  });

  it('reports nothing for a body that the schema accepts as a whole', () => {
    const strict = schema.prefs({ allowUnknown: false });
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('name', 'set', 'tags', 'z'), fc.jsonValue()), (body) => {
        if (strict.validate(body).error === undefined) expect(reported(body)).to.deep.equal([]);
      }),
    );
  });
});
