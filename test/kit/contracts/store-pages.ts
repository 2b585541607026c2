import { expect } from 'chai';
import {
  InvalidCursor,
  type Collection,
  type Doc,
  type Filter,
  type Scalar,
  type Sort,
} from '../../../ports/store/index.js';
import { getRejection, type ContractFixture } from './fixture.js';

interface Row extends Doc {
  a?: Scalar;
  b?: Scalar;
}

async function listAllPages(rows: Collection<Row>, sort: Sort, limit: number, filter: Filter = {}): Promise<string[]> {
  const ids: string[] = [];
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof rows.find>> = await rows.find({ filter, sort, limit, after });
    ids.push(...page.items.map((row) => row.id));
    expect(page.items.length).to.be.at.most(limit);
    after = page.next;
  } while (after !== null);
  return ids;
}

export function describePages(fixture: ContractFixture): void {
  describe('pages', () => {
    const seed = async (docs: readonly Row[], indexes: readonly string[][] = []): Promise<Collection<Row>> => {
      const name = fixture.name();
      await fixture.store.ensure([{ name, indexes: indexes.map((fields) => ({ fields })) }]);
      const rows = fixture.store.collection<Row>(name);
      await rows.bulk(docs.map((insert) => ({ insert })));
      return rows;
    };

    it('have 50 documents by id by default', async () => {
      const ids = Array.from({ length: 51 }, (_, i) => `r${String(i).padStart(3, '0')}`);
      const rows = await seed([...ids].reverse().map((id) => ({ id })));
      const first = await rows.find();
      expect(first.items.map((row) => row.id)).to.deep.equal(ids.slice(0, 50));
      const second = await rows.find({ after: first.next });
      expect(second).to.deep.equal({ items: [{ id: 'r050' }], next: null });
      expect((await rows.find({ limit: 51 })).next).to.equal(null);
    });

    it('reject limits outside 1 to 1000', async () => {
      const rows = await seed([]);
      for (const limit of [0, -1, 1001, 1.5, Number.NaN]) {
        expect(await getRejection(rows.find({ limit })), String(limit)).to.be.instanceOf(TypeError);
      }
    });

    it('order text by code point, capitals before small letters', async () => {
      const texts = ['Z', 'a', 'z', 'ä', '\ufffd', ''];
      const rows = await seed(texts.map((a, i) => ({ id: `r${i}`, a })));
      const sorted = (await rows.find({ sort: [['a', 'asc']] })).items.map((row) => row.a);
      expect(sorted).to.deep.equal(['', 'Z', 'a', 'z', 'ä', '\ufffd']);
    });

    it('order text beyond U+FFFF by code point', async function () {
      if (fixture.utf16Order !== undefined) {
        process.stdout.write(`      not run: ${fixture.utf16Order}\n`);
        this.skip();
      }
      const rows = await seed(['😀', '\uffee', '\ue000', 'z'].map((a, i) => ({ id: `r${i}`, a })));
      const sorted = (await rows.find({ sort: [['a', 'asc']] })).items.map((row) => row.a);
      expect(sorted).to.deep.equal(['z', '\ue000', '\uffee', '😀']);
      expect(await rows.count({ a: { gt: '\uffee' } })).to.equal(1);
    });

    it('order null first ascending, numbers before text', async () => {
      const values: Scalar[] = ['b', 2, null, 10, 'a', -1, null];
      const rows = await seed(values.map((a, i) => ({ id: `r${i}`, a })));
      const order = async (direction: 'asc' | 'desc') =>
        (await rows.find({ sort: [['a', direction]] })).items.map((row) => row.a);
      expect(await order('asc')).to.deep.equal([null, null, -1, 2, 10, 'a', 'b']);
      expect(await order('desc')).to.deep.equal(['b', 'a', 10, 2, -1, null, null]);
    });

    const docs: Row[] = Array.from({ length: 60 }, (_, i) => {
      const doc: Row = { id: `r${String((i * 37) % 60).padStart(2, '0')}`, b: i % 4 === 0 ? null : i % 3 };
      if (i % 5 !== 0) doc.a = `v${i % 7}`;
      return doc;
    });
    const sorts: Sort[] = [
      [['a', 'asc']],
      [['a', 'desc']],
      [
        ['a', 'asc'],
        ['b', 'asc'],
      ],
      [
        ['a', 'desc'],
        ['b', 'desc'],
      ],
      [
        ['b', 'desc'],
        ['a', 'asc'],
      ],
      [
        ['id', 'desc'],
        ['a', 'asc'],
      ],
    ];
    for (const sort of sorts) {
      it(`return every row once, over nulls: ${JSON.stringify(sort)}`, async () => {
        const rows = await seed(docs, [['a'], ['a', 'b']]);
        const whole = (await rows.find({ sort, limit: 1000 })).items.map((row) => row.id);
        expect(new Set(whole).size).to.equal(60);
        for (const limit of [1, 7, 20, 59, 60])
          expect(await listAllPages(rows, sort, limit), `${limit}`).to.deep.equal(whole);
        const some = { a: { gte: 'v3' }, or: [{ b: null }, { b: { gt: 0 } }] };
        const part = (await rows.find({ sort, filter: some, limit: 1000 })).items.map((row) => row.id);
        expect(part).to.not.have.length(0);
        expect(await listAllPages(rows, sort, 3, some)).to.deep.equal(part);
      });
    }

    it('neither repeat nor hide older rows when others are inserted', async () => {
      const rows = await seed(docs, [['a']]);
      const sort: Sort = [['a', 'desc']];
      const before = (await rows.find({ sort, limit: 1000 })).items.map((row) => row.id);
      const seen: string[] = [];
      let after: string | null = null;
      let n = 0;
      do {
        const page: Awaited<ReturnType<typeof rows.find>> = await rows.find({ sort, limit: 6, after });
        seen.push(...page.items.map((row) => row.id));
        await rows.bulk(['v0', 'v6', null].map((a) => ({ insert: { id: `new${n++}`, a } })));
        after = page.next;
      } while (after !== null);
      expect(new Set(seen).size).to.equal(seen.length);
      expect(seen.filter((id) => !id.startsWith('new'))).to.deep.equal(before);
    });

    it('continue from a cursor whose row is deleted', async () => {
      const rows = await seed(docs);
      const first = await rows.find({ sort: [['a', 'asc']], limit: 5 });
      const second = await rows.find({ sort: [['a', 'asc']], limit: 5, after: first.next });
      await rows.remove({ id: { in: first.items.map((row) => row.id) } });
      expect(await rows.find({ sort: [['a', 'asc']], limit: 5, after: first.next })).to.deep.equal(second);
    });

    it('reject cursors of another list', async () => {
      const rows = await seed(docs);
      const { next } = await rows.find({ sort: [['a', 'asc']], limit: 5 });
      const foreign = (values: unknown): string => Buffer.from(JSON.stringify(values)).toString('base64url');
      for (const after of [
        '',
        'x',
        '{}',
        '💥',
        'A'.repeat(50_000),
        foreign(null),
        foreign(['+a,+id']),
        foreign(['+a,+id', {}, 'r1']),
        foreign(['+a,+id', 'x', 5]),
      ]) {
        expect(await getRejection(rows.find({ sort: [['a', 'asc']], after })), after.slice(0, 40)).to.be.instanceOf(
          InvalidCursor,
        );
      }
      expect(await getRejection(rows.find({ sort: [['a', 'desc']], after: next }))).to.be.instanceOf(InvalidCursor);
      expect(await getRejection(rows.find({ after: next }))).to.be.instanceOf(InvalidCursor);
    });

    it('answer a forged cursor of other types without an error', async () => {
      const rows = await seed(docs);
      for (const value of [true, 5, 1e308, '\0', null]) {
        const after = Buffer.from(JSON.stringify(['+a,+id', value, '\0'])).toString('base64url');
        expect((await rows.find({ sort: [['a', 'asc']], after })).items, String(value)).to.be.an('array');
      }
    });

    it('read the caller’s own writes', async () => {
      const rows = await seed([]);
      for (let i = 0; i < 30; i++) {
        await rows.insert({ id: `r${i}`, a: i });
        expect(await rows.get(`r${i}`)).to.deep.equal({ id: `r${i}`, a: i });
        expect((await rows.find({ filter: { a: i } })).items).to.have.length(1);
        expect(await rows.count()).to.equal(i + 1);
      }
    });
  });
}
