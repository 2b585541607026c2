/**
 * Tests that `values` and `search` do not change the results of filters, for existing, new, changed
 * and deleted documents, in every order, page by page.
 */
import { expect } from 'chai';
import { compareDocs, matchesFilter, toTotalSort } from '../../../ports/document.js';
import type { Collection, Doc, Filter, Sort } from '../../../ports/store/index.js';
import type { ContractFixture } from './fixture.js';

interface Item extends Doc {
  text: string | null;
  tags: (string | number | boolean | null)[];
  place?: string | null;
  again: boolean;
  at: number;
  more: string;
  due?: string | null;
}

const DECLARED_FIELDS = { values: ['tags', 'place', 'again', 'due'], search: ['text', 'more'] };

const TEXTS = [
  'order 4711 could not be loaded',
  'Order 4711',
  '100%_done [x]{1} \\.*"\'',
  'straße, ärger und ﬃ',
  '注文を読み込めません',
  'smile \u{1f600}\u{1f601} end',
  'a',
  'ab',
  '',
  'e\u0301 is not \u00e9',
  'tab\tline\nend',
  null,
];
const TAGS: Item['tags'][] = [[], ['shop'], ['shop', 'eu west'], [1, true, null], ['1', 'Shop'], ['ab'.repeat(200)]];

function createItem(i: number): Item {
  const place = [undefined, null, 'production', 'staging', 'PRODUCTION'][i % 5];
  return {
    id: `i${String(i).padStart(3, '0')}`,
    text: TEXTS[i % TEXTS.length] ?? null,
    tags: TAGS[i % TAGS.length] as Item['tags'],
    ...(place === undefined ? {} : { place }),
    again: i % 7 === 0,
    at: (i * 31) % 17,
    more: `also ${i % 3}`,
    ...(i % 4 === 0 ? { due: `2026-01-${10 + (i % 9)}` } : i % 4 === 1 ? { due: null } : {}),
  };
}

const PARTS = ['4711', 'order', 'Order', 'ORDER', '%', '_', '.*', '[x]{1}', '\\', '"', "'", 'ß', 'är', 'é', 'e\u0301'];
const MORE_PARTS = [
  '注文',
  '注',
  'せん',
  '\u{1f600}',
  '\u{1f600}\u{1f601}',
  'a',
  'ab',
  'abc',
  '',
  '\t',
  'nowhere',
  'ﬃ',
];
const LONG_TEXT = 'order 4711 could not be loaded by anybody at all, whoever tried, and however often';

const FILTERS: readonly Filter[] = [
  ...[...PARTS, ...MORE_PARTS, LONG_TEXT].map((contains): Filter => ({ text: { contains } })),
  { text: { contains: ['4711', 'order'] } },
  { text: { contains: ['4711', 'nowhere'] } },
  { text: { contains: [] } },
  { text: { contains: 'order', prefix: 'order' } },
  { text: 'a' },
  { text: null },
  ...(['shop', 'Shop', 1, '1', true, null, 'none', 'eu west', 'ab'.repeat(200)] as const).map((has): Filter => ({
    tags: { has },
  })),
  { tags: { has_any: ['eu west', 1] } },
  { tags: { has_any: [] } },
  { place: 'production' },
  { place: 'nowhere' },
  { place: null },
  { place: { in: ['staging', 'PRODUCTION'] } },
  { place: { in: ['staging', null] } },
  { place: { in: [] } },
  { place: { ne: 'production' } },
  { place: { exists: true } },
  { again: true },
  { again: false },
  { again: { in: [true, false] } },
  { again: true, place: 'staging', text: { contains: 'o' } },
  { or: [{ text: { contains: '4711' } }, { id: 'i006' }] },
  { or: [{ text: { contains: '4711' } }, { at: 3 }] },
  { or: [{ text: { contains: '4711' } }, { tags: { has: 1 } }], again: false },
  { or: [{ text: { contains: 'nowhere' } }, { place: 'nowhere' }] },
  { or: [] },
  { more: { contains: 'also 1' } },
  { more: { contains: 'so 2' }, text: { contains: 'order' } },
  { text: { contains: ['"order"'] } },
  { due: { gt: '' } },
  { due: { lte: '2026-01-13' } },
  { due: { gte: '2026-01-11', lt: '2026-01-15' }, again: false },
  { due: { prefix: '2026-01-1' } },
  { due: '2026-01-12' },
  { due: { exists: false } },
];
const SORTS: readonly Sort[] = [
  [],
  [['at', 'desc']],
  [['at', 'asc']],
  [['again', 'desc']],
  [['due', 'asc']],
  [['due', 'desc']],
];

export function describeSearch(fixture: ContractFixture): void {
  describe('values and search', () => {
    const indexes = [{ fields: ['at'] }];

    const compare = async (rows: Collection<Item>, docs: readonly Item[], when: string): Promise<void> => {
      for (const filter of FILTERS) {
        const expected = docs.filter((doc) => matchesFilter(doc, filter));
        const what = `${when}: ${JSON.stringify(filter)}`;
        expect(await rows.count(filter), what).to.equal(expected.length);
        for (const sort of SORTS) {
          const found: string[] = [];
          let after: string | null = null;
          do {
            const page = await rows.find({ filter, sort, limit: 7, after });
            found.push(...page.items.map(({ id }) => id));
            after = page.next;
          } while (after !== null);
          expect(found.toSorted(), what).to.deep.equal(expected.map(({ id }) => id).toSorted());
          const inOrder = expected.toSorted(compareDocs(toTotalSort(sort))).map(({ id }) => id);
          expect(found, what).to.deep.equal(inOrder);
        }
      }
    };

    it('answer as without them, before and after', async () => {
      const name = fixture.name();
      const rows = fixture.store.collection<Item>(name);
      const docs = Array.from({ length: 60 }, (_, i) => createItem(i));
      // Some documents exist before the declaration, the others are inserted after it.
      await rows.bulk(docs.slice(0, 40).map((insert) => ({ insert })));
      await fixture.store.ensure([{ name, indexes, ...DECLARED_FIELDS }]);
      await rows.bulk(docs.slice(40).map((insert) => ({ insert })));
      await compare(rows, docs, 'new');
      await rows.change({ id: 'i001' }, { set: { text: 'a needle' } });
      await rows.change({ text: { contains: 'needle' } }, { set: { tags: ['found'] } });
      await rows.change(
        { tags: { has: 'found' } },
        { push: { tags: { each: ['eu west'] } } },
        { sort: [['at', 'asc']] },
      );
      await rows.changeMany({ place: 'staging' }, { set: { place: 'moved' } });
      await rows.remove({ tags: { has: 1 } });
      await rows.change({ id: 'new' }, { set: toItemFields(0) }, { upsert: true });
      const now = (await rows.find({ limit: 1000 })).items;
      expect(now.find(({ id }) => id === 'i001')?.tags).to.deep.equal(['found', 'eu west']);
      await compare(rows, now, 'changed');
    });

    it('may be declared differently later', async () => {
      const name = fixture.name();
      const rows = fixture.store.collection<Item>(name);
      const docs = Array.from({ length: 30 }, (_, i) => createItem(i));
      await fixture.store.ensure([{ name, indexes, values: ['tags'] }]);
      await rows.bulk(docs.map((insert) => ({ insert })));
      await fixture.store.ensure([{ name, indexes, ...DECLARED_FIELDS }]);
      await fixture.store.ensure([{ name, indexes, ...DECLARED_FIELDS }]);
      await compare(rows, docs, 'more');
      await fixture.store.ensure([{ name, indexes }]);
      await rows.remove({ id: 'i001' });
      await compare(
        rows,
        docs.filter(({ id }) => id !== 'i001'),
        'none',
      );
    });
  });
}

function toItemFields(i: number): { [field: string]: Item[keyof Item] } {
  const { id: _id, ...fields } = createItem(i);
  return fields;
}
