/**
 * Compares every adapter with the reference of ports/document.ts on random documents, filters,
 * sorts and updates.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { MemoryStore } from '../../../adapters/memory/store.js';
import type { Collection, Doc } from '../../../ports/store/index.js';
import type { ContractFixture } from './fixture.js';
import { arbitraryDoc, arbitraryFilter, arbitrarySort, arbitraryUpdate } from './arbitraries.js';

export function describeProperties(fixture: ContractFixture): void {
  describe('as the reference', () => {
    const pair = async (docs: readonly Doc[]): Promise<[Collection<Doc>, Collection<Doc>]> => {
      const name = fixture.name();
      await fixture.store.ensure([
        {
          name,
          indexes: [
            { fields: ['s'] },
            { fields: ['n', 's'] },
            { fields: ['o.s', 'n'] },
            { fields: ['f'] },
            { fields: ['s', 'f'] },
          ],
          values: ['s', 't', 'f', 'o.n'],
          search: ['o.s'],
        },
      ]);
      const subject = fixture.store.collection<Doc>(name);
      const reference = new MemoryStore().collection<Doc>(name);
      const inserts = docs.map((insert) => ({ insert }));
      expect(await subject.bulk(inserts)).to.deep.equal(await reference.bulk(inserts));
      return [subject, reference];
    };
    const docs = fc.uniqueArray(arbitraryDoc, { selector: (doc) => doc.id, minLength: 5, maxLength: 25 });

    it('returns the same for find, count, groupCount and pages', async () => {
      await fc.assert(
        fc.asyncProperty(
          docs,
          fc.array(fc.tuple(fc.nat({ max: 24 }), arbitraryUpdate), { maxLength: 8 }),
          fc.array(fc.tuple(arbitraryFilter, arbitrarySort, fc.integer({ min: 1, max: 6 })), {
            minLength: 8,
            maxLength: 8,
          }),
          async (all, changes, queries) => {
            const [subject, reference] = await pair(all);
            // Sequential, because the order of concurrent updates is undefined.
            for (const [i, update] of changes) {
              const id = (all[i % all.length] as Doc).id;
              await subject.change({ id }, update);
              await reference.change({ id }, update);
            }
            for (const [filter, sort, limit] of queries) {
              expect(await subject.count(filter), JSON.stringify(filter)).to.equal(await reference.count(filter));
              expect(await subject.groupCount('n', filter)).to.have.deep.members(
                await reference.groupCount('n', filter),
              );
              let after: string | null = null;
              do {
                const query = { filter, sort, limit, after };
                const expected = await reference.find(query);
                expect(await subject.find(query), JSON.stringify(query)).to.deep.equal(expected);
                after = expected.next;
              } while (after !== null);
            }
          },
        ),
        { numRuns: fixture.tries(15) },
      );
    });

    it('returns the same for change, with sort and upsert', async () => {
      await fc.assert(
        fc.asyncProperty(
          docs,
          fc.array(fc.tuple(arbitraryFilter, arbitraryUpdate, arbitrarySort), {
            minLength: 8,
            maxLength: 8,
          }),
          async (all, steps) => {
            const [subject, reference] = await pair(all);
            for (const [filter, update, sort] of steps) {
              const expected = await reference.change(filter, update, { sort });
              expect(
                await subject.change(filter, update, { sort }),
                JSON.stringify([filter, update, sort]),
              ).to.deep.equal(expected);
              const upsert = { id: `up${Object.keys(filter).length}` };
              expect(await subject.change(upsert, update, { upsert: true })).to.deep.equal(
                await reference.change(upsert, update, { upsert: true }),
              );
            }
            expect(await subject.changeMany({ n: { gte: 0 } }, { inc: { n: 1 } })).to.equal(
              await reference.changeMany({ n: { gte: 0 } }, { inc: { n: 1 } }),
            );
            expect(await subject.remove({ s: { gte: 'b' } })).to.equal(await reference.remove({ s: { gte: 'b' } }));
            expect(await subject.find({ limit: 1000 })).to.deep.equal(await reference.find({ limit: 1000 }));
          },
        ),
        { numRuns: fixture.tries(15) },
      );
    });
  });
}
