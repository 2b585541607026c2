/**
 * The history entries of a new item and of a fetch wait in the item, and are in the history
 * whenever that is read (contract 20, leases).
 */
import { expect } from 'chai';
import { ChangeSet, listPendingEntries } from '../../../../plugins/bugs/item/change-set.js';
import { toActivityDocument } from '../../../../plugins/bugs/store/item-outbox.js';
import { StoreFull, type DocumentStore } from '../../../../ports/store/index.js';
import type { ManualClock } from '../../../kit/clock.js';
import { attempt, dying } from '../dying.js';
import { fixtureOn, MANAGER, report, settled, STORES, type Fixture } from '../fixture.js';

interface Shown {
  id: string;
  at: string;
  action: string;
  actor: string;
  data: object;
}

for (const engine of STORES) {
  for (const together of [true, false]) {
    const way = together ? 'in the way of the store' : 'without transactions';
    describe(`bugs: history of claimed items on ${engine.name}, ${way}`, () => {
      let store: DocumentStore;
      let close: () => Promise<void>;
      let fixture: Fixture;
      let id: string;
      const fixtureAt = (of: DocumentStore, clock?: ManualClock): Fixture =>
        fixtureOn(of, clock, (deps) => {
          if (!together) deps.transact = null;
        });
      const historyOf = async (of: Fixture, request = {}): Promise<Shown[]> =>
        (await of.parts.listPart(id, 'activity', request)).items as Shown[];
      const actions = async (of = fixture): Promise<string[]> => (await historyOf(of)).map(({ action }) => action);
      const stored = async (): Promise<number> =>
        (await fixture.deps.activity.find({ filter: { item_id: id } })).items.length;
      const fetched = async (): Promise<string> => {
        const granted = await fixture.nextItem.reserveNext(MANAGER, { agent: 'a' }, {});
        if (granted.item === null) throw new Error('nothing to fetch');
        return granted.lease.claim_token;
      };

      beforeEach(async () => {
        ({ store, close } = await engine.open());
        fixture = fixtureAt(store);
        ({ id } = await fixture.bugs.record(report()));
        await settled(fixture);
        fixture.clock.advance(1_000);
      });
      afterEach(async () => {
        await settled(fixture);
        await close();
      });

      it('returns the same author and time for a creation at every read', async () => {
        const at = fixture.clock.iso();
        const made = await fixture.bugs.record(report({ title: 'another', reporter: 'Ada' }));
        ({ id } = made);
        await settled(fixture);
        fixture.clock.advance(1_000);
        expect(await stored()).to.equal(0);
        const [entry, ...others] = await historyOf(fixture);
        const { source } = report();
        expect(entry).to.deep.include({ at, action: 'created', actor: 'Ada', data: { source } });
        expect(others).to.deep.equal([]);
        expect(await stored()).to.equal(1);
        expect(await historyOf(fixture)).to.deep.equal([entry]);
        expect(await fixture.deps.items.get(id)).to.not.have.property('made_by');
      });

      it('stores pending entries with the first change, whether the history was read before or not', async () => {
        for (const [title, read] of [
          ['one', false],
          ['two', true],
        ] as const) {
          ({ id } = await fixture.bugs.record(report({ title })));
          await settled(fixture);
          if (read) await historyOf(fixture);
          fixture.clock.advance(1_000);
          await fixture.edits.edit(id, MANAGER, { status: 'closed' });
          await settled(fixture);
          expect(await stored(), title).to.equal(2);
          expect(await actions()).to.deep.equal(['status', 'created']);
          expect(await fixture.deps.items.get(id)).to.not.have.property('made_by');
        }
      });

      it('removes the history of a deleted item', async () => {
        await fixture.deps.items.remove({ id });
        expect(await actions()).to.deep.equal([]);
        expect(await stored()).to.equal(0);
      });

      it('returns the same claimant and time at every read', async () => {
        const at = fixture.clock.iso();
        await fetched();
        fixture.clock.advance(1_000);
        expect(await stored()).to.equal(0);
        const [entry, ...others] = await historyOf(fixture);
        expect(entry).to.deep.include({ at, action: 'claimed', actor: MANAGER.name, data: { agent: 'a', by: 'next' } });
        expect(others.map(({ action }) => action)).to.deep.equal(['created']);
        expect(await historyOf(fixture)).to.deep.equal([entry, ...others]);
        expect(await fixture.deps.items.get(id)).to.not.have.property('noted');
      });

      it('supports paging', async () => {
        await fetched();
        const page = await fixture.parts.listPart(id, 'activity', { limit: 1, include_total: true });
        expect((page.items as Shown[]).map(({ action }) => action)).to.deep.equal(['claimed']);
        expect(page).to.include({ has_more: true, total: 2 });
        const rest = await historyOf(fixture, { limit: 1, cursor: page.next_cursor });
        expect(rest.map(({ action }) => action)).to.deep.equal(['created']);
      });

      it('preserves the order of entries, whether the history was read in between or not', async () => {
        for (const read of [false, true]) {
          const token = await fetched();
          if (read) await historyOf(fixture);
          fixture.clock.advance(1_000);
          await fixture.leases.release(id, { ...MANAGER, id: `tok-${read}` }, { claim_token: token });
          fixture.clock.advance(25 * 3_600_000);
        }
        expect(await actions()).to.deep.equal(['status', 'claimed', 'status', 'claimed', 'created']);
        expect(await fixture.deps.items.get(id)).to.not.have.property('noted');
      });

      it('retains the entry when the lease expires and when a report reopens or counts', async () => {
        await fetched();
        fixture.clock.advance(1_000);
        await fixture.bugs.record(report());
        fixture.clock.advance(1_801_000);
        await fixture.leases.writeExpired();
        await settled(fixture);
        expect(await actions()).to.deep.equal(['status', 'claimed', 'created']);
        const claim_token = await fetched();
        fixture.clock.advance(1_000);
        await fixture.edits.edit(id, MANAGER, { status: 'resolved', claim_token });
        await settled(fixture);
        expect(await actions()).to.deep.equal(['status', 'claimed', 'status', 'claimed', 'created']);
      });

      it('retains the entry when a report of a dead process is counted', async () => {
        const token = await fetched();
        fixture.clock.advance(1_000);
        const again = report({ client_ref: 'once' });
        for (let n = 1, died = true; died; n++) {
          const dead = dying(store, n, true);
          await attempt(fixtureAt(dead.store, fixture.clock), ({ bugs }) => bugs.record(again));
          died = dead.died();
        }
        await fixture.bugs.record(again);
        await settled(fixture);
        await fixture.edits.edit(id, MANAGER, { status: 'resolved', claim_token: token });
        await settled(fixture);
        expect(await actions()).to.deep.equal(['status', 'claimed', 'created']);
        expect(await fixture.deps.items.get(id)).to.include({ hit_count: 2 });
      });

      it('shows an entry once when it is in both the history and the item', async () => {
        const token = await fetched();
        fixture.clock.advance(1_000);
        const item = await fixture.deps.items.get(id);
        const unfiled = item === null ? [] : listPendingEntries(item);
        if (item === null) throw new Error('it is gone');
        expect(unfiled.map(({ name }) => name)).to.deep.equal(['created', 'claimed']);
        for (const entry of unfiled) await fixture.deps.activity.insert(toActivityDocument(item, entry));
        expect(new ChangeSet(item, 'nobody', fixture.clock.iso(), fixture.deps.ids).pendingEntries).to.deep.equal([]);
        await fixture.leases.renew(id, MANAGER, { claim_token: token });
        await settled(fixture);
        expect(await actions()).to.deep.equal(['renewed', 'claimed', 'created']);
        expect(await fixture.deps.items.get(id)).to.not.have.property('noted');
      });

      it('shows an entry once under concurrent reads and changes', async () => {
        const token = await fetched();
        const other = fixtureAt(store, fixture.clock);
        await Promise.all([
          historyOf(fixture),
          fixture.leases.renew(id, MANAGER, { claim_token: token }),
          historyOf(other),
          fixture.edits.edit(id, MANAGER, { severity: 'critical', claim_token: token }),
          historyOf(other),
        ]);
        await settled(fixture);
        await settled(other);
        const all = (await historyOf(fixture)).toSorted((a, b) => (a.action < b.action ? -1 : 1));
        const expected = ['claimed', 'created', 'renewed', 'severity', 'severity locked'];
        expect(all.map(({ action }) => action)).to.deep.equal(expected);
      });

      it('shows an entry once when the process dies during a read', async () => {
        for (const late of [false, true]) {
          for (let n = 1, died = true; died; n++) {
            const opened = await engine.open();
            const before = fixtureAt(opened.store);
            ({ id } = await before.bugs.record(report()));
            before.clock.advance(1_000);
            const granted = await before.nextItem.reserveNext(MANAGER, {}, {});
            if (granted.item === null) throw new Error('nothing to fetch');
            before.clock.advance(1_000);
            await settled(before);
            const dead = dying(opened.store, n, late);
            await attempt(fixtureAt(dead.store, before.clock), (of) => historyOf(of));
            died = dead.died();
            const heir = fixtureAt(opened.store, before.clock);
            expect(await actions(heir), `write ${n}`).to.deep.equal(['claimed', 'created']);
            const { claim_token } = granted.lease;
            await heir.edits.edit(id, MANAGER, { status: 'resolved', claim_token });
            await settled(heir);
            expect(await actions(heir), `write ${n}`).to.deep.equal(['status', 'claimed', 'created']);
            await opened.close();
          }
        }
      });

      it('returns the complete history while the disk is full', async () => {
        await fetched();
        const full = Object.create(store) as DocumentStore;
        const refuse = (): Promise<never> => Promise.reject(new StoreFull());
        Object.defineProperty(full, 'transact', { value: store.transact && refuse });
        full.collection = (name) => {
          const collection = store.collection(name);
          return new Proxy(collection, {
            get: (target, method) =>
              ['bulk', 'change', 'insert'].includes(String(method))
                ? refuse
                : (Reflect.get(target, method) as () => unknown).bind(target),
          }) as never;
        };
        const reader = fixtureAt(full, fixture.clock);
        expect(await actions(reader)).to.deep.equal(['claimed', 'created']);
        expect(await stored()).to.equal(0);
        expect(await actions()).to.deep.equal(['claimed', 'created']);
        fixture.clock.advance(1_801_000);
        await fixture.leases.writeExpired();
        await fetched();
        // The one that waits is on the first page, before all others.
        const first = await reader.parts.listPart(id, 'activity', { limit: 2, include_total: true });
        const shown = (page: { items: object[] }): string[] => (page.items as Shown[]).map(({ action }) => action);
        expect(shown(first)[0]).to.equal('claimed');
        const rest = await reader.parts.listPart(id, 'activity', { limit: 100, cursor: first.next_cursor });
        const all = [...shown(first), ...shown(rest)];
        expect(all.filter((action) => action === 'claimed')).to.have.lengthOf(2);
        expect([all.at(-1), first.total]).to.deep.equal(['created', all.length]);
        // What is merged into it is in its history without a change of it, where nobody works on
        // it.
        fixture.clock.advance(1_801_000);
        const other = await fixture.bugs.record(report({ title: 'merged into it' }));
        await fixture.merging.merge(other.id, id, MANAGER);
        await settled(fixture);
        expect((await actions(reader)).slice(0, 2)).to.deep.equal(['merged', 'claimed']);
        expect(await fixture.deps.items.get(id)).to.have.property('noted');
      });

      it('stores the claim entry when another item is merged in, with news for the holder', async () => {
        await fetched();
        fixture.clock.advance(1_000);
        const other = await fixture.bugs.record(report({ title: 'merged into it' }));
        await fixture.merging.merge(other.id, id, MANAGER);
        await settled(fixture);
        expect((await actions()).slice(0, 2)).to.deep.equal(['merged', 'claimed']);
        expect(await fixture.deps.items.get(id)).to.not.have.property('noted');
      });
    });
  }
}
