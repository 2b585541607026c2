/**
 * Changes that take the first document of an order, one after another, as claims do: whatever else is written between two of
 * them, by this process or another one, each takes the one that the memory store takes, which reads nothing ahead (ahead.ts).
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { SqliteStore } from '../../../../adapters/sqlite/store.js';
import type { Collection, CollectionSpec, Doc, DocumentStore, Filter, Sort } from '../../../../ports/store.js';

interface Row extends Doc {
  place: string | null;
  kind: string;
  at: number;
  tags?: string[];
  n?: number;
}

const SPEC: CollectionSpec = {
  name: 'rows',
  indexes: [{ fields: ['place'] }, { fields: ['kind', 'place'] }, { fields: ['at'] }],
  tuning: { sparse: ['place'], indexedLater: ['at'] },
};
const SORT: Sort = [['place', 'asc']];

type Step =
  | { take: Filter }
  | { insert: Omit<Row, 'id'> }
  | { change: number; to: Partial<Row> }
  | { remove: number }
  | { refuse: number }
  | { fail: Filter };

const kind = fc.constantFrom('a', 'b');
const place = fc.option(
  fc.integer({ min: 0, max: 20 }).map((n) => String(n).padStart(2, '0')),
  { freq: 6 },
);
const row = fc.record({ place, kind, at: fc.nat(9), tags: fc.subarray(['x', 'y']) });
const wanted = fc.oneof(
  fc.constant<Filter>({ place: { gt: '' } }),
  kind.map((value): Filter => ({ kind: value, place: { gt: '' } })),
  fc.nat(9).map((at): Filter => ({ place: { gt: '' }, or: [{ at: { lte: at } }, { 'passed.somebody': { gt: '' } }] })),
  fc.constant<Filter>({ place: { gt: '05', lt: '15' }, tags: { has: 'y' } }),
);
const id = fc.nat(29);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: wanted.map((take) => ({ take })) },
  { weight: 2, arbitrary: row.map((insert) => ({ insert })) },
  {
    weight: 2,
    arbitrary: fc.record({ change: id, to: fc.record({ place, kind, at: fc.nat(9) }, { requiredKeys: [] }) }),
  },
  { weight: 1, arbitrary: id.map((remove) => ({ remove })) },
  { weight: 1, arbitrary: id.map((refuse) => ({ refuse })) },
  { weight: 1, arbitrary: wanted.map((fail) => ({ fail })) },
);

const TAKEN = { set: { place: null }, inc: { n: 1 } };
const idOf = (n: number): string => `row${String(n).padStart(2, '0')}`;

/** What one step answers, in words that are the same on both stores. */
async function taken(store: DocumentStore, rows: Collection<Row>, one: Step, name: string): Promise<unknown> {
  if ('take' in one) return rows.change(one.take, TAKEN, { sort: SORT });
  if ('insert' in one) return rows.insert({ id: name, ...one.insert });
  if ('change' in one) return rows.change({ id: idOf(one.change) }, { set: one.to });
  if ('remove' in one) return rows.remove({ id: idOf(one.remove) });
  if ('fail' in one)
    return rows.change(one.fail, { set: { place: null }, inc: { kind: 1 } }, { sort: SORT }).catch(({ name }) => name);
  // Takes one, and cannot be finished.
  await store.transact?.([
    { collection: 'rows', change: { place: { gt: '' } }, update: TAKEN, sort: SORT },
    { collection: 'rows', change: { id: 'nobody' }, update: TAKEN },
  ]);
  return null;
}

for (const insertsIndexedLater of [false, true]) suite(insertsIndexedLater);

function suite(insertsIndexedLater: boolean): void {
  describe(`sqlite: the first documents of an order${insertsIndexedLater ? ', inserts indexed later' : ''}`, () => {
    let dir: string;
    let store: SqliteStore;
    let other: SqliteStore;
    beforeEach(async () => {
      dir = await mkdtemp(join(tmpdir(), 'aos-ahead-'));
      store = new SqliteStore({ path: join(dir, 'store.db') });
      other = new SqliteStore({ path: join(dir, 'store.db') });
      await store.connect();
      await store.ensure([{ ...SPEC, tuning: { ...SPEC.tuning, insertsIndexedLater } }]);
      await other.connect();
    });
    afterEach(async () => {
      await other.close();
      await store.close();
      await rm(dir, { recursive: true });
    });

    it('are returned in order, each once, for any concurrent writes', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(row, { minLength: 5, maxLength: 30 }),
          fc.array(
            fc.record({ by: fc.constantFrom('us', 'us', 'us', 'another'), steps: fc.array(step, { maxLength: 12 }) }),
          ),
          async (stored, batches) => {
            const memory = new MemoryStore();
            await memory.ensure([SPEC]);
            const model = memory.collection<Row>('rows');
            const ours = store.collection<Row>('rows');
            await ours.remove({});
            const docs = stored.map((one, i) => ({ id: idOf(i), ...one }));
            for (const rows of [model, ours]) await rows.bulk(docs.map((insert) => ({ insert: { ...insert } })));
            for (const [b, { by, steps }] of batches.entries()) {
              const writer = by === 'us' ? store : other;
              const rows = writer.collection<Row>('rows');
              // Together, so that they share transactions.
              const got = await Promise.all(steps.map((one, i) => taken(writer, rows, one, `new${b}-${i}`)));
              for (const [i, one] of steps.entries())
                expect(got[i], JSON.stringify(one)).to.deep.equal(await taken(memory, model, one, `new${b}-${i}`));
            }
            const all = { sort: [['id', 'asc']] as Sort, limit: 1_000 };
            expect((await ours.find(all)).items).to.deep.equal((await model.find(all)).items);
          },
        ),
        { numRuns: 60 },
      );
    });

    it('are cached as missing until one is inserted', async () => {
      const rows = store.collection<Row>('rows');
      const take = async (): Promise<string | undefined> =>
        (await rows.change({ kind: 'a', place: { gt: '' } }, TAKEN, { sort: SORT }))?.doc.id;
      expect(await take()).to.equal(undefined);
      await rows.insert({ id: 'a1', kind: 'a', place: '1', at: 0 });
      await rows.insert({ id: 'b1', kind: 'b', place: '0', at: 0 });
      expect(await take()).to.equal('a1');
      expect(await take()).to.equal(undefined);
      await rows.change({ id: 'b1' }, { set: { kind: 'a' } });
      await rows.change({ id: 'a1' }, { set: { place: '2' } });
      expect([await take(), await take(), await take()]).to.deep.equal(['b1', 'a1', undefined]);
    });
  });
}
