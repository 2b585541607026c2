/** A claimed item as it is rendered: its facts and its JSON come apart again, whatever its texts say. */
import { expect } from 'chai';
import fc from 'fast-check';
import { claimedOf, render } from '../../../../plugins/bugs/claims/claimed-row.js';
import { firstDocument } from '../../../../plugins/bugs/item/first-document.js';
import { itemView } from '../../../../plugins/bugs/item/view.js';

const NOW = Date.UTC(2026, 0, 1);
const ID = '01900000-0000-7000-8000-000000000001';

describe('bugs: a claimed item', () => {
  it('its facts and its JSON come apart again', () => {
    const words = fc.oneof(fc.string(), fc.constantFrom(',"item":', '{"facts":', '"}', '\\', '\u2028'));
    fc.assert(
      fc.property(words, words, fc.option(words), (title, error_message, repo_url) => {
        const report = { type: 'error', project: 'shop', title, severity: 'low', source: 'app' } as const;
        const more = { reported_by: title, error_level: 'error', error_message, repo_url, tags: [title] } as const;
        const first = firstDocument({ ...report, ...more }, ID, 7, 'key', { now: NOW, occurred: NOW });
        const item = { ...first, title, repo_url: repo_url ?? null, claim_count: 1, rev: 2 };
        const texts = { id: ID, description: null, error_message, stack_trace: error_message };
        const claimed = claimedOf(JSON.stringify(render(item, texts, { now: NOW })));
        expect(claimed.facts).to.deep.equal({
          id: ID,
          project: 'shop',
          rev: 2,
          claim_count: 1,
          located: Boolean(repo_url),
        });
        expect(claimed.item).to.equal(JSON.stringify(itemView(item, texts, NOW)));
      }),
    );
  });
});
