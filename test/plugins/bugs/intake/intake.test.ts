/**
 * One way in: grouping, counting, sampling, references, races and crashes (contracts 20 and 21).
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { computeGrouping } from '../../../../plugins/bugs/grouping/grouping-key.js';
import type { ReportResult, Report } from '../../../../ports/domain/bugs.js';
import type { DocumentStore } from '../../../../ports/store/index.js';
import { ManualClock } from '../../../kit/clock.js';
import { codeOf, errorReport, MANAGER, report, settled, shown, STORES, fixtureOn, type Fixture } from '../fixture.js';

for (const engine of STORES) {
  describe(`bugs: intake on ${engine.name}`, function () {
    let store: DocumentStore;
    let close: () => Promise<void>;
    let fixtures: Fixture[];
    /** A process of its own over the one store. */
    const process = (): Fixture => {
      const fixture = fixtureOn(store, fixtures[0]?.clock ?? new ManualClock());
      fixtures.push(fixture);
      return fixture;
    };

    beforeEach(async () => {
      fixtures = [];
      ({ store, close } = await engine.open());
    });
    afterEach(async () => {
      for (const fixture of fixtures) await settled(fixture);
      await close();
    });

    const total = async (fixture: Fixture): Promise<{ items: number; hits: number }> => {
      const page = await fixture.deps.items.find({ limit: 1000 });
      return { items: page.items.length, hits: page.items.reduce((sum, item) => sum + item.hit_count, 0) };
    };

    it('creates an item for the first report, then counts', async () => {
      const fixture = process();
      const first = await fixture.bugs.record(errorReport());
      expect(first).to.include({
        ref: 'alpha-1',
        created: true,
        deduplicated: false,
        hit_count: 1,
        hour_count: 1,
        sampled: true,
      });
      const second = await fixture.bugs.record(errorReport());
      expect(second).to.include({
        id: first.id,
        created: false,
        deduplicated: true,
        hit_count: 2,
        hour_count: 2,
        sampled: true,
      });
      expect(second.item.rev).to.equal(1);
      await settled(fixture);
      expect(fixture.told.map(({ event }) => event)).to.deep.equal(['bug.created']);
    });

    it('groups a report that differs from an earlier one in any grouping field by itself', async () => {
      const fixture = process();
      const differences: Partial<Report>[] = [
        {},
        { exception_class: 'Other' },
        { error_message: 'cart is full' },
        { message_template: 'cart is {state}' },
        { error_message: null, title: 'another title' },
        { file_path: 'src/order.ts' },
        { function_name: 'load' },
        { file_path: null, stack_trace: 'E: cart is empty\n    at load (/app/src/load.ts:1:2)' },
        { fingerprint: ['mine'] },
        { members: [{ exception_class: 'Inner', file: 'src/inner.ts', function: 'run' }] },
        { project: 'beta' },
        { type: 'bug' },
      ];
      for (const difference of [...differences, ...differences]) {
        const sent = errorReport(difference);
        expect((await fixture.bugs.record(sent)).dedup_key).to.equal(computeGrouping(sent).dedup_key);
      }
    });

    it('rejects an unknown project and stores nothing', async () => {
      const fixture = process();
      expect(await codeOf(fixture.bugs.record(report({ project: 'nowhere' })))).to.equal('unknown_project');
      expect(await total(fixture)).to.deep.equal({ items: 0, hits: 0 });
      expect(await fixture.deps.keys.count()).to.equal(0);
    });

    it('creates a single item for 50 parallel first reports from two processes', async () => {
      const both = [process(), process()];
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) => (both[i % 2] as Fixture).bugs.record(errorReport())),
      );
      expect(answers.filter(({ created }) => created)).to.have.lengthOf(1);
      expect(new Set(answers.map(({ id }) => id)).size).to.equal(1);
      expect(await total(both[0] as Fixture)).to.deep.equal({ items: 1, hits: 50 });
      await Promise.all(both.map(settled));
      expect(both.flatMap(({ told: reported }) => reported)).to.have.lengthOf(1);
    });

    it('creates a single item for 50 parallel identical client_refs from two processes, counted once', async () => {
      const both = [process(), process()];
      const one = report({ client_ref: 'ref-1' });
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) => (both[i % 2] as Fixture).bugs.record(one)),
      );
      expect(answers.filter(({ created }) => created)).to.have.lengthOf(1);
      expect(answers.filter(({ repeated }) => repeated)).to.have.lengthOf(49);
      expect(await total(both[0] as Fixture)).to.deep.equal({ items: 1, hits: 1 });
    });

    it('creates a single item for parallel reports with one client_ref and different texts', async () => {
      const fixture = process();
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          fixture.bugs.record(report({ title: `Text ${'x'.repeat(i)}`, client_ref: 'same' })),
        ),
      );
      expect(new Set(answers.map(({ id }) => id)).size).to.equal(1);
      expect(await total(fixture)).to.deep.equal({ items: 1, hits: 1 });
    });

    it('stores the client_ref of an occurrence for 30 days, and that of an item permanently', async () => {
      const fixture = process();
      await fixture.bugs.record(errorReport({ client_ref: 'a' }));
      const b = await fixture.bugs.record(errorReport({ client_ref: 'b' }));
      expect(b).to.include({ deduplicated: true, hit_count: 2 });
      await settled(fixture);
      expect(await fixture.bugs.record(errorReport({ client_ref: 'b' }))).to.include({ repeated: true, hit_count: 2 });
      fixture.clock.advance(31 * 86_400_000);
      await fixture.jobs.deleteExpired();
      expect(await fixture.bugs.record(errorReport({ client_ref: 'b' }))).to.include({ repeated: false, hit_count: 3 });
      expect(await fixture.bugs.record(errorReport({ client_ref: 'a' }))).to.include({ repeated: true, hit_count: 3 });
    });

    it('removes finished references from the item', async () => {
      const fixture = process();
      const { id } = await fixture.bugs.record(errorReport());
      await Promise.all(
        Array.from({ length: 80 }, (_, i) => fixture.bugs.record(errorReport({ client_ref: `r${i}` }))),
      );
      await settled(fixture);
      await fixture.jobs.reconcile();
      expect((await fixture.deps.items.get(id))?.inflight).to.deep.equal({});
      expect((await fixture.deps.items.get(id))?.hit_count).to.equal(81);
      expect(await fixture.deps.refs.count({ open_at: null })).to.equal(80);
    });

    const from = (file_path: string | null): Partial<Report> => ({ file_path });
    const sequence = async (fixture: Fixture, files: (string | null)[]): Promise<number[]> => {
      const ids: string[] = [];
      for (const file of files) ids.push((await fixture.bugs.record(errorReport(from(file)))).id);
      const known = [...new Set(ids)];
      return ids.map((id) => known.indexOf(id) + 1);
    };

    it('assigns an origin to an item without one: none, cart, checkout, none are 1, 1, 2, 1', async () => {
      const fixture = process();
      expect(await sequence(fixture, [null, 'src/cart.ts', 'src/checkout.ts', null])).to.deep.equal([1, 1, 2, 1]);
      expect((await shown(fixture, 'alpha-1')).file_path).to.equal('src/cart.ts');
    });

    it('counts a report without origin in the newest item: cart, checkout, none, cart are 1, 2, 2, 1', async () => {
      const fixture = process();
      expect(await sequence(fixture, ['src/cart.ts', 'src/checkout.ts', null, 'src/cart.ts'])).to.deep.equal([
        1, 2, 2, 1,
      ]);
    });

    it('creates a single item for parallel reports without origin and with cart, from two processes', async () => {
      const both = [process(), process()];
      for (let round = 0; round < 10; round++) {
        const message = `parallel ${'x'.repeat(round + 1)}`;
        const fields = (i: number) => ({ error_message: message, ...from(i % 2 === 0 ? null : 'src/cart.ts') });
        const answers = await Promise.all(
          Array.from({ length: 8 }, (_, i) => (both[(i >> 1) % 2] as Fixture).bugs.record(errorReport(fields(i)))),
        );
        expect(new Set(answers.map(({ id }) => id)).size).to.equal(1);
      }
    });

    it('stores the first 5 and a reservoir of 45 payloads while it counts every occurrence', async () => {
      const fixture = process();
      let last: ReportResult | undefined;
      for (let i = 0; i < 120; i++) last = await fixture.bugs.record(errorReport({ host: `h${i}` }));
      expect(last?.hit_count).to.equal(120);
      const page = await fixture.parts.getPage('alpha-1', MANAGER, 'occurrences', {
        limit: 200,
        include_total: true,
      });
      expect(page.total).to.equal(50);
      const hosts = (page.items as { host: string }[]).map(({ host }) => host);
      for (const host of ['h0', 'h1', 'h2', 'h3', 'h4']) expect(hosts).to.include(host);
      expect(await fixture.deps.occurrences.count({ item_id: last?.id ?? '' })).to.equal(50);
    });

    it('samples again after 30 days, when the old payloads are deleted', async () => {
      const fixture = process();
      for (let i = 0; i < 60; i++) await fixture.bugs.record(errorReport());
      fixture.clock.advance(31 * 86_400_000);
      await fixture.jobs.deleteExpired();
      expect(await fixture.deps.occurrences.count()).to.equal(0);
      expect((await fixture.bugs.record(errorReport())).sampled).to.equal(true);
      expect((await fixture.bugs.record(errorReport())).sampled).to.equal(true);
      expect(await fixture.deps.occurrences.count()).to.equal(2);
    });

    it('counts each accepted report once, in a single item per key, in any order', async () => {
      const files = fc.constantFrom(null, 'a.ts', 'b.ts');
      const incoming = fc.record({
        message: fc.constantFrom('one', 'two', 'three'),
        file: files,
        ref: fc.option(fc.constantFrom('r1', 'r2', 'r3'), { nil: null }),
        resolve: fc.boolean(),
      });
      let run = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(incoming, { minLength: 1, maxLength: 6 }), { maxLength: 6 }),
          async (batches) => {
            const fixture = process();
            const prefix = `run ${'x'.repeat(++run)} `;
            const seen: (ReportResult & { bound: boolean })[] = [];
            for (const batch of batches) {
              fixture.clock.advance(61_000);
              const answers = await Promise.all(
                batch.map(({ message, file, ref }) =>
                  fixture.bugs.record(
                    errorReport({
                      error_message: prefix + message,
                      file_path: file,
                      client_ref: ref === null ? null : `${run}-${ref}`,
                    }),
                  ),
                ),
              );
              seen.push(...answers.map((answer, i) => ({ ...answer, bound: batch[i]?.ref !== null })));
              for (const [i, { resolve }] of batch.entries()) {
                if (resolve) await codeOf(fixture.edits.edit(answers[i]?.id ?? '', MANAGER, { status: 'resolved' }));
              }
            }
            const ids = [...new Set(seen.map(({ id }) => id))];
            const docs = await Promise.all(ids.map((id) => fixture.deps.items.get(id)));
            const hits = docs.reduce((sum, doc) => sum + (doc?.hit_count ?? 0), 0);
            expect(hits).to.equal(seen.filter(({ repeated }) => !repeated).length);
            expect(seen.filter(({ created }) => created)).to.have.lengthOf(ids.length);
            const byKey = new Map<string, Set<string>>();
            // A reference may bind a report to the item of an earlier one, whatever its text.
            for (const { dedup_key, id, bound } of seen) {
              if (!bound) byKey.set(dedup_key, (byKey.get(dedup_key) ?? new Set()).add(id));
            }
            for (const items of byKey.values()) expect(items.size).to.equal(1);
          },
        ),
        { numRuns: engine.name === 'memory' ? 40 : 5 },
      );
    });
  });
}
