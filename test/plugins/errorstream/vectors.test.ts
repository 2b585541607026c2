/**
 * The shared grouping vectors, posted one after the other to a fresh store through the routes
 * (contract 21, grouping).
 */
import { expect } from 'chai';
import { cases } from '../../support/grouping-vectors.js';
import { Fixture, TOKEN } from './fixture.js';

describe('errorstream: grouping vectors', () => {
  for (const { name, endpoint, a, b, same_group } of cases) {
    it(`${name}: creates ${same_group ? 'one item' : 'two items'}`, async () => {
      const fixture = await Fixture.create();
      try {
        const first = await fixture.server.ask('POST', endpoint, { bearer: TOKEN, json: a });
        const second = await fixture.server.ask('POST', endpoint, { bearer: TOKEN, json: b });
        expect([first.status, second.status]).to.deep.equal([201, same_group ? 200 : 201]);
        expect(first.body['id'] === second.body['id']).to.equal(same_group);
        expect(await fixture.items()).to.equal(same_group ? 1 : 2);
      } finally {
        await fixture.stop();
      }
    });
  }
});
