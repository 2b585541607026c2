/** `getCached` and `findCached`: as `get` and `find` for what this process writes itself. */
import { expect } from 'chai';
import { findCached, getCached } from '../../ports/cached-reads.js';
import type { Collection, Doc, Find, Page } from '../../ports/store.js';
import type { Fixture } from './fixture.js';

interface Row extends Doc {
  n: number;
}

export function cachedReads(fixture: Fixture): void {
  describe('cached reads', () => {
    const opened = async (): Promise<{ name: string; rows: Collection<Row> }> => {
      const name = fixture.name();
      await fixture.store.ensure([{ name, indexes: [] }]);
      return { name, rows: fixture.store.collection<Row>(name) };
    };

    it('show each write when it is acknowledged, to every holder of the collection', async () => {
      const { name, rows } = await opened();
      const { transact } = fixture.store;
      const other = fixture.store.collection<Row>(name);
      const some: Find = { filter: { n: { gt: 4 } }, sort: [['n', 'desc']], limit: 3 };
      const put = async (doc: Row): Promise<unknown> => rows.bulk([{ put: doc }]);
      const writes: [write: () => Promise<unknown>, n: number | null][] = [
        [() => rows.insert({ id: 'a', n: 1 }), 1],
        [() => rows.change({ id: 'a' }, { inc: { n: 1 } }), 2],
        [() => rows.changeMany({ n: 2 }, { set: { n: 3 } }), 3],
        [() => rows.bulk([{ change: { id: 'a' }, update: { inc: { n: 1 } } }]), 4],
        [() => put({ id: 'a', n: 5 }), 5],
        [() => rows.remove({ id: 'a' }), null],
        [() => rows.change({ id: 'a' }, { setOnInsert: { n: 6 } }, { upsert: true }), 6],
        [() => rows.bulk([{ remove: { n: 6 } }]), null],
        [() => rows.bulk([{ insert: { id: 'a', n: 7 } }]), 7],
        [
          async () => transact?.([{ collection: name, change: { id: 'a' }, update: { inc: { n: 1 } } }]),
          transact === null ? 7 : 8,
        ],
        [() => rows.remove({ n: { gt: 0 } }), null],
      ];
      for (const [write, n] of writes) {
        await Promise.all(
          [rows, other].flatMap((reader) => [getCached(reader, 'a'), findCached(reader), findCached(reader, some)]),
        );
        await write();
        for (const reader of [rows, other]) {
          expect(await getCached(reader, 'a')).to.deep.equal(n === null ? null : { id: 'a', n });
          const items = n === null ? [] : [{ id: 'a', n }];
          expect(await findCached(reader)).to.deep.equal({ items, next: null });
          expect(await findCached(reader, some)).to.deep.equal({ items: items.filter((row) => row.n > 4), next: null });
        }
      }
    });

    it('are never older than an acknowledged write, for any number of concurrent ones', async () => {
      const { rows } = await opened();
      await rows.insert({ id: 'a', n: 0 });
      const answered = { n: 0, writers: 4 };
      const writer = async (): Promise<void> => {
        for (let i = 0; i < 25; i++) {
          const changed = await rows.change({ id: 'a' }, { inc: { n: 1 } });
          answered.n = Math.max(answered.n, changed?.doc.n ?? 0);
        }
        answered.writers -= 1;
      };
      const reader = async (): Promise<void> => {
        while (answered.writers > 0) {
          const least = answered.n;
          expect((await getCached(rows, 'a'))?.n).to.be.at.least(least);
          expect((await findCached(rows)).items[0]?.n).to.be.at.least(least);
          await new Promise((resolve) => setImmediate(resolve));
        }
      };
      await Promise.all([writer(), writer(), writer(), writer(), reader(), reader()]);
    });

    it('distinguish the pages of one list, and those of another collection', async () => {
      const [one, two] = [await opened(), await opened()];
      for (let n = 0; n < 7; n++) await one.rows.insert({ id: `r${n}`, n });
      for (let round = 0; round < 2; round++) {
        const seen: string[] = [];
        for (let after: string | null = null, last = false; !last;) {
          const page: Readonly<Page<Readonly<Row>>> = await findCached(one.rows, { limit: 3, after });
          seen.push(...page.items.map(({ id }) => id));
          after = page.next;
          last = after === null;
        }
        expect(seen).to.deep.equal(['r0', 'r1', 'r2', 'r3', 'r4', 'r5', 'r6']);
        expect((await findCached(two.rows, { limit: 3, after: null })).items).to.deep.equal([]);
      }
    });
  });
}
