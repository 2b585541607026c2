/** Items that are deleted for good, and those whose time is over (contract 20, endpoints). */
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { attempt, dying } from '../dying.js';
import {
  codeOf,
  ensureCollections,
  ENGINES,
  errorReport,
  itemIn,
  MANAGER,
  MASTER,
  memoryFixture,
  report,
  settled,
  fixtureOn,
  type Fixture,
} from '../fixture.js';
import { useStore } from '../../../support/stores.js';

const REF = { client_ref: 'r1' };
const sent = errorReport(REF);

/** Everything that a report and the work on it leave behind. */
async function worked(fixture: Fixture): Promise<string> {
  const { id } = await fixture.bugs.record(sent);
  await fixture.bugs.record(errorReport({ client_ref: 'r2' }));
  await fixture.comments.add(id, MANAGER, { body: 'Looked at it.' });
  await settled(fixture);
  return id;
}

/** What is left of an item in each collection. */
async function left({ deps }: Fixture, id: string): Promise<Record<string, number>> {
  const counts = {
    items: await deps.items.count({ id }),
    texts: await deps.texts.count({ id }),
    keys: await deps.keys.count({ item_id: id }),
    occurrences: await deps.occurrences.count({ item_id: id }),
    comments: await deps.comments.count({ item_id: id }),
    activity: await deps.activity.count({ item_id: id }),
    open: await deps.removals.count({ open_at: { exists: true } }),
  };
  return Object.fromEntries(Object.entries(counts).filter(([, n]) => n > 0));
}

for (const { name, open } of ENGINES) {
  describe(`bugs: deleting an item on ${name}`, () => {
    let fixture: Fixture;
    useStore({ name, open }, (store) => (fixture = fixtureOn(store)), { end: () => settled(fixture) });

    it('removes all its data, and the next report creates a new item', async () => {
      const id = await worked(fixture);
      await fixture.removal.remove(id, MASTER);
      expect(await left(fixture, id)).to.deep.equal({});
      expect(await codeOf(fixture.lists.getDetail(id, MANAGER))).to.equal('not_found');
      for (const client_ref of ['r1', 'r2', null]) {
        const next = await fixture.bugs.record(errorReport({ client_ref }));
        expect(next.id).not.to.equal(id);
        expect(next).to.include({ created: client_ref === 'r1', repeated: false });
      }
    });

    it('frees its client_ref for the next report with the same text', async () => {
      for (const first of [report(REF), errorReport({ client_ref: 'r3' })]) {
        const other = fixtureOn(fixture.store, fixture.clock);
        const { id } = await other.bugs.record(first);
        await settled(other);
        await fixture.removal.remove(id, MASTER);
        const next = await other.bugs.record(first);
        expect(next).to.include({ created: true, hit_count: 1 });
        expect(await other.bugs.record(first)).to.include({ id: next.id, repeated: true, hit_count: 1 });
        await settled(other);
      }
    });

    it('is detected by another process that has just counted an occurrence', async () => {
      const other = fixtureOn(fixture.store, fixture.clock);
      const { id } = await other.bugs.record(errorReport());
      await settled(other);
      await fixture.removal.remove(id, MASTER);
      const next = await other.bugs.record(errorReport());
      expect(next).to.include({ created: true, hit_count: 1 });
      expect(next.id).not.to.equal(id);
      expect((await fixture.bugs.record(errorReport())).id).to.equal(next.id);
      await settled(other);
    });

    it('loses no concurrent report', async () => {
      const { id } = await fixture.bugs.record(errorReport());
      const reports = Array.from({ length: 20 }, () => fixture.bugs.record(errorReport()));
      const removal = fixture.removal.remove(id, MASTER);
      const answers = await Promise.all(reports);
      await removal;
      await settled(fixture);
      const after = answers.filter((answer) => answer.id !== id);
      const { items } = await fixture.deps.items.find();
      expect(items.reduce((sum, { hit_count }) => sum + hit_count, 0)).to.equal(after.length);
      expect(await left(fixture, id)).to.not.have.property('items');
    });
  });
}

describe('bugs: conditions of deletion', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await memoryFixture();
  });
  afterEach(() => settled(fixture));

  it('requires the lease, like PATCH', async () => {
    const { id } = await fixture.bugs.record(report());
    const { lease } = await fixture.leases.claim(id, { ...MANAGER, id: 'tok-other' }, { agent: 'a' });
    expect(await codeOf(fixture.removal.remove(id, MASTER))).to.equal('already_claimed');
    expect(await codeOf(fixture.removal.remove(id, MASTER, { claim_token: 'clm_wrong' }))).to.equal('lease_lost');
    expect(await codeOf(fixture.removal.remove(id, MASTER, { force: true }))).to.equal('reason_required');
    expect(await fixture.deps.items.count()).to.equal(1);
    await fixture.removal.remove(id, MASTER, { claim_token: lease.claim_token });
    expect(await fixture.deps.items.count()).to.equal(0);
  });

  it('can be forced with a reason', async () => {
    const { id } = await fixture.bugs.record(report());
    await fixture.leases.claim(id, MANAGER, { agent: 'a' });
    await fixture.removal.remove(id, MASTER, { force: true, reason: 'holds personal data' });
    expect(await left(fixture, id)).to.deep.equal({});
  });

  it('is rejected while duplicates refer to the item, with a hint how to resolve that', async () => {
    const duplicate = await itemIn(fixture, 'duplicate');
    const { duplicate_of: target } = (await fixture.deps.items.get(duplicate)) ?? {};
    expect(await codeOf(fixture.removal.remove(target ?? '', MASTER))).to.equal('conflict');
    await fixture.removal.remove(duplicate, MASTER);
    await fixture.removal.remove(target ?? '', MASTER);
    expect(await fixture.deps.items.count()).to.equal(0);
  });

  it('returns not found for another project and for a repeated call', async () => {
    const { id } = await fixture.bugs.record(report());
    expect(await codeOf(fixture.removal.remove(id, { ...MASTER, project: 'beta' }))).to.equal('not_found');
    await fixture.removal.remove(id, MASTER);
    expect(await codeOf(fixture.removal.remove(id, MASTER))).to.equal('not_found');
  });
});

/** The collection, with one method that is called in a way of its own. */
function calling<T extends object, K extends keyof T>(collection: T, method: K, as: (call: T[K]) => T[K]): T {
  return new Proxy(collection, {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== 'function') return value;
      const call = value.bind(target) as T[K];
      return name === method ? as(call) : call;
    },
  });
}

describe('bugs: deletion with concurrent calls', () => {
  it('leaves no key behind when two calls delete concurrently', async () => {
    const fixture = await memoryFixture();
    const id = await worked(fixture);
    // The other call has removed the item, and has not removed its keys and references yet.
    const slower = fixtureOn(fixture.store, fixture.clock, (deps) => {
      deps.items = calling(deps.items, 'remove', (remove) => async (filter, limit) => {
        await fixture.deps.items.remove({ id });
        return remove(filter, limit);
      });
    });
    expect(await codeOf(slower.removal.remove(id, MASTER))).to.equal('not_found');
    const next = await fixture.bugs.record(sent);
    expect(next).to.include({ created: true, repeated: false, hit_count: 1 });
    expect(next.id).not.to.equal(id);
    fixture.clock.advance(61_000);
    await fixture.jobs.reconcile();
    expect(await left(fixture, id)).to.deep.equal({});
    await settled(fixture);
  });

  it('rejects no report that was counted before the deletion', async () => {
    const fixture = await memoryFixture();
    const { id } = await fixture.bugs.record(errorReport({ error_level: 'warning', severity: 'medium' }));
    await settled(fixture);
    let isCounted = false;
    const other = fixtureOn(fixture.store, fixture.clock, (deps) => {
      deps.items = calling(deps.items, 'get', (get) => async (name) => {
        if (isCounted) await fixture.removal.remove(id, MASTER).catch(() => undefined);
        return get(name);
      });
    });
    isCounted = true;
    const answer = await other.bugs.record(errorReport({ error_level: 'fatal', severity: 'critical' }));
    expect(answer).to.include({ id, created: false, hit_count: 2 });
    expect(await fixture.deps.items.get(id)).to.equal(null);
    await settled(other);
  });
});

describe('bugs: a deletion interrupted by a crash', () => {
  for (const late of [false, true]) {
    it(`${late ? 'before a write was answered' : 'before a write arrived'}: is completed by the next read`, async () => {
      let died = true;
      for (let n = 1; died; n++) {
        const store = await ensureCollections(new MemoryStore());
        const before = fixtureOn(store);
        const id = await worked(before);
        const dead = dying(store, n, late);
        await attempt(fixtureOn(dead.store, before.clock), (fixture) => fixture.removal.remove(id, MASTER));
        died = dead.died();
        before.clock.advance(61_000);
        const heir = fixtureOn(store, before.clock);
        await heir.jobs.reconcile();
        const rest = await left(heir, id);
        // Whole or gone, nothing between.
        if (rest['items'] === undefined) expect(rest, `write ${n}`).to.deep.equal({});
        else
          expect(rest, `write ${n}`)
            .to.include({ texts: 1, comments: 1, occurrences: 2 })
            .and.not.have.property('open');
        const again = await heir.bugs.record(sent);
        expect(again.repeated, `write ${n}`).to.equal(rest['items'] !== undefined);
        await settled(heir);
      }
    });
  }
});

describe('bugs: retention', () => {
  it('deletes only finished items without recent occurrences', async () => {
    const fixture = await memoryFixture();
    fixture.deps.config = { ...fixture.deps.config, retention_days: 30 };
    const old: Record<string, string> = {};
    for (const status of ['open', 'in_progress', 'needs_info', 'resolved', 'closed', 'wont_fix', 'duplicate'])
      old[status] = await itemIn(fixture, status);
    await settled(fixture);
    fixture.clock.advance(31 * 86_400_000);
    const young = await itemIn(fixture, 'closed');
    await fixture.jobs.deleteExpired();
    const kept = (await fixture.deps.items.find({ limit: 100 })).items.map(({ id }) => id);
    for (const status of ['open', 'in_progress', 'needs_info', 'resolved']) expect(kept).to.include(old[status]);
    for (const status of ['closed', 'wont_fix', 'duplicate']) expect(kept).not.to.include(old[status]);
    expect(kept).to.include(young);
    await settled(fixture);
  });

  it('deletes nothing by default', async () => {
    const fixture = await memoryFixture();
    await itemIn(fixture, 'closed');
    await settled(fixture);
    fixture.clock.advance(4000 * 86_400_000);
    await fixture.jobs.deleteExpired();
    expect(await fixture.deps.items.count()).to.equal(1);
    await settled(fixture);
  });
});
