/** Fields that hold a live token (contract 20, endpoints: `untrusted_fields`). */
import { expect } from 'chai';
import { findLiveTokenFields, LIVE_TOKEN_MESSAGE } from '../../../ports/domain/live-tokens.js';

const TOKEN = `svc_live_${'a'.repeat(43)}`;
const live = { hasLiveToken: async (text: string) => text.includes(TOKEN) };

describe('ports/domain/live-tokens: fields with live tokens', () => {
  it('lists each field with a live token, in arrays, properties and property names', async () => {
    expect(
      await findLiveTokenFields(live, {
        title: TOKEN,
        tags: ['ok', `see ${TOKEN}`],
        context: { inner: { [TOKEN]: 1 } },
        description: 'nothing of this service, though it is longer than the shortest token',
      }),
    ).to.deep.equal({ title: LIVE_TOKEN_MESSAGE, tags: LIVE_TOKEN_MESSAGE, context: LIVE_TOKEN_MESSAGE });
  });

  it('never reads properties of binary data at any depth', async () => {
    const visited: string[] = [];
    const bytes = Buffer.from('{}');
    Object.defineProperty(bytes, 'seen', { enumerable: true, get: () => visited.push('a member of the bytes') });
    expect(await findLiveTokenFields(live, { items: [{ payload: bytes }] })).to.deep.equal({});
    expect(visited).to.deep.equal([]);
  });
});
