/** Payloads of occurrences: compressed on their way to the store, whole on their way back (contract 21, intake). */
import { expect } from 'chai';
import fc from 'fast-check';
import type { OccurrenceDoc } from '../../../../plugins/bugs/items/model.js';
import { pack, replacing, unpack } from '../../../../plugins/bugs/intake/payload.js';
import { applyUpdate, plainUpdate } from '../../../../ports/document.js';
import { errorReport, MANAGER, settled, STORES, fixtureOn } from '../fixture.js';

const STACK = `Error: boom\n${'    at load (/srv/app/src/orders/module.ts:10:13)\n'.repeat(100)}`;

const occurrence = (fields: Partial<OccurrenceDoc> = {}): OccurrenceDoc => ({
  id: 'i:0',
  item_id: 'i',
  occurrence_id: 'o',
  occurred_at: '2026-11-20T08:00:00.000Z',
  received_at: '2026-11-20T08:00:01.000Z',
  error_message: 'boom\nsecond line',
  exception_class: 'E',
  error_level: 'error',
  stack_trace: STACK,
  environment: null,
  app_version: '1.0.0',
  commit_sha: null,
  file_path: null,
  line_no: 3,
  host: null,
  client_ref: null,
  tags: ['a'],
  context: { a: ['\n', { b: null }] },
  breadcrumbs: null,
  ...fields,
});

describe('bugs: payloads', () => {
  it('come back as they were, whatever they hold and however large', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('', '\n', STACK, '\n'.repeat(2000), 'é€😀'.repeat(9000)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.option(text),
        fc.option(text),
        fc.jsonValue().filter((value) => !JSON.stringify(value).includes('__proto__')),
        async (stack_trace, error_message, context) => {
          const doc = occurrence({ stack_trace, error_message, context });
          const stored = JSON.parse(JSON.stringify(await pack(doc))) as Awaited<ReturnType<typeof pack>>;
          expect(await unpack(stored)).to.deep.equal(JSON.parse(JSON.stringify(doc)));
        },
      ),
    );
  });

  it('take an eighth of their room, and small ones stay as they are', async () => {
    for (const stack_trace of [STACK, STACK.repeat(12)]) {
      const stored = await pack(occurrence({ stack_trace }));
      expect(Object.keys(stored).toSorted()).to.deep.equal([
        'id',
        'item_id',
        'occurred_at',
        'occurrence_id',
        'packed',
        'received_at',
      ]);
      expect(JSON.stringify(stored).length).to.be.below(stack_trace.length / 8);
    }
    const small = occurrence({ stack_trace: null });
    expect(await pack(small)).to.equal(small);
  });

  it('leave nothing of the payload whose place they take', async () => {
    const plain = occurrence({ stack_trace: null });
    const packed = await pack(occurrence({ id: 'i:0' }));
    for (const [before, after] of [
      [plain, packed],
      [packed, plain],
      [packed, packed],
    ] as const) {
      const written = applyUpdate(structuredClone(before), plainUpdate({ set: replacing(after) }));
      expect(written).to.deep.equal(after);
    }
  });

  for (const { name, open } of STORES) {
    it(`are shown decompressed, also beside those that an earlier version left whole (${name})`, async () => {
      const { store, close } = await open();
      const fixture = fixtureOn(store);
      try {
        const { id } = await fixture.bugs.record(errorReport({ stack_trace: STACK, context: { a: [1] }, tags: ['t'] }));
        const old = occurrence({ id: `${id}:7`, item_id: id, received_at: '2000-01-01T00:00:00.000Z', host: 'old' });
        await fixture.deps.occurrences.insert(old);
        const page = await fixture.discussion.page(id, MANAGER, 'occurrences', {});
        const [fresh, kept] = page.items as Record<string, unknown>[];
        expect(fresh)
          .to.include({ stack_trace: STACK, error_message: 'cart is empty' })
          .and.not.to.have.property('packed');
        expect(fresh).to.deep.include({ context: { a: [1] }, tags: ['t'] });
        expect(kept).to.include({ stack_trace: STACK, host: 'old' });
        const [stored] = (await fixture.deps.occurrences.find({ filter: { id: `${id}:0` } })).items;
        expect(stored).to.have.property('packed');
        expect(stored).not.to.have.property('stack_trace');
      } finally {
        await settled(fixture);
        await close();
      }
    });

    it(`go after 30 days, by the hourly job, and not before (${name})`, async () => {
      const { store, close } = await open();
      const fixture = fixtureOn(store);
      try {
        const { id } = await fixture.bugs.record(errorReport({ stack_trace: STACK }));
        const count = (): Promise<number> => fixture.deps.occurrences.count({ item_id: id });
        fixture.clock.advance(30 * 86_400_000 - 1000);
        await fixture.bugs.record(errorReport());
        await fixture.bugs.forget();
        expect(await count()).to.equal(2);
        fixture.clock.advance(2000);
        await fixture.bugs.forget();
        expect(await count()).to.equal(1);
        fixture.clock.advance(30 * 86_400_000);
        await fixture.bugs.forget();
        expect(await count()).to.equal(0);
        expect((await fixture.deps.items.get(id))?.hit_count).to.equal(2);
      } finally {
        await settled(fixture);
        await close();
      }
    });
  }
});
