/** `countFew`: the number that `count` answers, however many there are. */
import { expect } from 'chai';
import { countFew } from '../../ports/store/few.js';
import type { Collection, Doc, Filter } from '../../ports/store.js';
import type { Fixture } from './fixture.js';

interface Seat extends Doc {
  of: string;
  state: string;
  n?: number;
}

export function fewCounted(fixture: Fixture): void {
  describe('counts of few', () => {
    const opened = async (): Promise<Collection<Seat>> => {
      const name = fixture.name();
      await fixture.store.ensure([{ name, indexes: [{ fields: ['of', 'state', 'n'] }] }]);
      return fixture.store.collection<Seat>(name);
    };

    it('equal those of `count`, below, at and above the limit', async () => {
      const rows = await opened();
      expect(await countFew(rows, { of: 'a' }, 3)).to.equal(0);
      for (let n = 0; n < 6; n++) {
        await rows.insert({ id: `a${n}`, of: 'a', state: n % 3 === 0 ? 'free' : 'taken', n });
        await rows.insert({ id: `b${n}`, of: 'b', state: 'taken' });
        const asked: Filter[] = [
          { of: 'a' },
          { of: 'a', state: 'taken' },
          { of: 'a', state: 'taken', n: { gte: 2, lt: 5 } },
          { of: 'b', state: { in: ['taken', 'free'] }, n: null },
          { of: 'c' },
        ];
        for (const filter of asked) {
          expect(await countFew(rows, filter, 3), JSON.stringify(filter)).to.equal(await rows.count(filter));
        }
      }
    });

    it('show each write when it is acknowledged', async () => {
      const rows = await opened();
      for (let n = 1; n <= 5; n++) {
        await rows.insert({ id: `a${n}`, of: 'a', state: 'taken', n });
        expect(await countFew(rows, { of: 'a', state: 'taken' }, 100)).to.equal(n);
      }
      await rows.change({ id: 'a1' }, { set: { state: 'free' } });
      expect(await countFew(rows, { of: 'a', state: 'taken' }, 100)).to.equal(4);
      await rows.remove({ of: 'a' });
      expect(await countFew(rows, { of: 'a' }, 100)).to.equal(0);
    });

    it('count the bodies of rows whose index is behind', async () => {
      const name = fixture.name();
      const tuning = { indexedLater: ['n'] };
      await fixture.store.ensure([{ name, indexes: [{ fields: ['n'] }], tuning }]);
      const rows = fixture.store.collection<Seat>(name);
      await rows.insert({ id: 'a', of: 'a', state: 'taken', n: 1 });
      await rows.change({ id: 'a' }, { set: { n: 2 } });
      expect(await countFew(rows, { n: 2 }, 100)).to.equal(1);
      expect(await countFew(rows, { n: 1 }, 100)).to.equal(0);
    });
  });
}
