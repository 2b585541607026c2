import { expect } from 'chai';
import { findSecrets, joi } from '../../kernel/contract/joi.js';

const secret = joi.string().secret();
const string = joi.string();

describe('kernel: secret settings', () => {
  const cases: [what: string, schema: ReturnType<typeof joi.any>, value: unknown, found: string[]][] = [
    ['a member', joi.object({ token: secret, name: string }), { token: 'a', name: 'b' }, ['a']],
    ['a nested member', joi.object({ mail: joi.object({ password: secret }) }), { mail: { password: 'a' } }, ['a']],
    ['items of a list', joi.object({ keys: joi.array().items(secret) }), { keys: ['a', 'b'] }, ['a', 'b']],
    [
      'an item at its place',
      joi.object({ pair: joi.array().ordered(string, secret) }),
      { pair: ['a', 'b'] },
      ['a', 'b'],
    ],
    ['members of any name', joi.object({ hooks: joi.object().pattern(string, secret) }), { hooks: { x: 'a' } }, ['a']],
    [
      'an alternative',
      joi.object({ to: joi.alternatives(string, joi.object({ key: secret })) }),
      { to: { key: 'a' } },
      ['a'],
    ],
    [
      'a condition',
      joi.object({ kind: string, to: joi.when('kind', { not: 'x', otherwise: secret }) }),
      { kind: 'x', to: 'a' },
      ['a'],
    ],
    [
      'nothing that is empty or absent',
      joi.object({ token: secret.allow('', null), other: secret }),
      { token: '' },
      [],
    ],
  ];
  for (const [what, schema, value, found] of cases)
    it(`finds secrets: ${what}`, () => expect(findSecrets(schema, value)).to.deep.equal(found));
});
