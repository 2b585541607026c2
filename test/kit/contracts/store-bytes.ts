/** Tests the binary field of a collection (`CollectionSpec.bytes`). */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Collection, Doc } from '../../../ports/store/index.js';
import { getRejection, type ContractFixture } from './fixture.js';

interface Row extends Doc {
  at?: number;
  note?: string;
  data?: Uint8Array;
}

const LARGE_BYTES = 262_144;
const toPlainRow = (row: Row | null): object | null =>
  row === null ? null : { ...row, ...(row.data !== undefined && { data: [...row.data] }) };

export function describeBytesField(fixture: ContractFixture): void {
  const open = async (): Promise<{ name: string; rows: Collection<Row> }> => {
    const name = fixture.name();
    await fixture.store.ensure([{ name, bytes: 'data', indexes: [{ fields: ['at'] }] }]);
    return { name, rows: fixture.store.collection<Row>(name) };
  };

  describe('a field of bytes', () => {
    it('returns what insert and put wrote, by get and find, as bytes', async () => {
      const { rows } = await open();
      let n = 0;
      const property = fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.boolean(), async (data, isPut) => {
        const doc = { id: `d${n}`, at: n++, data };
        if (isPut) await rows.bulk([{ put: doc }]);
        else await rows.insert(doc);
        for (const found of [await rows.get(doc.id), (await rows.find({ filter: { at: doc.at } })).items[0] ?? null]) {
          expect(found?.data).to.be.instanceOf(Uint8Array);
          expect(toPlainRow(found)).to.deep.equal(toPlainRow(doc));
        }
      });
      await fc.assert(property, { numRuns: fixture.tries(40) });
    });

    it('takes a quarter of a mebibyte of any bytes', async () => {
      const { rows } = await open();
      const data = Uint8Array.from({ length: LARGE_BYTES }, (_, i) => (i * 7 + (i >> 8)) & 0xff);
      await rows.bulk([{ put: { id: 'a', data } }]);
      expect(Buffer.compare((await rows.get('a'))?.data ?? Buffer.of(), data)).to.equal(0);
    });

    it('may be missing, and is replaced or dropped by a put', async () => {
      const { rows } = await open();
      await rows.insert({ id: 'a', at: 1 });
      expect(await rows.get('a')).to.deep.equal({ id: 'a', at: 1 });
      for (const bytes of [[1, 2], [3], null]) {
        const doc: Row = { id: 'a', at: 2, ...(bytes !== null && { data: Uint8Array.from(bytes) }) };
        await rows.bulk([{ put: doc }]);
        expect(toPlainRow(await rows.get('a'))).to.deep.equal(toPlainRow(doc));
      }
    });

    it('stays as it is under changes, whose answers lack it', async () => {
      const { rows } = await open();
      const data = Uint8Array.of(0, 255, 128);
      await rows.insert({ id: 'a', at: 1, data });
      const changed = await rows.change({ id: 'a' }, { set: { note: 'x' } });
      expect(changed?.doc).to.deep.equal({ id: 'a', at: 1, note: 'x' });
      expect(await rows.changeMany({ at: 1 }, { inc: { at: 1 } })).to.equal(1);
      expect(await rows.bulk([{ change: { id: 'a' }, update: { inc: { at: 1 } } }])).to.deep.equal([{ n: 1 }]);
      expect(toPlainRow(await rows.get('a'))).to.deep.equal({ id: 'a', at: 3, note: 'x', data: [0, 255, 128] });
    });

    it('goes with its document', async () => {
      const { rows } = await open();
      await rows.insert({ id: 'a', data: Uint8Array.of(1) });
      await rows.remove({ id: 'a' });
      await rows.insert({ id: 'a' });
      expect(await rows.get('a')).to.deep.equal({ id: 'a' });
    });

    it('is written whole or not at all by a transaction', async function () {
      const { name, rows } = await open();
      const { transact } = fixture.store;
      if (transact === null) this.skip();
      await rows.insert({ id: 'a', data: Uint8Array.of(1) });
      const put = { collection: name, put: { id: 'a', data: Uint8Array.of(2) } as Doc };
      const missing = { collection: name, change: { id: 'b' }, update: { set: { at: 1 } } };
      expect(await transact([put, missing])).to.equal(null);
      expect(toPlainRow(await rows.get('a'))).to.deep.equal({ id: 'a', data: [1] });
      expect(await transact([put])).to.deep.equal([null]);
      expect(toPlainRow(await rows.get('a'))).to.deep.equal({ id: 'a', data: [2] });
    });

    it('can be declared for documents that are there', async () => {
      const name = fixture.name();
      const rows = fixture.store.collection<Doc & { data?: unknown }>(name);
      await fixture.store.ensure([{ name, indexes: [] }]);
      await rows.insert({ id: 'a', data: 'AQI=' });
      await fixture.store.ensure([{ name, bytes: 'data', indexes: [] }]);
      expect(await rows.get('a')).to.deep.equal({ id: 'a', data: 'AQI=' });
      await rows.bulk([{ put: { id: 'a', data: Uint8Array.of(1, 2) } }]);
      expect(Buffer.compare(Buffer.from([1, 2]), (await rows.get('a'))?.data as Uint8Array)).to.equal(0);
    });

    it('refuses what is no bytes', async function () {
      if (fixture.store.engine === 'mongodb') this.skip();
      const { rows } = await open();
      expect(await getRejection(rows.insert({ id: 'a', data: 'text' } as unknown as Row))).to.be.instanceOf(TypeError);
      expect(await rows.count()).to.equal(0);
    });
  });
}
