import { expect } from 'chai';
import { StoreConflict, type Doc } from '../../../ports/store/index.js';
import type { ContractFixture } from './fixture.js';

interface Item extends Doc {
  n?: number;
  rev?: number;
  state?: string;
  at?: number;
  holder?: string;
  ref?: string;
}

const listIndexes = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

export function describeConcurrency(fixture: ContractFixture): void {
  describe('concurrent callers', () => {
    it('claim 40 items 64 times with 40 winners, each item once', async () => {
      const name = fixture.name();
      await fixture.store.ensure([{ name, indexes: [{ fields: ['state', 'at'] }] }]);
      const items = fixture.store.collection<Item>(name);
      await items.bulk(listIndexes(40).map((i) => ({ insert: { id: `i${i}`, state: 'open', at: (i * 7) % 40 } })));
      const claims = await Promise.all(
        listIndexes(64).map((i) =>
          items.change(
            { state: 'open' },
            { set: { state: 'claimed', holder: `h${i}` }, inc: { n: 1 } },
            { sort: [['at', 'asc']] },
          ),
        ),
      );
      const won = claims.filter((claim) => claim !== null);
      expect(won).to.have.length(40);
      expect(new Set(won.map((claim) => claim.doc.id)).size).to.equal(40);
      for (const { doc } of won) expect(await items.get(doc.id)).to.deep.equal(doc);
    });

    it('lose no increment', async () => {
      const items = fixture.store.collection<Item>(fixture.name());
      await items.insert({ id: 'a', n: 0 });
      const results = await Promise.all(listIndexes(200).map(() => items.change({ id: 'a' }, { inc: { n: 1 } })));
      expect(new Set(results.map((result) => result?.doc.n)).size).to.equal(200);
      expect(await items.get('a')).to.deep.equal({ id: 'a', n: 200 });
    });

    it('change each of many documents once when several callers change all that match', async () => {
      const items = fixture.store.collection<Item>(fixture.name());
      await items.bulk(listIndexes(50).map((i) => ({ insert: { id: `i${i}`, state: 'open', n: 0 } })));
      const change = { set: { state: 'closed' }, inc: { n: 1 } };
      const counts = await Promise.all(listIndexes(4).map(() => items.changeMany({ state: 'open' }, change)));
      expect(counts.reduce((sum, n) => sum + n)).to.equal(50);
      expect(await items.count({ state: 'closed', n: 1 })).to.equal(50);
    });

    it('compare and set each revision with one winner', async () => {
      const items = fixture.store.collection<Item>(fixture.name());
      await items.insert({ id: 'a', rev: 1 });
      const results = await Promise.all(
        listIndexes(20).map((i) => items.change({ id: 'a', rev: 1 }, { inc: { rev: 1 }, set: { holder: `h${i}` } })),
      );
      expect(results.filter((result) => result !== null)).to.have.length(1);
    });

    it('upsert one id: it is created once, and every one is counted', async () => {
      const items = fixture.store.collection<Item>(fixture.name());
      const results = await Promise.all(
        listIndexes(50).map((i) =>
          items.change({ id: 'k' }, { inc: { n: 1 }, setOnInsert: { holder: `h${i}` } }, { upsert: true }),
        ),
      );
      expect(results.filter((result) => result?.created)).to.have.length(1);
      expect((await items.get('k'))?.n).to.equal(50);
    });

    it('insert one unique value with one winner, and the others get the index', async () => {
      const name = fixture.name();
      await fixture.store.ensure([{ name, indexes: [{ fields: ['ref'], unique: true }] }]);
      const items = fixture.store.collection<Item>(name);
      const results = await Promise.allSettled(listIndexes(50).map((i) => items.insert({ id: `i${i}`, ref: 'same' })));
      const lost = results.filter((result) => result.status === 'rejected').map((result) => result.reason as unknown);
      expect(lost).to.have.length(49);
      for (const error of lost) expect(error).to.be.instanceOf(StoreConflict).with.property('index', 'ref');
      expect(await items.count()).to.equal(1);
    });
  });
}
