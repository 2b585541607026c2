/**
 * Occurrences that come at once: one write for many, and each is told its own place
 * (count-batcher.ts).
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { mergeCountUpdates } from '../../../../plugins/bugs/intake/count-batcher.js';
import { applyUpdate } from '../../../../ports/document.js';
import type { Update } from '../../../../ports/store/index.js';
import { errorReport, settled, STORES, fixtureOn, type Fixture } from '../fixture.js';

for (const { name, open } of STORES) {
  describe(`bugs: counting concurrent reports (${name})`, () => {
    let close: () => Promise<void>;
    let fixture: Fixture;
    let writes = 0;
    let failure: Error | null = null;
    beforeEach(async () => {
      const opened = await open();
      ({ close } = opened);
      fixture = fixtureOn(opened.store, undefined, (deps) => {
        deps.items = new Proxy(deps.items, {
          get: (target, method) => {
            if (method === 'change') writes++;
            const inner = Reflect.get(target, method) as (...args: unknown[]) => unknown;
            return (...args: unknown[]): unknown =>
              failure === null ? inner.apply(target, args) : Promise.reject(failure);
          },
        });
      });
      await fixture.bugs.record(errorReport());
      await settled(fixture);
      writes = 0;
      failure = null;
    });
    afterEach(() => close());

    it('writes less often than it counts, and returns every report its hit count', async () => {
      const counts = await Promise.all(
        Array.from({ length: 40 }, async () => {
          const { hit_count, hour_count, created, item } = await fixture.bugs.record(errorReport());
          expect([created, item.hit_count, item.hour_count]).to.deep.equal([false, hit_count, hour_count]);
          return [hit_count, hour_count];
        }),
      );
      const expected = Array.from({ length: 40 }, (_, i) => [i + 2, i + 2]);
      expect(counts.toSorted(([a = 0], [b = 0]) => a - b)).to.deep.equal(expected);
      expect(writes).to.be.within(1, 12);
    });

    it('counts a client_ref once per sender, together with reports without client_ref', async () => {
      await Promise.all(
        Array.from({ length: 24 }, (_, i) =>
          fixture.bugs.record(errorReport(i % 3 === 0 ? { client_ref: `r${i % 2}` } : {})),
        ),
      );
      await settled(fixture);
      const [item] = (await fixture.deps.items.find()).items;
      expect(item?.hit_count).to.equal(1 + 16 + 2);
    });

    it('separates groups, and applies changes read in between', async () => {
      await Promise.all(
        Array.from({ length: 30 }, (_, i) =>
          fixture.bugs.record(errorReport({ exception_class: `E${i % 3}`, app_version: `1.${i}` })),
        ),
      );
      const { items } = await fixture.deps.items.find({ sort: [['created_at', 'asc']] });
      expect(
        items.filter(({ exception_class: name }) => /^E\d$/.test(name ?? '')).map(({ hit_count: n }) => n),
      ).to.deep.equal([10, 10, 10]);
    });

    it('rejects all reports of a batch when the store fails', async () => {
      failure = new Error('disk full');
      const settledAll = await Promise.allSettled(Array.from({ length: 5 }, () => fixture.bugs.record(errorReport())));
      expect(settledAll.map((result) => result.status)).to.deep.equal(Array.from({ length: 5 }, () => 'rejected'));
    });
  });
}

describe('bugs: merged updates', () => {
  it('have the same effect as applying them sequentially', () => {
    const update: fc.Arbitrary<Update> = fc.record(
      {
        set: fc.dictionary(fc.constantFrom('last_build', 'x'), fc.string()),
        inc: fc.dictionary(fc.constantFrom('n', 'minutes.m1', 'minutes.m2'), fc.integer({ min: 1, max: 5 })),
        max: fc.dictionary(fc.constantFrom('last', 'at'), fc.constantFrom('2026-01-01', '2026-01-02', '2025-12-31')),
        min: fc.dictionary(fc.constantFrom('first'), fc.constantFrom('2026-01-01', '2026-01-02', '2025-12-31')),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(update, { minLength: 1, maxLength: 8 }), (updates) => {
        const doc = {
          id: 'a',
          n: 1,
          minutes: { m1: 1 },
          at: '2026-01-01',
          first: '2026-01-02',
        };
        const stepwise = updates.reduce(
          (before, one) => applyUpdate(before, structuredClone(one)),
          structuredClone(doc),
        );
        expect(applyUpdate(structuredClone(doc), mergeCountUpdates(updates))).to.deep.equal(stepwise);
      }),
    );
  });
});
