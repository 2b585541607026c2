/** Pages as JSON, made where the documents are read. */
import { expect } from 'chai';
import fc from 'fast-check';
import { changeRendered, findRendered, type Rendered } from '../../ports/rendering.js';
import { InvalidCursor, type Collection, type Filter, type Find, type Json } from '../../ports/store.js';
import { rejection, type Fixture } from './fixture.js';
import { render, RENDERED, type RenderedRow } from './rendered.js';

const CONTEXT = { add: 100 };
const valueOf = ({ json }: Rendered): unknown =>
  JSON.parse(typeof json === 'string' ? json : new TextDecoder('utf-8', { fatal: true }).decode(json));
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

export function rendering(fixture: Fixture): void {
  describe('rendering', () => {
    const made = async (
      docs: readonly RenderedRow[],
      indexes: string[][] = [['n']],
    ): Promise<Collection<RenderedRow>> => {
      const name = fixture.name();
      await fixture.store.ensure([{ name, indexes: indexes.map((fields) => ({ fields })) }]);
      const rows = fixture.store.collection<RenderedRow>(name);
      await rows.bulk(docs.map((insert) => ({ insert })));
      return rows;
    };
    const rendered = (
      rows: Collection<RenderedRow>,
      query: Find,
      beside?: Collection<RenderedRow>,
    ): Promise<Rendered> => findRendered(rows, query, { ...RENDERED, context: CONTEXT, ...(beside && { beside }) });

    it('returns the page of `find`, with the related documents, for any query', async () => {
      const row = fc.record({ n: fc.integer({ min: 0, max: 3 }), text: fc.string({ unit: 'grapheme' }) });
      await fc.assert(
        fc.asyncProperty(
          fc.array(row, { maxLength: 12 }),
          fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
          fc.integer({ min: 1, max: 5 }),
          fc.constantFrom('asc' as const, 'desc' as const),
          async (values, known, limit, order) => {
            const docs = values.map((value, i): RenderedRow => ({ id: `r${i}`, ...value }));
            const rows = await made(docs);
            const others = await made(docs.filter((_, i) => known[i]).map(({ id }) => ({ id, text: `beside ${id}` })));
            let after: string | null = null;
            do {
              const query: Find = { filter: { n: { gte: 1 } }, sort: [['n', order]], limit, after };
              const [page, json] = await Promise.all([rows.find(query), rendered(rows, query, others)]);
              const expected = await Promise.all(
                page.items.map(async (doc) => render(doc, await others.get(doc.id), CONTEXT)),
              );
              expect(valueOf(json)).to.deep.equal(plain(expected));
              expect(json.next).to.equal(page.next);
              after = page.next;
            } while (after !== null);
          },
        ),
        { numRuns: fixture.tries(15) },
      );
    });

    it('shows every change: of the document, of the related ones, of the context, and back', async () => {
      const rows = await made([{ id: 'a', n: 1 }]);
      const others = await made([]);
      const seen = async (add = 100): Promise<unknown> => {
        const page = await findRendered(rows, {}, { ...RENDERED, beside: others, context: { add } });
        return (valueOf(page) as { [name: string]: Json }[]).map(({ sum, beside }) => [sum, beside]);
      };
      for (let round = 0; round < 2; round++) {
        expect(await seen()).to.deep.equal([[101, null]]);
        expect(await seen(200)).to.deep.equal([[201, null]]);
        await rows.change({ id: 'a' }, { set: { n: 2 } });
        expect(await seen()).to.deep.equal([[102, null]]);
        await others.insert({ id: 'a', text: 'one' });
        expect(await seen()).to.deep.equal([[102, { id: 'a', text: 'one' }]]);
        await others.change({ id: 'a' }, { set: { text: 'two' } });
        expect(await seen()).to.deep.equal([[102, { id: 'a', text: 'two' }]]);
        await others.remove({ id: 'a' });
        await rows.change({ id: 'a' }, { set: { n: 1 } });
      }
    });

    it('supports more documents than the cache holds, and rows that are too long for it', async () => {
      const text = 'x'.repeat(2_000);
      const docs = Array.from({ length: 1_500 }, (_, i): RenderedRow => ({
        id: `r${String(i).padStart(4, '0')}`,
        n: i,
        text,
      }));
      const rows = await made([...docs, { id: 's', n: 1, text: 'y'.repeat(40_000) }]);
      for (let round = 0; round < 2; round++) {
        for (let after: string | null = null, at = 0, more = true; more; more = after !== null) {
          const page: Rendered = await rendered(rows, { limit: 500, after });
          const found = valueOf(page) as { id: string; sum: number; text: string }[];
          for (const { id, sum, text } of found) {
            const doc = docs[at++] ?? { id: 's', n: 1, text: 'y'.repeat(40_000) };
            expect([id, sum, text]).to.deep.equal([doc.id, (doc.n ?? 0) + 100, doc.text]);
          }
          after = page.next;
        }
      }
    });

    it('returns an empty array or null without results, collection or related documents', async () => {
      const rows = await made([{ id: 'a', n: 1 }]);
      expect(valueOf(await rendered(rows, { filter: { n: 9 } }))).to.deep.equal([]);
      expect(valueOf(await rendered(fixture.store.collection(fixture.name()), {}))).to.deep.equal([]);
      const nowhere = fixture.store.collection<RenderedRow>(fixture.name());
      const one = { json: await rendered(rows, {}, nowhere) };
      expect(valueOf(one.json)).to.deep.equal([{ id: 'a', sum: 101, beside: null }]);
      expect(one.json.next).to.equal(null);
    });

    it('rejects limits and cursors as `find` does, and passes on errors of the function', async () => {
      const rows = await made([{ id: 'a', n: -1 }]);
      expect(await rejection(rendered(rows, { limit: 0 }))).to.be.instanceOf(TypeError);
      expect(await rejection(rendered(rows, { after: 'nonsense' }))).to.be.instanceOf(InvalidCursor);
      const thrown = await rejection(rendered(rows, {}));
      expect(thrown).to.be.instanceOf(RangeError).with.property('message', 'this row cannot be shown');
    });

    describe('of a change', () => {
      const changed = async (
        rows: Collection<RenderedRow>,
        filter: Filter,
        beside?: Collection<RenderedRow>,
      ): Promise<unknown> => {
        const rendering = { ...RENDERED, context: CONTEXT, ...(beside && { beside }) };
        const json = await changeRendered(rows, filter, { inc: { n: 1 } }, rendering, { sort: [['n', 'desc']] });
        return json && (JSON.parse(json) as unknown);
      };

      it('renders the document after the change, with the related ones, for any filter', async () => {
        const row = fc.record({ n: fc.integer({ min: 0, max: 3 }), text: fc.string({ unit: 'grapheme' }) });
        await fc.assert(
          fc.asyncProperty(
            fc.array(row, { maxLength: 6 }),
            fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
            fc.oneof(
              fc.integer({ min: 0, max: 6 }).map((n): Filter => ({ id: `r${n}`, n: { lt: 3 } })),
              fc.integer({ min: 0, max: 3 }).map((n): Filter => ({ n: { lte: n } })),
            ),
            async (values, known, filter) => {
              const docs = values.map((value, i): RenderedRow => ({ id: `r${i}`, ...value }));
              const [rows, twin] = [await made(docs), await made(docs)];
              const others = await made(docs.filter((_, i) => known[i]).map(({ id }) => ({ id, text: 'é\n' })));
              const expected = await twin.change(filter, { inc: { n: 1 } }, { sort: [['n', 'desc']] });
              const shown = expected && render(expected.doc, await others.get(expected.doc.id), CONTEXT);
              expect(await changed(rows, filter, others)).to.deep.equal(plain(shown));
              expect((await rows.find()).items).to.deep.equal((await twin.find()).items);
            },
          ),
          { numRuns: fixture.tries(30) },
        );
      });

      it('returns to each concurrent caller its own change, and others in order meanwhile', async () => {
        const rows = await made([{ id: 'a', n: 0 }]);
        const plainly = async (): Promise<unknown> => {
          const done = await rows.change({ id: 'a' }, { inc: { n: 1 } });
          return { sum: (done?.doc.n ?? 0) + CONTEXT.add };
        };
        const many = Array.from({ length: 60 }, (_, i) => (i % 3 === 2 ? plainly() : changed(rows, { id: 'a' })));
        const sums = (await Promise.all(many)).map((answer) => (answer as { sum: number }).sum);
        expect(sums.toSorted((a, b) => a - b)).to.deep.equal(sums.map((_, i) => i + 101));
      });

      it('is null without a match, and has no related documents in a missing collection', async () => {
        const rows = await made([{ id: 'a', n: 1 }]);
        const nowhere = fixture.store.collection<RenderedRow>(fixture.name());
        expect(await changed(rows, { id: 'b' })).to.equal(null);
        expect(await changed(nowhere, {})).to.equal(null);
        expect(await changed(rows, { id: 'a' }, nowhere)).to.deep.equal({ id: 'a', sum: 102, beside: null });
      });

      it('passes on errors of the function, after the change was made', async () => {
        const rows = await made([{ id: 'a', n: -2 }]);
        const thrown = await rejection(changed(rows, { id: 'a' }));
        expect(thrown).to.be.instanceOf(RangeError).with.property('message', 'this row cannot be shown');
        expect(await rows.get('a')).to.deep.equal({ id: 'a', n: -1 });
        expect(await changed(rows, { id: 'a' })).to.deep.include({ sum: 100 });
      });
    });
  });
}
