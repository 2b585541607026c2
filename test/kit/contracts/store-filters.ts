import { expect } from 'chai';
import type { Doc, Filter, Json } from '../../../ports/store/index.js';
import { getRejection, type ContractFixture } from './fixture.js';

type Row = Doc & { [field: string]: Json };

const VALUES: { [id: string]: Json } = {
  missing: null,
  null: null,
  true: true,
  false: false,
  zero: 0,
  one: 1,
  half: 0.5,
  big: 9_007_199_254_740_991,
  minus: -3,
  empty: '',
  text_1: '1',
  a: 'a',
  b: 'b',
  upper: 'A',
  percent: '100%_\'"\\.*[x]{1}',
  umlaut: 'ärger',
};

export function describeFilters(fixture: ContractFixture): void {
  describe('filters', () => {
    const seed = async () => {
      const rows = fixture.store.collection<Row>(fixture.name());
      await rows.bulk(
        Object.entries(VALUES).map(([id, v]) => ({ insert: (id === 'missing' ? { id } : { id, v, o: { v } }) as Row })),
      );
      return rows;
    };

    const cases: [string, Filter, string[]][] = [
      ['text', { v: 'a' }, ['a']],
      ['text is not a number', { v: '1' }, ['text_1']],
      ['a number is neither true nor text', { v: 1 }, ['one']],
      ['zero is not false', { v: 0 }, ['zero']],
      ['true is not one', { v: true }, ['true']],
      ['false is neither zero nor null', { v: false }, ['false']],
      ['empty text is not null', { v: '' }, ['empty']],
      ['null is missing or null', { v: null }, ['missing', 'null']],
      ['the largest safe integer', { v: 9_007_199_254_740_991 }, ['big']],
      ['below an object', { 'o.v': 'a' }, ['a']],
      ['below an object: missing', { 'o.v': null }, ['missing', 'null']],
      ['below a scalar there is nothing', { 'v.x': null, v: 'a' }, ['a']],
      ['in', { v: { in: ['a', 1, true] } }, ['a', 'one', 'true']],
      ['in with null', { v: { in: ['a', null] } }, ['a', 'missing', 'null']],
      ['in nothing', { v: { in: [] } }, []],
      ['in many', { v: { in: [...Array.from({ length: 100 }, (_, i) => `x${i}`), 'b', 0.5] } }, ['b', 'half']],
      ['ne null is present', { v: { ne: null }, id: { in: ['missing', 'null', 'false'] } }, ['false']],
      ['ne holds for missing', { v: { ne: 'a' }, id: { in: ['missing', 'null', 'a', 'b'] } }, ['b', 'missing', 'null']],
      ['ne 1 holds for true', { v: { ne: 1 }, id: { in: ['one', 'true'] } }, ['true']],
      [
        'exists',
        { v: { exists: true }, id: { in: ['missing', 'null', 'zero', 'empty', 'false'] } },
        ['empty', 'false', 'zero'],
      ],
      ['does not exist', { v: { exists: false } }, ['missing', 'null']],
      ['gt compares numbers with numbers only', { v: { gt: 0 } }, ['big', 'half', 'one']],
      ['gte, lte', { v: { gte: 0, lte: 1 } }, ['half', 'one', 'zero']],
      ['lt is not met by null', { v: { lt: 0 } }, ['minus']],
      ['gt compares text with text only', { v: { gt: 'a' } }, ['b', 'umlaut']],
      ['lte on text, capitals first', { v: { lte: 'A' } }, ['empty', 'percent', 'text_1', 'upper']],
      ['prefix', { v: { prefix: 'a' } }, ['a']],
      ['prefix of special characters', { v: { prefix: `100%_'"\\.*[` } }, ['percent']],
      ['% is no wildcard', { v: { prefix: '%' } }, []],
      ['_ is no wildcard', { v: { prefix: '_' } }, []],
      ['. is no wildcard', { v: { prefix: '.' } }, []],
      ['empty prefix: all text', { v: { prefix: '' } }, ['a', 'b', 'empty', 'percent', 'text_1', 'umlaut', 'upper']],
      ['contains', { v: { contains: 'rge' } }, ['umlaut']],
      ['contains special characters', { v: { contains: `*[x]{1}` } }, ['percent']],
      ['contains each of several', { v: { contains: ['ge', 'r'] } }, ['umlaut']],
      ['contains each of several, one missing', { v: { contains: ['ge', 'zz'] } }, []],
      ['contains keeps case', { v: { contains: 'RGE' } }, []],
      ['contains NUL: nothing, and no error', { v: { contains: 'a\0b' } }, []],
      ['prefix NUL: nothing, and no error', { v: { prefix: '\0' } }, []],
      ['text with NUL: nothing, and no error', { v: 'a\0b' }, []],
      ['or', { or: [{ v: 'a' }, { v: { gt: 5 } }] }, ['a', 'big']],
      ['or of nothing', { or: [] }, []],
      ['or of an empty filter', { id: 'a', or: [{}] }, ['a']],
      ['or beside other conditions', { v: { exists: true }, or: [{ v: null }, { id: 'b' }] }, ['b']],
      ['an undefined condition is none', { v: undefined, id: 'a' }, ['a']],
      ['SQL as text', { v: `' OR 1=1 --` }, []],
      ['id', { id: 'a' }, ['a']],
      ['id is text', { id: 1 }, []],
      ['id with operators', { id: { gte: 'u', ne: 'upper' } }, ['umlaut', 'zero']],
    ];
    for (const indexed of [false, true]) {
      describe(indexed ? 'on indexed fields' : 'on fields without an index', () => {
        it('match exactly', async () => {
          const rows = await seed();
          if (indexed) {
            const name = fixture.name();
            await fixture.store.ensure([{ name, indexes: [{ fields: ['v'] }, { fields: ['o.v', 'v'] }] }]);
            const all = (await rows.find({ limit: 1000 })).items;
            const other = fixture.store.collection<Row>(name);
            await other.bulk(all.map((insert) => ({ insert })));
            await expectAll(other);
          } else await expectAll(rows);
        });
      });
    }
    const expectAll = async (rows: Awaited<ReturnType<typeof seed>>): Promise<void> => {
      for (const [title, filter, ids] of cases) {
        const found = (await rows.find({ filter, limit: 1000 })).items.map((row) => row.id);
        expect(found, title).to.deep.equal([...ids].sort());
        expect(await rows.count(filter), `count: ${title}`).to.equal(ids.length);
      }
    };

    it('match elements of arrays with has and has_any, by type', async () => {
      const rows = fixture.store.collection<Row>(fixture.name());
      const tags: { [id: string]: Json } = {
        a: ['x', 'y'],
        b: ['1', true],
        c: [1, null],
        d: [],
        e: [['x']],
        g: { x: 'x' },
      };
      await rows.bulk(Object.entries(tags).map(([id, t]) => ({ insert: { id, t } })));
      await rows.insert({ id: 'f' });
      const found = async (condition: Filter[string]): Promise<string> =>
        (await rows.find({ filter: { t: condition } })).items.map((row) => row.id).join('');
      expect(await found({ has: 'x' })).to.equal('a');
      expect(await found({ has: 1 })).to.equal('c');
      expect(await found({ has: '1' })).to.equal('b');
      expect(await found({ has: true })).to.equal('b');
      expect(await found({ has: null })).to.equal('c');
      expect(await found({ has_any: ['y', 1] })).to.equal('ac');
      expect(await found({ has_any: [] })).to.equal('');
    });

    it('stores and compares lone surrogates as U+FFFD', async () => {
      const rows = fixture.store.collection<Row>(fixture.name());
      await rows.insert({ id: 'a', v: 'x\ud800y', nested: [{ k: '\\ud800 \udc00' }] });
      expect(await rows.get('a')).to.deep.equal({ id: 'a', v: 'x\ufffdy', nested: [{ k: '\\ud800 \ufffd' }] });
      expect(await rows.count({ v: 'x\ud800y' })).to.equal(1);
      expect(await rows.count({ v: { prefix: 'x\ufffd' } })).to.equal(1);
    });

    it('count per value with groupCount, missing as null, by type', async () => {
      const name = fixture.name();
      const rows = fixture.store.collection<Row>(name);
      const values = ['a', 'a', 1, true, true, true, '1', null, undefined, 0, false];
      await rows.bulk(values.map((v, i) => ({ insert: { id: `r${i}`, v, p: i < 9 ? 'p' : 'q' } as Row })));
      const groups = async (filter?: Filter): Promise<string[]> =>
        (await rows.groupCount('v', filter)).map(({ key, n }) => `${JSON.stringify(key)}:${n}`).sort();
      const expected = ['"1":1', '"a":2', '0:1', '1:1', 'false:1', 'null:2', 'true:3'];
      expect(await groups()).to.deep.equal(expected);
      await fixture.store.ensure([{ name, indexes: [{ fields: ['p', 'v'] }] }]);
      expect(await groups(), 'indexed').to.deep.equal(expected);
      expect(await groups({ p: 'q' })).to.deep.equal(['0:1', 'false:1']);
      expect(await rows.groupCount('id', { p: 'q' })).to.have.deep.members([
        { key: 'r9', n: 1 },
        { key: 'r10', n: 1 },
      ]);
    });

    it('reject an invalid field path', async () => {
      const rows = fixture.store.collection<Row>(fixture.name());
      await rows.insert({ id: 'a' });
      for (const path of ['$where', 'a b', "x'", 'a"b', '__proto__', 'A', 'a..b', '']) {
        expect(await getRejection(rows.find({ filter: { [path]: 1 } })), path).to.be.instanceOf(TypeError);
        expect(await getRejection(rows.find({ sort: [[path, 'asc']] })), path).to.be.instanceOf(TypeError);
        expect(await getRejection(rows.change({ id: 'a' }, { set: { [path]: 1 } })), path).to.be.instanceOf(TypeError);
        expect(await getRejection(rows.groupCount(path)), path).to.be.instanceOf(TypeError);
      }
      expect(() => fixture.store.collection('a"b')).to.throw(TypeError);
    });

    it('find nothing in a missing collection', async () => {
      const rows = fixture.store.collection<Row>(fixture.name());
      expect(await rows.get('a')).to.equal(null);
      expect(await rows.find()).to.deep.equal({ items: [], next: null });
      expect(await rows.count()).to.equal(0);
      expect(await rows.groupCount('v')).to.deep.equal([]);
      expect(await rows.remove({ v: 1 })).to.equal(0);
      expect(await rows.changeMany({ v: 1 }, { set: { v: 2 } })).to.equal(0);
    });
  });
}
