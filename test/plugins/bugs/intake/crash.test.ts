/**
 * The process dies at every single write of a report, before it reached the store or after: what
 * was acknowledged is there, a repeat with the same client_ref counts once, and nothing that is
 * left behind blocks anybody.
 */
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import type { DocumentStore } from '../../../../ports/store/index.js';
import { attempt, Died, dying } from '../dying.js';
import { ensureCollections, errorReport, MANAGER, settled, fixtureOn } from '../fixture.js';

const SCENES: readonly { name: string; before: number; ref: boolean }[] = [
  { name: 'a first report with client_ref', before: 0, ref: true },
  { name: 'an occurrence with client_ref', before: 2, ref: true },
  { name: 'a first report', before: 0, ref: false },
];

/** As on an engine that has them, and on one that has not. */
const ENGINES: readonly { engine: string; opened: () => Promise<DocumentStore> }[] = [
  { engine: 'with transactions', opened: () => ensureCollections(new MemoryStore()) },
  {
    engine: 'without transactions',
    opened: async () => {
      const store = await ensureCollections(new MemoryStore());
      Object.defineProperty(store, 'transact', { value: null });
      return store;
    },
  },
];

describe('bugs: kill -9 at every write', () => {
  const cases = ENGINES.flatMap((on) =>
    SCENES.flatMap((scene) => [false, true].map((late) => [on, scene, late] as const)),
  );
  for (const [{ engine, opened }, { name, before, ref }, late] of cases) {
    it(`${engine}: recovers from a crash in ${name}, ${late ? 'after' : 'before'} the write reached the store`, async () => {
      for (let n = 1; ; n++) {
        const store = await opened();
        const first = fixtureOn(store);
        for (let i = 0; i < before; i++) await first.bugs.record(errorReport({ client_ref: `old-${i}` }));
        await settled(first);
        const one = errorReport(ref ? { client_ref: 'the-one' } : {});
        const { store: dead, died } = dying(store, n, late);
        const victim = fixtureOn(dead, first.clock);
        const answered = await attempt(victim, (fixture) => fixture.bugs.record(one));

        const heir = fixtureOn(store, first.clock);
        const again = await heir.bugs.record(one);
        await settled(heir);
        const items = await heir.deps.items.find({ limit: 100 });
        expect(items.items).to.have.lengthOf(1);
        const hits = items.items[0]?.hit_count ?? 0;
        if (ref) expect(hits, `write ${n}`).to.equal(before + 1);
        else expect(hits, `write ${n}`).to.be.within(before + (answered ? 2 : 1), before + 2);
        expect(again.item.status).to.equal('open');

        heir.clock.advance(61_000);
        await heir.jobs.reconcile();
        await settled(heir);
        const reported = [...first.told, ...victim.told, ...heir.told];
        expect(new Set(reported.map(({ id }) => id)).size, `events after write ${n}`).to.equal(1);
        const item = (await heir.deps.items.find({ limit: 1 })).items[0];
        expect(item?.outbox).to.deep.equal([]);
        expect(item?.outbox_at).to.equal(null);
        expect(await heir.deps.refs.count({ open_at: { gt: '' } })).to.equal(0);
        if (ref) expect(await heir.bugs.record(one)).to.include({ repeated: true });
        if (!died()) return;
      }
    });
  }

  it('returns the age of the oldest change with unsent events', async () => {
    const store = await ensureCollections(new MemoryStore());
    let listens = false;
    const fixture = fixtureOn(store, undefined, (deps) => (deps.emit = async () => listens));
    expect(await fixture.outbox.getOldestAge()).to.equal(0);
    await fixture.bugs.record(errorReport());
    await settled(fixture);
    fixture.clock.advance(60_000);
    expect(await fixture.outbox.getOldestAge()).to.be.within(60, 61);
    listens = true;
    await fixture.jobs.reconcile();
    expect(await fixture.outbox.getOldestAge()).to.equal(0);
  });

  it('emits the event of an acknowledged change even when the process is killed right after it', async () => {
    const store = await ensureCollections(new MemoryStore());
    const first = fixtureOn(store);
    const { id } = await first.bugs.record(errorReport());
    await settled(first);
    const victim = fixtureOn(store, first.clock, (deps) => {
      deps.emit = () => Promise.reject(new Died());
    });
    await victim.edits.edit(id, MANAGER, { status: 'resolved' });
    await settled(victim);
    const heir = fixtureOn(store, first.clock);
    heir.clock.advance(11_000);
    await heir.jobs.reconcile();
    await settled(heir);
    expect(heir.told.map(({ event }) => event)).to.deep.equal(['bug.resolved']);
    expect((await heir.deps.activity.find({ filter: { item_id: id } })).items.map(({ action }) => action)).to.include(
      'status',
    );
  });
});
