import { expect } from 'chai';
import fc from 'fast-check';
import { toAfterFilters, decodeCursor, encodeCursor, resolvePageLimit, toPage } from '../../ports/cursor.js';
import { compareDocs, matchesFilter, toTotalSort, getPathValue } from '../../ports/document.js';
import { InvalidCursor, type Doc, type Scalar } from '../../ports/store/index.js';
import { arbitraryDoc, arbitrarySort } from '../kit/contracts/arbitraries.js';

describe('cursors', () => {
  it('resume with exactly the rows after a given row, in order', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(arbitraryDoc, { selector: (doc) => doc.id, minLength: 2, maxLength: 20 }),
        arbitrarySort,
        fc.nat(),
        (docs, sort, n) => {
          const sorted = [...docs].sort(compareDocs(toTotalSort(sort)));
          const at = n % sorted.length;
          const row = sorted[at] as Doc;
          const values = toTotalSort(sort).map(([path]) => getPathValue(row, path) as Scalar);
          const stretches = toAfterFilters(sort, values);
          const after = stretches.flatMap((stretch) => sorted.filter((doc) => matchesFilter(doc, stretch)));
          expect(after.map((doc) => doc.id)).to.deep.equal(sorted.slice(at + 1).map((doc) => doc.id));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('contain the sort values', () => {
    const sort = [
      ['a.b', 'desc'],
      ['n', 'asc'],
    ] as const;
    const cursor = encodeCursor(sort, { id: 'x', a: { b: 'ü😀' }, n: null } as Doc);
    expect(decodeCursor(sort, cursor)).to.deep.equal(['ü😀', null, 'x']);
    expect(() =>
      decodeCursor(
        [
          ['a.b', 'asc'],
          ['n', 'asc'],
        ],
        cursor,
      ),
    ).to.throw(InvalidCursor);
  });

  it('throw InvalidCursor for any text that is not a cursor of this sort', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json().map((json) => Buffer.from(json).toString('base64url')),
        ),
        (text) => {
          expect(() => decodeCursor([['a', 'asc']], text)).to.throw(InvalidCursor);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('are returned only when there is another page', () => {
    const docs = ['a', 'b', 'c'].map((id) => ({ id }));
    expect(toPage([], docs, 3)).to.deep.equal({ items: docs, next: null });
    expect(toPage([], docs, 2).items).to.deep.equal(docs.slice(0, 2));
    expect(decodeCursor([], toPage([], docs, 2).next ?? '')).to.deep.equal(['b']);
  });

  it('validate limits', () => {
    expect(resolvePageLimit()).to.equal(50);
    for (const limit of [0, 1001, 1.5, Number.NaN]) expect(() => resolvePageLimit(limit)).to.throw(TypeError);
  });

  it('throw TypeError for a sort by objects', () => {
    expect(() => encodeCursor([['o', 'asc']], { id: 'a', o: {} } as Doc)).to.throw(TypeError);
  });
});
