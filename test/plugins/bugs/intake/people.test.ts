/**
 * People affected: counted once each, over lists, processes, merges and new starts, and never kept
 * (contract 21).
 */
import { expect } from 'chai';
import type { Report } from '../../../../ports/domain/bugs.js';
import { ENGINES, errorReport, MANAGER, report, settled, shown, type Fixture, twoProcesses } from '../fixture.js';

const of = (user: string | null, more: Partial<Report> = {}): Report => errorReport({ user, ...more });
const named = (from: number, to: number, more: Partial<Report> = {}): { report: Report }[] =>
  Array.from({ length: to - from }, (_, i) => ({ report: of(`user-${from + i}@example.org`, more) }));

for (const engine of ENGINES) {
  describe(`bugs: affected users on ${engine.name}`, function () {
    let fixture: Fixture;
    let other: Fixture;
    let close: () => Promise<void>;
    beforeEach(async function () {
      ({ fixture, other, close } = await twoProcesses(engine, () => this.skip()));
    });
    afterEach(async function () {
      if (this.currentTest?.isPending() === true) return;
      await close();
    });

    it('is null until a report names a user, then counts each user once', async () => {
      const { id, item } = await fixture.bugs.record(of(null));
      expect(item.people).to.equal(null);
      const people: (number | null)[] = [];
      for (const user of ['ada', 'bob', 'ada', null, 'eve']) {
        people.push((await fixture.bugs.record(of(user))).item.people);
      }
      expect(people).to.deep.equal([1, 2, 2, 2, 3]);
      expect((await shown(fixture, id)).people).to.equal(3);
      const detail = await fixture.lists.getDetail(id, MANAGER);
      expect([detail.people, detail.item.people, detail.item.hit_count]).to.deep.equal([3, 3, 6]);
    });

    it('starts with the report that creates the item, and is part of bug.created', async () => {
      const made = await fixture.bugs.record(of('ada'));
      expect(made.item.people).to.equal(1);
      expect((await fixture.bugs.record(of('ada'))).item.people).to.equal(1);
      await fixture.bugs.record(report({ title: 'Nobody is named' }));
      await settled(fixture);
      const reported = fixture.told.filter(({ event }) => event === 'bug.created').map(({ data }) => data.people);
      expect(reported).to.deep.equal([1, null]);
    });

    it('loses no user when two processes count concurrently', async () => {
      const { id } = await fixture.bugs.record(of('first'));
      await Promise.all([
        ...Array.from({ length: 8 }, (_, i) => fixture.bugs.recordAll(named(i * 3, i * 3 + 3))),
        ...Array.from({ length: 8 }, (_, i) => other.bugs.recordAll(named(24 + i * 3, 27 + i * 3))),
      ]);
      expect(await shown(fixture, id)).to.include({ people: 49, hit_count: 49 });
    });

    it('continues in a process started later, and stays small and accurate for many users', async () => {
      const { id } = await fixture.bugs.record(of('first'));
      await fixture.bugs.recordAll(named(0, 100));
      for (let from = 0; from < 2_000; from += 100) await other.bugs.recordAll(named(from, from + 100));
      const [item] = (await fixture.deps.items.find({ filter: { id } })).items;
      expect(item?.people_sketch).to.have.length.at.most(256);
      expect(item?.people).to.be.within(1_800, 2_200);
      expect(item?.hit_count).to.equal(2_101);
    });

    it('counts users of resolved and muted items too', async () => {
      const { id } = await fixture.bugs.record(of('ada'));
      await fixture.edits.edit(id, MANAGER, { status: 'resolved', resolved_in_build: '2.0' });
      const late = await fixture.bugs.record(of('bob', { app_version: '1.9' }));
      expect([late.id, late.item.people, late.item.status]).to.deep.equal([id, 2, 'resolved']);
      const again = await fixture.bugs.record(of('eve', { app_version: '2.0' }));
      expect([again.regression, again.item.people]).to.deep.equal([true, 3]);
      const muted_by = { rule_id: 'r1', reason: 'noise' };
      expect((await fixture.bugs.record(of('joe', { muted_by }))).item.people).to.equal(4);
    });

    it('counts no user for a repeated reference', async () => {
      await fixture.bugs.record(of('ada', { client_ref: 'r1' }));
      expect((await fixture.bugs.record(of('bob', { client_ref: 'r1' }))).item.people).to.equal(1);
    });

    it('merges the users of a duplicate without double counting, and restores them at the split', async () => {
      const cart = (user: string): Report => of(user);
      const till = (user: string): Report =>
        of(user, { title: 'Till', error_message: 'till', file_path: 'src/till.ts' });
      const { id: a } = await fixture.bugs.record(cart('ada'));
      await fixture.bugs.record(cart('bob'));
      const { id: b } = await fixture.bugs.record(till('bob'));
      await fixture.bugs.record(till('eve'));
      await fixture.merging.merge(a, b, MANAGER);
      expect((await shown(fixture, b)).people).to.equal(3);
      expect((await shown(fixture, a)).people).to.equal(2);
      expect((await other.bugs.record(till('ada'))).item.people).to.equal(3);
      expect((await fixture.bugs.record(till('joe'))).item.people).to.equal(4);
      await fixture.merging.split(a, MANAGER);
      // Ada and Joe came to it while they were one.
      expect((await shown(fixture, b)).people).to.equal(4);
      await fixture.bugs.record(cart('max'));
      expect((await shown(fixture, a)).people).to.equal(3);
      expect((await shown(fixture, b)).people).to.equal(4);
    });

    it('leaves nothing behind when a merge is undone immediately, also through a chain', async () => {
      const made = async (name: string, users: readonly string[]): Promise<string> => {
        for (const user of users)
          await fixture.bugs.record(of(user, { title: name, error_message: name, exception_class: name }));
        return (await fixture.bugs.record(of(null, { title: name, error_message: name, exception_class: name }))).id;
      };
      const a = await made('A', ['ada', 'bob']);
      const b = await made('B', ['bob', 'eve', 'joe']);
      const c = await made('C', ['max']);
      await fixture.merging.merge(a, b, MANAGER);
      await fixture.merging.merge(b, c, MANAGER);
      expect((await shown(fixture, c)).people).to.equal(5);
      await fixture.merging.split(b, MANAGER);
      expect([(await shown(fixture, b)).people, (await shown(fixture, c)).people]).to.deep.equal([4, 1]);
      await fixture.merging.split(a, MANAGER);
      expect([(await shown(fixture, a)).people, (await shown(fixture, b)).people]).to.deep.equal([2, 3]);
    });

    it('sorts lists by affected users in either order', async () => {
      for (const [name, n] of [
        ['One', 1],
        ['Three', 3],
        ['None', 0],
        ['Two', 2],
      ] as const) {
        const more = { title: name, error_message: name, exception_class: name };
        await fixture.bugs.record(of(null, more));
        await fixture.bugs.recordAll(named(0, n, more));
      }
      const counts = async (order: 'asc' | 'desc'): Promise<(number | null)[]> => {
        const { items } = await fixture.lists.list(MANAGER, { sort: 'people', order });
        return items.map(({ people }) => people);
      };
      expect(await counts('desc')).to.deep.equal([3, 2, 1, null]);
      expect(await counts('asc')).to.deep.equal([null, 1, 2, 3]);
    });

    it('stores no user name in the database or the log', async () => {
      await fixture.bugs.record(of('ada.lovelace@example.org'));
      await fixture.bugs.record(of('ada.lovelace@example.org', { client_ref: 'again' }));
      await settled(fixture);
      for (const name of await fixture.store.listCollections()) {
        const { items } = await fixture.store.collection(name).find({ limit: 1000 });
        expect(JSON.stringify(items)).not.to.contain('lovelace');
      }
      expect(JSON.stringify(fixture.log)).not.to.contain('lovelace');
    });
  });
}
