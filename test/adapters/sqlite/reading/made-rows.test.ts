/** What is kept of rows that were made: what was made of the very same text, and nothing else. */
import { expect } from 'chai';
import fc from 'fast-check';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { MadeRows } from '../../../../adapters/sqlite/reading/made-rows.js';

const made = (body: string, json = 'made'): Parameters<MadeRows['keep']>[0] => ({
  id: 'a',
  body,
  beside: null,
  context: '{}',
  json,
});

describe('sqlite: rendered rows', () => {
  it('are found by exactly the same text, wherever its id is, and by no other', () => {
    const name = fc.constantFrom('a', 'b', '"', '\\');
    const body = fc
      .record({ before: fc.constantFrom('', 'x'), id: fc.option(name), of: name, n: fc.nat(2) })
      .map(({ before, id, of, n }) =>
        JSON.stringify({ ...(before && { before, in: { id: of } }), ...(id && { id }), n }),
      );
    fc.assert(
      fc.property(fc.array(body, { maxLength: 30 }), (bodies) => {
        const rows = new MadeRows();
        for (const [i, text] of bodies.entries()) {
          rows.keep(made(text, String(i)));
          expect(rows.of(text)?.json).to.equal(String(i));
          for (const other of bodies) {
            const found = rows.of(other);
            if (found === undefined) continue;
            expect(found.body).to.equal(other);
            expect(found.json).to.equal(String(bodies.slice(0, i + 1).lastIndexOf(other)));
          }
        }
      }),
    );
  });

  it('are cached once per document, so that frequent changes evict no others', () => {
    const rows = new MadeRows();
    const still = JSON.stringify({ id: 'still' });
    rows.keep(made(still));
    for (let n = 0; n < 2_000; n++) rows.keep(made(JSON.stringify({ id: 'busy', n, text: 'x'.repeat(4_000) })));
    expect(rows.of(still)?.json).to.equal('made');
  });

  it('do not retain the text of the page that they were cut from', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const used = (): number => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const rows = new MadeRows();
    const before = used();
    for (let n = 0; n < 100; n++) {
      const page = Buffer.from(`${JSON.stringify({ id: `row ${n}`, text: 'x'.repeat(50) })}\n${'y'.repeat(300_000)}`);
      const [body = ''] = page.toString('latin1').split('\n');
      rows.keep({ ...made(body), beside: body });
    }
    expect(used() - before).to.be.below(3_000_000);
    expect(rows.of(JSON.stringify({ id: 'row 0', text: 'x'.repeat(50) }))?.json).to.equal('made');
  });
});
