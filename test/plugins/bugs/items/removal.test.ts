/** Items that are deleted for good, and those whose time is over (contract 20, endpoints). */
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import type { TokenPrincipal } from '../../../../ports/http.js';
import { attempt, dying } from '../dying.js';
import {
  codeOf,
  ensured,
  ENGINES,
  errorReport,
  itemIn,
  MANAGER,
  memoryWorld,
  report,
  settled,
  worldOn,
  type World,
} from '../world.js';

const BY: TokenPrincipal = {
  kind: 'token',
  id: MANAGER.id,
  name: MANAGER.name,
  token_kind: 'master',
  parent_id: null,
  scopes: ['bugtracker:manage'],
  project: null,
  source: null,
};
const REF = { client_ref: 'r1' };
const sent = errorReport(REF);

/** Everything that a report and the work on it leave behind. */
async function worked(world: World): Promise<string> {
  const { id } = await world.bugs.record(sent);
  await world.bugs.record(errorReport({ client_ref: 'r2' }));
  await world.discussion.comment(id, MANAGER, 'Looked at it.');
  await settled(world);
  return id;
}

/** What is left of an item in each collection. */
async function left({ deps }: World, id: string): Promise<Record<string, number>> {
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
    let world: World;
    let close: (() => Promise<void>) | null = null;
    beforeEach(async function () {
      const opened = await open(() => this.skip());
      close = opened.close;
      world = worldOn(opened.store);
    });
    afterEach(async () => {
      if (close === null) return;
      await settled(world);
      await close();
    });

    it('leaves nothing of it, and the next report begins a new one', async () => {
      const id = await worked(world);
      await world.removal.remove(id, BY);
      expect(await left(world, id)).to.deep.equal({});
      expect(await codeOf(world.lists.detail(id, MANAGER))).to.equal('not_found');
      for (const client_ref of ['r1', 'r2', null]) {
        const next = await world.bugs.record(errorReport({ client_ref }));
        expect(next.id).not.to.equal(id);
        expect(next).to.include({ created: client_ref === 'r1', repeated: false });
      }
    });

    it('is seen by a process that has just counted in it', async () => {
      const other = worldOn(world.store, world.clock);
      const { id } = await other.bugs.record(errorReport());
      await settled(other);
      await world.removal.remove(id, BY);
      const next = await other.bugs.record(errorReport());
      expect(next).to.include({ created: true, hit_count: 1 });
      expect(next.id).not.to.equal(id);
      expect((await world.bugs.record(errorReport())).id).to.equal(next.id);
      await settled(other);
    });

    it('loses no report that comes meanwhile', async () => {
      const { id } = await world.bugs.record(errorReport());
      const reports = Array.from({ length: 20 }, () => world.bugs.record(errorReport()));
      const removal = world.removal.remove(id, BY);
      const answers = await Promise.all(reports);
      await removal;
      await settled(world);
      const after = answers.filter((answer) => answer.id !== id);
      const { items } = await world.deps.items.find();
      expect(items.reduce((sum, { hit_count }) => sum + hit_count, 0)).to.equal(after.length);
      expect(await left(world, id)).to.not.have.property('items');
    });
  });
}

describe('bugs: what may be deleted', () => {
  let world: World;
  beforeEach(async () => {
    world = await memoryWorld();
  });
  afterEach(() => settled(world));

  it('asks for the lease, as PATCH does', async () => {
    const { id } = await world.bugs.record(report());
    const { lease } = await world.leases.claim(id, { ...MANAGER, id: 'tok-other' }, { agent: 'a' });
    expect(await codeOf(world.removal.remove(id, BY))).to.equal('already_claimed');
    expect(await codeOf(world.removal.remove(id, BY, { claim_token: 'clm_wrong' }))).to.equal('lease_lost');
    expect(await codeOf(world.removal.remove(id, BY, { force: true }))).to.equal('reason_required');
    expect(await world.deps.items.count()).to.equal(1);
    await world.removal.remove(id, BY, { claim_token: lease.claim_token });
    expect(await world.deps.items.count()).to.equal(0);
  });

  it('is forced with a reason', async () => {
    const { id } = await world.bugs.record(report());
    await world.leases.claim(id, MANAGER, { agent: 'a' });
    await world.removal.remove(id, BY, { force: true, reason: 'holds personal data' });
    expect(await left(world, id)).to.deep.equal({});
  });

  it('is refused while others are led to it, in words that say the way', async () => {
    const duplicate = await itemIn(world, 'duplicate');
    const { duplicate_of: target } = (await world.deps.items.get(duplicate)) ?? {};
    expect(await codeOf(world.removal.remove(target ?? '', BY))).to.equal('conflict');
    await world.removal.remove(duplicate, BY);
    await world.removal.remove(target ?? '', BY);
    expect(await world.deps.items.count()).to.equal(0);
  });

  it('is not there for another project, or twice', async () => {
    const { id } = await world.bugs.record(report());
    expect(await codeOf(world.removal.remove(id, { ...BY, project: 'beta' }))).to.equal('insufficient_scope');
    await world.removal.remove(id, BY);
    expect(await codeOf(world.removal.remove(id, BY))).to.equal('not_found');
  });
});

describe('bugs: a deletion that dies', () => {
  for (const late of [false, true]) {
    it(`${late ? 'before a write was answered' : 'before a write arrived'} is whole after the next look`, async () => {
      let died = true;
      for (let n = 1; died; n++) {
        const store = await ensured(new MemoryStore());
        const before = worldOn(store);
        const id = await worked(before);
        const dead = dying(store, n, late);
        await attempt(worldOn(dead.store, before.clock), (world) => world.removal.remove(id, BY));
        died = dead.died();
        before.clock.advance(61_000);
        const heir = worldOn(store, before.clock);
        await heir.bugs.reconcile();
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
  it('deletes ended items that nobody saw for so long, and no others', async () => {
    const world = await memoryWorld();
    world.deps.config = { ...world.deps.config, retention_days: 30 };
    const old: Record<string, string> = {};
    for (const status of ['open', 'in_progress', 'needs_info', 'resolved', 'closed', 'wont_fix', 'duplicate'])
      old[status] = await itemIn(world, status);
    await settled(world);
    world.clock.advance(31 * 86_400_000);
    const young = await itemIn(world, 'closed');
    await world.bugs.forget();
    const kept = (await world.deps.items.find({ limit: 100 })).items.map(({ id }) => id);
    for (const status of ['open', 'in_progress', 'needs_info', 'resolved']) expect(kept).to.include(old[status]);
    for (const status of ['closed', 'wont_fix', 'duplicate']) expect(kept).not.to.include(old[status]);
    expect(kept).to.include(young);
    await settled(world);
  });

  it('keeps everything unless it is asked for', async () => {
    const world = await memoryWorld();
    await itemIn(world, 'closed');
    await settled(world);
    world.clock.advance(4000 * 86_400_000);
    await world.bugs.forget();
    expect(await world.deps.items.count()).to.equal(1);
    await settled(world);
  });
});
