import { expect } from 'chai';
import fc from 'fast-check';
import { collectAll, iterateItems, iteratePages } from '../../lib/paging.js';

interface Query {
  after?: string | null;
  size?: number;
}

/** A list of numbers in pages; cursors are offsets. */
class Numbers {
  asked: Query[] = [];
  constructor(private readonly count: number) {}

  async find({ after, size = 3 }: Query = {}): Promise<{ items: number[]; next: string | null }> {
    this.asked.push({ after: after ?? null, size });
    const from = Number(after ?? 0);
    const to = Math.min(this.count, from + size);
    const items = Array.from({ length: to - from }, (_, i) => from + i);
    return { items, next: to < this.count ? String(to) : null };
  }
}

describe('lib: paging', () => {
  it('reads every item once, in order, for any page size', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(40), fc.integer({ min: 1, max: 12 }), async (count, size) => {
        const expected = Array.from({ length: count }, (_, i) => i);
        expect(await collectAll(new Numbers(count), { size })).to.deep.equal(expected);
        const seen: number[] = [];
        for await (const n of iterateItems(new Numbers(count), { size })) seen.push(n);
        expect(seen).to.deep.equal(expected);
      }),
    );
  });

  it('returns a single empty page for an empty list', async () => {
    const found: number[][] = [];
    for await (const items of iteratePages(new Numbers(0), {})) found.push(items);
    expect(found).to.deep.equal([[]]);
  });

  it('starts after the given cursor', async () => {
    expect(await collectAll(new Numbers(7), { after: '5' })).to.deep.equal([5, 6]);
  });

  it('reads no page before it is requested', async () => {
    const numbers = new Numbers(100);
    for await (const n of iterateItems(numbers, {})) if (n === 4) break;
    expect(numbers.asked.map(({ after }) => after)).to.deep.equal([null, '3']);
  });

  it('propagates an error', async () => {
    const broken = { find: (_query?: Query) => Promise.reject<{ items: never[]; next: null }>(new Error('no store')) };
    const fault = await collectAll(broken, {}).then(
      () => null,
      (error: Error) => error.message,
    );
    expect(fault).to.equal('no store');
  });
});
