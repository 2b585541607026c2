/**
 * Tests writes of whole documents and of compressed fields, which must be transparent outside the
 * engine.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Collection, Doc, Json } from '../../../ports/store/index.js';
import { getRejection, type ContractFixture } from './fixture.js';

interface Row extends Doc {
  kind?: string;
  at?: number;
  ref?: string;
  text?: string | null;
  other?: string | null;
  data?: Json;
}

const LONG_TEXT = 'A line of a long text, \\ " \u2028 é€😀\n'.repeat(40);

export function describeCompression(fixture: ContractFixture): void {
  const collection = async (compressed: readonly string[]): Promise<{ name: string; rows: Collection<Row> }> => {
    const name = fixture.name();
    const indexes = [{ fields: ['kind', 'at'] }, { fields: ['ref'], unique: true }];
    await fixture.store.ensure([{ name, indexes, compressed }]);
    return { name, rows: fixture.store.collection<Row>(name) };
  };
  const packedRows = () => collection(['text', 'other', 'data']);

  describe('put', () => {
    it('inserts a document, or replaces the one with its id completely', async () => {
      const { rows } = await collection([]);
      expect(await rows.bulk([{ put: { id: 'a', kind: 'x', at: 1, text: 'old' } }])).to.deep.equal([{ n: 1 }]);
      expect(await rows.bulk([{ put: { id: 'a', kind: 'y', at: 2, other: 'new' } }])).to.deep.equal([{ n: 1 }]);
      expect(await rows.get('a')).to.deep.equal({ id: 'a', kind: 'y', at: 2, other: 'new' });
      expect(await rows.count({ kind: 'x' })).to.equal(0);
      const found = await rows.find({ filter: { kind: 'y', at: { gt: 1 } }, sort: [['at', 'desc']] });
      expect(found.items.map(({ id }) => id)).to.deep.equal(['a']);
      await rows.change({ id: 'a' }, { inc: { at: 1 } });
      await rows.bulk([{ put: { id: 'a', at: 7 } }]);
      expect((await rows.change({ id: 'a' }, { inc: { at: 1 } }))?.doc).to.deep.equal({ id: 'a', at: 8 });
    });

    it('conflicts with a unique field of another document, and writes nothing then', async () => {
      const { rows } = await collection([]);
      const ops = [{ put: { id: 'a', ref: 'r' } }, { put: { id: 'b', ref: 's' } }, { put: { id: 'b', ref: 'r' } }];
      for (const [i, op] of ops.entries())
        expect(await rows.bulk([op])).to.deep.equal([i === 2 ? { conflict: 'ref' } : { n: 1 }]);
      expect(await rows.bulk([{ put: { id: 'a', ref: 'r', kind: 'same' } }])).to.deep.equal([{ n: 1 }]);
      expect((await rows.find()).items).to.deep.equal([
        { id: 'a', ref: 'r', kind: 'same' },
        { id: 'b', ref: 's' },
      ]);
    });

    it('leaves one of several concurrent documents of one id', async () => {
      const { rows } = await collection([]);
      const docs = Array.from({ length: 20 }, (_, at) => ({ id: 'a', at, kind: `k${at}` }));
      const results = await Promise.all(docs.map((put) => rows.bulk([{ put }])));
      expect(results.flat()).to.deep.equal(docs.map(() => ({ n: 1 })));
      const { items } = await rows.find();
      expect(items).to.have.lengthOf(1);
      expect(docs).to.deep.include(items[0]);
    });
  });

  describe('compressed fields', () => {
    it('are returned unchanged by every read, for any value', async () => {
      const { name, rows } = await packedRows();
      const text = fc.oneof(
        fc.string({ unit: 'grapheme' }),
        fc.constantFrom('', '\n', LONG_TEXT, LONG_TEXT.repeat(60), '{"~":"'),
      );
      const value = fc.jsonValue().filter((json) => !JSON.stringify(json).includes('__proto__'));
      let n = 0;
      await fc.assert(
        fc.asyncProperty(fc.option(text), fc.option(text), value, async (one, other, data) => {
          const put = { id: `p${n}`, kind: 'p', at: n++, text: one, other, data };
          const doc = JSON.parse(JSON.stringify(put)) as Row;
          await rows.bulk([{ put }]);
          expect(await rows.get(doc.id)).to.deep.equal(doc);
          const found = await rows.find({ filter: { kind: 'p', at: doc.at as number }, sort: [['at', 'asc']] });
          expect(found.items).to.deep.equal([doc]);
        }),
        { numRuns: fixture.tries(40) },
      );
      await rows.insert({ id: 'i', text: LONG_TEXT, other: 'x' });
      expect(await rows.get('i')).to.deep.equal({ id: 'i', text: LONG_TEXT, other: 'x' });
      const { transact } = fixture.store;
      if (transact === null) return;
      await transact([{ collection: name, insert: { id: 't', text: LONG_TEXT, data: [LONG_TEXT] } as Row }]);
      expect(await rows.get('t')).to.deep.equal({ id: 't', text: LONG_TEXT, data: [LONG_TEXT] });
    });

    it('can be changed, together with other fields and within', async () => {
      const { rows } = await packedRows();
      const doc = { id: 'a', kind: 'x', at: 1, text: LONG_TEXT, data: { deep: [LONG_TEXT] } };
      await rows.insert(doc);
      const beside = await rows.change({ id: 'a', kind: 'x' }, { inc: { at: 1 } });
      expect(beside?.doc).to.deep.equal({ ...doc, at: 2 });
      const within = await rows.change({ id: 'a' }, { set: { 'data.more': 1, other: LONG_TEXT }, unset: ['text'] });
      const changed = { id: 'a', kind: 'x', at: 2, other: LONG_TEXT, data: { deep: [LONG_TEXT], more: 1 } };
      expect(within?.doc).to.deep.equal(changed);
      expect(await rows.get('a')).to.deep.equal(changed);
      const made = await rows.change({ id: 'b' }, { set: { text: LONG_TEXT } }, { upsert: true });
      expect(made).to.deep.equal({ doc: { id: 'b', text: LONG_TEXT }, created: true });
      expect(await rows.changeMany({ kind: 'x' }, { set: { kind: 'y' } })).to.equal(1);
      expect(await rows.get('a')).to.deep.equal({ ...changed, kind: 'y' });
    });

    it('of earlier documents stay readable, and may be declared differently later', async () => {
      const { name, rows } = await collection([]);
      const docs = ['a', 'b', 'c'].map((id) => ({ id, kind: 'x', text: `${id}${LONG_TEXT}`, other: LONG_TEXT }));
      const [a, b, c] = docs as [Row, Row, Row];
      await rows.insert(a);
      for (const [compressed, doc] of [[['text'], b] as const, [['other'], c] as const]) {
        await fixture.store.ensure([{ name, indexes: [], compressed }]);
        await rows.insert(doc);
        expect(await rows.get('a')).to.deep.equal(a);
      }
      expect((await rows.find({ filter: { kind: 'x' } })).items).to.deep.equal(docs);
    });

    it('are not indexed', async function () {
      if (fixture.store.engine !== 'sqlite') this.skip();
      for (const compressed of [['kind'], ['id']])
        expect(await getRejection(collection(compressed))).to.be.instanceOf(TypeError);
    });
  });
}
