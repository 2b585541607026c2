/** Values that may stand as another in indexes: every answer is as if they did not. */
import { expect } from 'chai';
import fc from 'fast-check';
import { MemoryStore } from '../../adapters/memory/store.js';
import type { Collection, CollectionSpec, Doc, Filter, Sort } from '../../ports/store.js';
import type { Fixture } from './fixture.js';

interface Row extends Doc {
  status: string;
  project: string;
  at: number;
}

const specOf = (name: string, insertsIndexedLater: boolean): CollectionSpec => ({
  name,
  indexes: [
    { fields: ['status', 'at'] },
    { fields: ['status', 'project', 'at'] },
    { fields: ['project', 'at'] },
    { fields: ['at'] },
  ],
  tuning: {
    indexedLater: ['at'],
    insertsIndexedLater,
    indexedAs: { path: 'status', value: 'taken', as: 'open' },
  },
});

const STATUSES = ['open', 'taken', 'done', 'other'];
const status = fc.constantFrom(...STATUSES);
const condition: fc.Arbitrary<Filter[string]> = fc.oneof(
  status,
  fc.record({ in: fc.array(fc.oneof(status, fc.constant(null)), { maxLength: 4 }) }),
  fc.record({ in: fc.uniqueArray(status, { minLength: 1, maxLength: 3 }) }),
  fc.record({ ne: fc.oneof(status, fc.constant(null)) }),
  fc.record({ in: fc.uniqueArray(status, { minLength: 2 }), ne: status }),
  fc.record({ gt: status }),
  fc.record({ prefix: fc.constantFrom('o', 't', 'ta', '') }),
  fc.record({ exists: fc.boolean() }),
  fc.constant(null),
);
const filter: fc.Arbitrary<Filter> = fc.oneof(
  fc.record({ status: condition }),
  fc.record({ status: condition, project: fc.constantFrom('p', 'q') }),
  fc.record({ status: condition, at: fc.record({ gte: fc.nat(4) }) }),
  fc.record({ project: fc.constantFrom('p', 'q'), or: fc.array(fc.record({ status: condition }), { maxLength: 3 }) }),
  fc.record({ project: fc.constantFrom('p', 'q') }),
);
const sort: fc.Arbitrary<Sort> = fc.constantFrom<Sort>(
  [['at', 'asc']],
  [['at', 'desc']],
  [['status', 'asc']],
  [
    ['status', 'desc'],
    ['at', 'asc'],
  ],
  [['project', 'asc']],
);
/** What is done to the row of this number. */
const step = fc.tuple(fc.nat(30), fc.oneof(status, fc.constantFrom('remove', 'later', 'none')));

export function indexedAs(fixture: Fixture): void {
  for (const insertsIndexedLater of [false, true]) {
    describe(`values indexed as another${insertsIndexedLater ? ', with inserts that are indexed later' : ''}`, () => {
      const pair = async (): Promise<Collection<Row>[]> => {
        const name = fixture.name();
        await fixture.store.ensure([specOf(name, insertsIndexedLater)]);
        return [fixture.store.collection<Row>(name), new MemoryStore().collection<Row>(name)];
      };

      const take = async (rows: Collection<Row>, id: string, what: string): Promise<unknown> => {
        if (what === 'remove') return rows.remove({ id });
        if (what === 'later') return (await rows.change({ id }, { inc: { at: 1 } }))?.doc;
        if (what === 'none') return (await rows.change({ id }, { unset: ['status'] }))?.doc;
        return (await rows.change({ id }, { set: { status: what } }))?.doc;
      };

      it('are distinguished by every filter, order, count and group', async () => {
        await fc.assert(
          fc.asyncProperty(
            fc.array(fc.record({ status, project: fc.constantFrom('p', 'q'), at: fc.nat(4) }), {
              minLength: 8,
              maxLength: 30,
            }),
            fc.array(step, { maxLength: 20 }),
            fc.array(fc.tuple(filter, sort), { minLength: 10, maxLength: 10 }),
            async (all, steps, queries) => {
              const [subject, reference] = (await pair()) as [Collection<Row>, Collection<Row>];
              const inserts = all.map((row, i) => ({ insert: { id: `r${String(i).padStart(2, '0')}`, ...row } }));
              await subject.bulk(inserts);
              await reference.bulk(inserts);
              for (const [n, what] of steps) {
                const id = `r${String(n % all.length).padStart(2, '0')}`;
                expect(await take(subject, id, what)).to.deep.equal(await take(reference, id, what));
              }
              for (const [by, order] of queries) {
                const said = JSON.stringify([by, order]);
                expect(await subject.count(by), said).to.equal(await reference.count(by));
                for (const path of ['status', 'project'])
                  expect(await subject.groupCount(path, by), said).to.have.deep.members(
                    await reference.groupCount(path, by),
                  );
                for (let after: string | null = null, last = false; !last;) {
                  const query = { filter: by, sort: order, limit: 4, after };
                  const expected = await reference.find(query);
                  expect(await subject.find(query), said).to.deep.equal(expected);
                  after = expected.next;
                  last = after === null;
                }
              }
              expect(await subject.changeMany({ status: 'taken' }, { set: { status: 'open' } })).to.equal(
                await reference.changeMany({ status: 'taken' }, { set: { status: 'open' } }),
              );
              expect(await subject.remove({ status: { in: ['open', 'done'] } })).to.equal(
                await reference.remove({ status: { in: ['open', 'done'] } }),
              );
              expect((await subject.find()).items).to.deep.equal((await reference.find()).items);
            },
          ),
          { numRuns: fixture.tries(25) },
        );
      });

      it('change the first of one of them', async () => {
        const [rows] = (await pair()) as [Collection<Row>, Collection<Row>];
        for (let at = 0; at < 12; at++)
          await rows.insert({ id: `r${at}`, status: at % 3 === 0 ? 'taken' : 'open', project: 'p', at });
        const taken: number[] = [];
        const next = async (): Promise<Row | undefined> =>
          (await rows.change({ status: 'open' }, { set: { status: 'taken' } }, { sort: [['at', 'asc']] }))?.doc;
        for (let doc = await next(); doc !== undefined; doc = await next()) taken.push(doc.at);
        expect(taken).to.deep.equal([1, 2, 4, 5, 7, 8, 10, 11]);
        expect(await rows.count({ status: 'open' })).to.equal(0);
        expect(await rows.groupCount('status')).to.deep.equal([{ key: 'taken', n: 12 }]);
      });
    });
  }
}
