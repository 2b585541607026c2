/** Payloads of occurrences, also as earlier versions stored them (contract 21, intake). */
import { expect } from 'chai';
import fc from 'fast-check';
import { deflateRawSync } from 'node:zlib';
import type { OccurrenceDoc, PackedOccurrence } from '../../../../plugins/bugs/item/occurrence-documents.js';
import { listSlotIds } from '../../../../plugins/bugs/item/document-ids.js';
import { unpackOccurrence } from '../../../../plugins/bugs/item/occurrence-payload.js';
import type { ReportDetails } from '../../../../ports/domain/bugs.js';
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

/** As an earlier version stored it. */
function packed(doc: OccurrenceDoc): PackedOccurrence {
  const { id, item_id, occurrence_id, occurred_at, received_at, stack_trace, ...rest } = doc;
  const text = stack_trace === null ? JSON.stringify(rest) : `${JSON.stringify(rest)}\n${stack_trace}`;
  const bytes = deflateRawSync(Buffer.from(text)).toString('base64');
  return { id, item_id, occurrence_id, occurred_at, received_at, packed: bytes };
}

const nobody = (): Promise<null> => Promise.resolve(null);

describe('bugs: payloads', () => {
  it('of an earlier version are decompressed correctly, for any content and size', async () => {
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
          expect(await unpackOccurrence(packed(doc), nobody)).to.deep.equal(JSON.parse(JSON.stringify(doc)));
        },
      ),
    );
  });

  for (const { name, open } of STORES) {
    it(`are returned complete, also next to those of earlier versions (${name})`, async () => {
      const { store, close } = await open();
      const fixture = fixtureOn(store);
      try {
        const details = (): ReportDetails => ({ context: { a: [1] }, breadcrumbs: null });
        const { id } = await fixture.bugs.record(errorReport({ stack_trace: STACK, tags: ['t'] }), { details });
        const old = occurrence({ id: `${id}:7`, item_id: id, received_at: '2000-01-01T00:00:00.000Z', host: 'old' });
        const older = occurrence({
          id: `${id}:8`,
          item_id: id,
          received_at: '1999-01-01T00:00:00.000Z',
          host: 'older',
        });
        await fixture.deps.occurrences.bulk([{ insert: old }, { insert: packed(older) }]);
        const page = await fixture.parts.getPage(id, MANAGER, 'occurrences', {});
        const [fresh, kept, compressed] = page.items as Record<string, unknown>[];
        expect(fresh)
          .to.include({ stack_trace: STACK, error_message: 'cart is empty' })
          .and.not.to.have.property('packed');
        expect(fresh).to.deep.include({ context: { a: [1] }, tags: ['t'] });
        expect(kept).to.include({ stack_trace: STACK, host: 'old' });
        expect(compressed).to.include({ stack_trace: STACK, host: 'older' }).and.not.to.have.property('packed');
      } finally {
        await settled(fixture);
        await close();
      }
    });

    it(`include the stack trace of the first report, which is stored once (${name})`, async () => {
      const { store, close } = await open();
      const fixture = fixtureOn(store);
      try {
        const report = errorReport({ stack_trace: STACK });
        const { id } = await fixture.bugs.record(report);
        await settled(fixture);
        const own = await fixture.deps.occurrences.get(listSlotIds(id)[0] ?? '');
        expect(own).to.have.property('stack_trace', null);
        const other = `${STACK}    at other (/srv/app/src/other.ts:1:1)\n`;
        await fixture.bugs.record(errorReport({ stack_trace: other }));
        await settled(fixture);
        const stacks = async (): Promise<string[]> => {
          const { items } = await fixture.parts.getPage(id, MANAGER, 'occurrences', {});
          return (items as Record<string, unknown>[]).map(({ stack_trace }) => String(stack_trace));
        };
        expect(await stacks()).to.have.members([STACK, other]);
        const { items } = await fixture.parts.getPage(id, MANAGER, 'occurrences', {});
        for (const shown of items) expect(shown).to.not.have.property('stack_of_item');
        // Nobody waits for the texts of an item that is gone.
        await fixture.deps.texts.remove({ id });
        expect(await stacks()).to.include(other);
      } finally {
        await settled(fixture);
        await close();
      }
    });

    it(`are deleted after 30 days by the hourly job, and not earlier (${name})`, async () => {
      const { store, close } = await open();
      const fixture = fixtureOn(store);
      try {
        const { id } = await fixture.bugs.record(errorReport({ stack_trace: STACK }));
        const count = (): Promise<number> => fixture.deps.occurrences.count({ item_id: id });
        fixture.clock.advance(30 * 86_400_000 - 1000);
        await fixture.bugs.record(errorReport());
        await fixture.jobs.deleteExpired();
        expect(await count()).to.equal(2);
        fixture.clock.advance(2000);
        await fixture.jobs.deleteExpired();
        expect(await count()).to.equal(1);
        fixture.clock.advance(30 * 86_400_000);
        await fixture.jobs.deleteExpired();
        expect(await count()).to.equal(0);
        expect((await fixture.deps.items.get(id))?.hit_count).to.equal(2);
      } finally {
        await settled(fixture);
        await close();
      }
    });
  }
});
