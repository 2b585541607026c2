/**
 * The stored fields that follow from others (lane, queue, build, severity) are what `derived` makes
 * of the item, whatever happened to it: reports, mutes, claims, releases, changes, merges,
 * publishes, time (property).
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { ServiceError } from '../../../../kernel/errors.js';
import { computeDerivedFields } from '../../../../plugins/bugs/item/derived-fields.js';
import type { ItemEdit } from '../../../../plugins/bugs/item/edit.js';
import type { ErrorLevel } from '../../../../ports/domain/bugs.js';
import { errorReport, MANAGER, memoryFixture, report, settled, type Fixture } from '../fixture.js';

type Step = (fixture: Fixture, ref: string) => Promise<unknown>;

const edit =
  (fields: ItemEdit): Step =>
  (fixture, ref) =>
    fixture.edits.edit(ref, MANAGER, { ...fields, force: true, reason: 'because' });
const occur =
  (more: object): Step =>
  (fixture, ref) =>
    fixture.bugs.record(ref === 'alpha-2' ? errorReport(more) : report({ title: `Item ${ref}`, ...more }));

const MUTE = { rule_id: 'rule-1', reason: 'noise' };
const level = fc.constantFrom<ErrorLevel>('fatal', 'error', 'warning');
const steps = fc.oneof<fc.Arbitrary<[string, Step]>[]>(
  fc.constant(['report', occur({ muted_by: null })]),
  fc.constant(['muted report', occur({ muted_by: MUTE })]),
  fc.tuple(
    fc.constant('level'),
    level.map((error_level) => occur({ error_level, muted_by: null })),
  ),
  fc.constant(['report of 2.0', occur({ app_version: '2.0', muted_by: null })]),
  fc.constant(['unmute', (fixture) => fixture.bugs.unmuteByRule('rule-1')]),
  fc.constant(['claim', (fixture, ref) => fixture.leases.claim(ref, MANAGER, { agent: 'a' })]),
  fc.constant(['next', (fixture) => fixture.nextItem.reserveNext(MANAGER, { agent: 'b' }, {})]),
  fc.constant([
    'renew',
    async (fixture, ref) => {
      const { lease } = await fixture.leases.claim(ref, MANAGER, { agent: 'c' });
      await fixture.leases.renew(ref, MANAGER, lease);
    },
  ]),
  fc.constant([
    'release',
    async (fixture, ref) => {
      const { lease } = await fixture.leases.claim(ref, MANAGER, { agent: 'd' });
      await fixture.leases.release(ref, MANAGER, lease);
    },
  ]),
  fc.tuple(
    fc.constant('status'),
    fc.constantFrom('open', 'needs_info', 'resolved', 'closed', 'wont_fix').map((status) => edit({ status })),
  ),
  fc.tuple(
    fc.constant('severity'),
    fc.constantFrom('low', 'critical').map((severity) => edit({ severity })),
  ),
  fc.tuple(
    fc.constant('build'),
    fc.constantFrom('1.0', '2.0', null).map((build) => edit({ resolved_in_build: build })),
  ),
  fc.constant(['duplicate', edit({ status: 'duplicate', duplicate_of: 'alpha-3' })]),
  fc.constant(['split', (fixture, ref) => fixture.merging.split(ref, MANAGER)]),
  fc.constant(['comment', (fixture, ref) => fixture.comments.add(ref, MANAGER, { body: 'hello' })]),
  fc.constant(['publish', (fixture) => fixture.published('1.0')]),
  fc.constant(['hour', async (fixture) => fixture.clock.advance(3_600_000)]),
  fc.constant(['sweep', (fixture) => fixture.jobs.sweep()]),
);

describe('bugs: derived fields', () => {
  it('equal the fields of the item after any changes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom('alpha-1', 'alpha-2'), steps), { minLength: 1, maxLength: 25 }),
        async (story) => {
          const fixture = await memoryFixture();
          await fixture.bugs.record(report({ title: 'Item alpha-1' }));
          await fixture.bugs.record(errorReport());
          await fixture.bugs.record(report({ title: 'Target' }));
          for (const [ref, [, step]] of story)
            await step(fixture, ref).catch((error: unknown) => {
              if (!(error instanceof ServiceError)) throw error;
            });
          await settled(fixture);
          for (const item of (await fixture.deps.items.find()).items) {
            expect(item, item.ref).to.deep.include(computeDerivedFields(item));
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});
