/** What reports said lately stands for nothing else: neither for other words nor for what stands beside them. */
import { expect } from 'chai';
import fc from 'fast-check';
import { groupingOf, type Grouping } from '../../../../plugins/bugs/grouping/key.js';
import { KnownWordings } from '../../../../plugins/bugs/intake/known-wordings.js';
import { errorReport, memoryFixture } from '../fixture.js';

const grouped = ({ dedup_key, bare_key, origin, masked }: Grouping): Grouping => ({
  dedup_key,
  bare_key,
  origin,
  masked,
});

const MASKS = {};

describe('bugs: words of reports that are known', () => {
  it('lead to the keys that the report has by itself', () => {
    const few = <T>(...of: T[]): fc.Arbitrary<T> => fc.constantFrom(...of);
    const reports = fc.record({
      project: few('shop', 'tools'),
      title: few('E: cart is empty', 'E: cart'),
      error_message: few('cart is empty', 'cart 4711 is empty', null),
      message_template: few(null, 'cart %d is empty'),
      exception_class: few('E', 'F', null),
      file_path: few('src/cart.ts', 'src/shop.ts', ' ', null),
      function_name: few('total', null),
      stack_trace: few(null, 'Error: x\n    at a (/srv/a.js:1:1)', 'Error: x\n    at b (/srv/b.js:1:1)'),
      fingerprint: few<readonly string[] | null>(null, [], ['a']),
    });
    fc.assert(
      fc.property(fc.array(reports, { maxLength: 60 }), (list) => {
        const known = new KnownWordings();
        for (const fields of list) {
          const one = errorReport(fields);
          const own = groupingOf(one);
          expect(known.groupingOf(one, MASKS) ?? grouped(own)).to.deep.equal(grouped(own));
          known.add(one, MASKS, own);
        }
      }),
    );
  });

  it('are found when all of them are the same, and a file locates the error', () => {
    const known = new KnownWordings();
    const [first, elsewhere] = [errorReport({ host: 'web-1' }), errorReport({ file_path: null })];
    for (const one of [first, elsewhere]) known.add(one, MASKS, groupingOf(one));
    expect(known.groupingOf(errorReport({ host: 'web-2', line_no: 7 }), MASKS)).to.deep.equal(
      grouped(groupingOf(first)),
    );
    expect(known.groupingOf(errorReport({ exception_class: 'F' }), MASKS)).to.equal(null);
    expect(known.groupingOf(elsewhere, MASKS)).to.equal(null);
    expect(known.groupingOf(first, { numbers: false })).to.equal(null);
  });

  it('ignore the texts next to them', async () => {
    const fixture = await memoryFixture();
    // Words are remembered when they come for the second time.
    for (let i = 0; i < 2; i++) await fixture.bugs.record(errorReport());
    const secret = 'hunter2-and-more';
    const { id } = await fixture.bugs.record(
      errorReport({
        stack_trace: `at connect (password=${secret})`,
        host: `web password=${secret}`,
        tags: [`api_key=${secret}`],
      }),
    );
    const stored = JSON.stringify(await fixture.store.collection('bugs_occurrences').find({ limit: 100 }));
    expect(stored).to.include('[scrubbed]').and.not.include(secret);
    expect(stored).to.include(id);
  });
});
