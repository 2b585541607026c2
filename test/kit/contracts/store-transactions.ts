import { expect } from 'chai';
import type { Doc, Filter, Transact } from '../../../ports/store/index.js';
import type { ContractFixture } from './fixture.js';

interface Row extends Doc {
  n?: number;
  ref?: string;
}

export function describeTransactions(fixture: ContractFixture): void {
  describe('transactions', () => {
    let transact: Transact;
    before(function () {
      const own = fixture.store.transact;
      if (own === null) this.skip();
      else transact = own;
    });
    const opened = async () => {
      const names = [fixture.name(), fixture.name()] as const;
      await fixture.store.ensure(
        names.map((name) => ({
          name,
          indexes: [{ fields: ['ref'], unique: true }, { fields: ['n'] }],
          values: ['n'],
        })),
      );
      const [a, b] = names.map((name) => fixture.store.collection<Row>(name));
      if (a === undefined || b === undefined) throw new Error('two collections');
      return { names, a, b };
    };

    it('write several collections in order, and return the requested documents', async () => {
      const { names, a, b } = await opened();
      const [first, second] = names;
      const answers = await transact([
        { collection: first, insert: { id: 'x', n: 1 } as Row },
        { collection: first, change: { id: 'x' }, update: { inc: { n: 1 }, set: { ref: undefined } }, answer: true },
        { collection: second, change: { id: 'y' }, update: { setOnInsert: { n: 5 } }, upsert: true },
        { collection: second, change: { id: 'y' }, update: { inc: { n: 2 } } },
        { collection: second, put: { id: 'z', n: 1 } as Row },
        { collection: second, put: { id: 'z', ref: 'put' } as Row },
      ]);
      expect(answers).to.deep.equal([null, { id: 'x', n: 2 }, null, null, null, null]);
      expect(await a.get('x')).to.deep.equal({ id: 'x', n: 2 });
      expect(await b.get('y')).to.deep.equal({ id: 'y', n: 7 });
      expect(await b.get('z')).to.deep.equal({ id: 'z', ref: 'put' });
      expect(await transact([])).to.deep.equal([]);
    });

    it('leave nothing behind when a document exists, a unique field conflicts or none is found', async () => {
      const { names, a, b } = await opened();
      const [first, second] = names;
      await a.insert({ id: 'x', n: 1, ref: 'r' });
      const before = [
        { collection: second, insert: { id: 'new', ref: 's' } as Row },
        { collection: first, change: { id: 'x' }, update: { set: { ref: 'other' }, inc: { n: 1 } }, answer: true },
        { collection: second, change: { id: 'upserted' }, update: { set: { n: 1 } }, upsert: true },
        { collection: first, put: { id: 'x', ref: 'put' } as Row },
        { collection: second, put: { id: 'put', n: 1 } as Row },
      ];
      const rejected = [
        { collection: first, insert: { id: 'x' } },
        { collection: second, insert: { id: 'z', ref: 's' } as Row },
        { collection: first, change: { id: 'x', n: 1 }, update: { set: { n: 9 } } },
        { collection: first, change: { id: 'nobody' }, update: { set: { n: 9 } } },
      ];
      expect(await transact([{ collection: first, insert: { id: 'x' } }, ...before])).to.equal(null);
      for (const last of rejected) {
        expect(await transact([...before, last])).to.equal(null);
        expect(await a.find()).to.deep.equal({ items: [{ id: 'x', n: 1, ref: 'r' }], next: null });
        expect(await b.count()).to.equal(0);
      }
      await b.insert({ id: 'new', ref: 's' });
      expect(await a.find({ filter: { ref: 'r', n: { lt: 2 } }, sort: [['n', 'asc']] }))
        .to.have.property('items')
        .with.lengthOf(1);
    });

    it('leave nothing behind when the program fails, and affect no others', async () => {
      const { names, a } = await opened();
      const [first] = names;
      await a.insert({ id: 'x', ref: 'r' });
      const [rejected, faulty, fine] = await Promise.allSettled([
        transact([
          { collection: first, insert: { id: 'one' } },
          { collection: first, insert: { id: 'x' } },
        ]),
        transact([
          { collection: first, insert: { id: 'two' } },
          { collection: first, change: { id: 'x' }, update: { inc: { ref: 1 } } },
        ]),
        a.insert({ id: 'three' }),
      ]);
      expect(rejected).to.deep.equal({ status: 'fulfilled', value: null });
      expect(faulty).to.have.property('status', 'rejected');
      expect(faulty).to.have.property('reason').that.is.instanceOf(TypeError);
      expect(fine).to.have.property('status', 'fulfilled');
      expect((await a.find()).items.map(({ id }) => id)).to.deep.equal(['three', 'x']);
    });

    it('change the first in the order', async () => {
      const { names, a, b } = await opened();
      const [first, second] = names;
      for (const [id, n] of Object.entries({ x: 3, y: 1, z: 2 })) await a.insert({ id, n, ref: `r-${id}` });
      const claim = (id: string, filter: Filter) =>
        transact([
          { collection: first, change: filter, update: { inc: { n: 10 } }, sort: [['n', 'asc']], answer: true },
          { collection: second, insert: { id, n: 0 } as Row },
        ]);
      expect(await claim('one', { n: { lt: 10 } })).to.deep.equal([{ id: 'y', n: 11, ref: 'r-y' }, null]);
      expect(await claim('two', { n: { lt: 10 } })).to.deep.equal([{ id: 'z', n: 12, ref: 'r-z' }, null]);
      expect(await claim('none', { n: { gt: 100 } })).to.equal(null);
      expect((await b.find()).items.map(({ id }) => id)).to.deep.equal(['one', 'two']);
      expect(await claim('one', { n: { lt: 10 } })).to.equal(null);
      expect(await a.get('x')).to.deep.equal({ id: 'x', n: 3, ref: 'r-x' });
    });

    it('are visible in the next read, with and without later paths', async () => {
      const { names, a } = await opened();
      const [first] = names;
      for (const id of ['x', 'y', 'z']) await a.insert({ id, n: 1 });
      const change = (id: string, n: number, withRef: boolean) => {
        const set = { n, ...(withRef && { ref: `${id}${n}` }) };
        return transact([{ collection: first, change: { id }, update: { set } }]);
      };
      for (let n = 2; n < 8; n++) {
        await change('x', n, n % 2 === 0);
        await change('y', -n, n % 3 === 0);
        expect((await a.find({ sort: [['n', 'asc']] })).items.map(({ id }) => id)).to.deep.equal(['y', 'z', 'x']);
        expect(await a.count({ n: { gte: n } })).to.equal(1);
        const { items } = await a.find({ filter: { n: -n } });
        expect(items.map(({ id }) => id)).to.deep.equal(['y']);
      }
    });

    it('return another document to each concurrent caller, and none to the last ones', async () => {
      const { names, a, b } = await opened();
      const [first, second] = names;
      for (let n = 0; n < 10; n++) await a.insert({ id: `x${n}`, n });
      const claims = await Promise.all(
        Array.from({ length: 15 }, (_, i) =>
          transact([
            {
              collection: first,
              change: { n: { gte: 0 } },
              update: { set: { n: -1 } },
              sort: [['n', 'asc']],
              answer: true,
            },
            { collection: second, insert: { id: `y${i}` } },
          ]),
        ),
      );
      const won = claims.flatMap((answers) => answers?.[0]?.id ?? []);
      expect(won.toSorted()).to.deep.equal(Array.from({ length: 10 }, (_, n) => `x${n}`));
      expect(await b.count()).to.equal(won.length);
    });

    it('have one winner among concurrent callers', async () => {
      const { names, a, b } = await opened();
      const [first, second] = names;
      await a.insert({ id: 'x', n: 0 });
      const won = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          transact([
            { collection: second, insert: { id: `try${i}` } },
            { collection: first, change: { id: 'x', n: 0 }, update: { inc: { n: 1 } } },
          ]),
        ),
      );
      expect(won.filter((answer) => answer !== null)).to.have.lengthOf(1);
      expect(await b.count()).to.equal(1);
      expect(await a.get('x')).to.deep.equal({ id: 'x', n: 1 });
    });
  });
}
