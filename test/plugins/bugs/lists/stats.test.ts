/** Numbers over all items (contract 20, endpoints: `GET /stats`). */
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import type { StatsDay } from '../../../../plugins/bugs/lists/stats.js';
import { dying, attempt } from '../dying.js';
import { httpOf, READ, REPORT } from '../http.js';
import {
  ENGINES,
  ensured,
  errorReport,
  itemIn,
  MANAGER,
  memoryWorld,
  report,
  settled,
  worldOn,
  type World,
} from '../world.js';

const DAY = 86_400_000;
const dayOf = (days: readonly StatsDay[], date: string): Omit<StatsDay, 'date'> => {
  const { date: _, ...counts } = days.find((day) => day.date === date) ?? {
    date,
    new: -1,
    resolved: -1,
    regressed: -1,
  };
  return counts;
};

for (const engine of ENGINES) {
  describe(`bugs: stats on ${engine.name}`, function () {
    this.timeout(30_000);
    let world: World;
    let close: () => Promise<void>;
    beforeEach(async function () {
      const opened = await engine.open(() => this.skip());
      close = opened.close;
      world = worldOn(opened.store);
      world.clock.set('2026-11-20T08:15:30.123Z');
    });
    afterEach(async function () {
      if (this.currentTest?.isPending() === true) return;
      await settled(world);
      await close();
    });

    it('counts by status, severity and project, and what happened on each day', async () => {
      await itemIn(world, 'open');
      await itemIn(world, 'needs_info');
      const fixed = await itemIn(world, 'resolved');
      await world.edits.edit(fixed, MANAGER, { status: 'closed' });
      await itemIn(world, 'closed');
      await itemIn(world, 'in_progress');
      await world.bugs.record(report({ project: 'beta', title: 'Elsewhere', severity: 'critical' }));
      const error = await world.bugs.record(errorReport());
      await world.edits.edit(error.id, MANAGER, { status: 'resolved' });
      world.clock.advance(DAY);
      await world.bugs.record(errorReport());
      // A person's reopening is no regression.
      await world.edits.edit(fixed, MANAGER, { status: 'open' });
      await world.edits.edit(fixed, MANAGER, { status: 'resolved' });
      const ask = await httpOf(world);
      const answer = await ask('GET', '/stats', undefined, { bearer: READ });
      expect(answer.status).to.equal(200);
      expect(answer.body['by_status']).to.deep.equal({
        // The lease of the one in progress has run out.
        open: 4,
        in_progress: 0,
        needs_info: 1,
        resolved: 1,
        closed: 1,
        wont_fix: 0,
        duplicate: 0,
      });
      // The regression made the error critical.
      expect(answer.body['by_severity']).to.deep.equal({ critical: 2, high: 0, medium: 5, low: 0 });
      expect(answer.body['by_project']).to.deep.equal({ alpha: 6, beta: 1 });
      const days = answer.body['per_day'] as unknown as StatsDay[];
      expect(days).to.have.lengthOf(30);
      expect([days[0]?.date, days[29]?.date]).to.deep.equal(['2026-10-23', '2026-11-21']);
      expect(dayOf(days, '2026-11-20')).to.deep.equal({ new: 7, resolved: 3, regressed: 0 });
      expect(dayOf(days, '2026-11-21')).to.deep.equal({ new: 0, resolved: 1, regressed: 1 });
      for (const { date, ...counts } of days.slice(0, 28))
        expect(counts, date).to.deep.equal({ new: 0, resolved: 0, regressed: 0 });
    });

    it('shows a token of one project that project alone', async () => {
      await itemIn(world, 'open');
      const other = await world.bugs.record(report({ project: 'beta', title: 'Elsewhere' }));
      await world.edits.edit(other.id, MANAGER, { status: 'closed' });
      const stats = await world.stats.of({ project: 'beta' });
      expect(stats.by_project).to.deep.equal({ beta: 1 });
      expect(stats.by_status).to.include({ open: 0, closed: 1 });
      expect(stats.per_day[29]).to.deep.equal({ date: '2026-11-20', new: 1, resolved: 1, regressed: 0 });
    });
  });
}

describe('bugs: stats', () => {
  it('move with the window', async () => {
    const world = await memoryWorld();
    await itemIn(world, 'open');
    expect((await world.stats.of(MANAGER)).per_day[29]?.new).to.equal(1);
    world.clock.advance(30 * DAY);
    const { per_day, by_status } = await world.stats.of(MANAGER);
    expect(per_day.reduce((sum, day) => sum + day.new, 0)).to.equal(0);
    expect(by_status.open).to.equal(1);
  });

  it('are counted once for all who ask meanwhile, and never before they asked', async () => {
    let counts = 0;
    const plain = await memoryWorld();
    const world = worldOn(plain.store, plain.clock, (deps) => {
      const groupCount = deps.activity.groupCount.bind(deps.activity);
      deps.activity.groupCount = (...args) => {
        counts += 1;
        return groupCount(...args);
      };
    });
    const first = world.stats.of(MANAGER);
    await itemIn(world, 'open');
    const later = await Promise.all(Array.from({ length: 20 }, () => world.stats.of(MANAGER)));
    for (const { by_status } of later) expect(by_status.open).to.equal(1);
    await first;
    expect(counts).to.be.lessThan(4);
    expect((await world.stats.of(MANAGER)).by_status.open).to.equal(1);
  });

  it('are kept for a while where counting takes long, a second per 100,000 items', async () => {
    let open = 250_000;
    const plain = await memoryWorld();
    const world = worldOn(plain.store, plain.clock, (deps) => {
      deps.items.groupCount = (path) => Promise.resolve(path === 'status' ? [{ key: 'open', n: open }] : []);
    });
    const shows = async () => (await world.stats.of(MANAGER)).by_status.open;
    expect(await shows()).to.equal(250_000);
    open += 1;
    world.clock.advance(2_400);
    expect(await shows()).to.equal(250_000);
    world.clock.advance(100);
    expect(await shows()).to.equal(250_001);
  });

  it('ask for bugtracker:read', async () => {
    const ask = await httpOf(await memoryWorld());
    expect((await ask('GET', '/stats', undefined, { bearer: REPORT })).status).to.equal(403);
  });

  it('count once what a crash left to the job', async () => {
    for (const late of [false, true]) {
      const store = await ensured(new MemoryStore());
      const first = worldOn(store);
      const id = await itemIn(first, 'open');
      await settled(first);
      // Its first write is the item, its second the history.
      const victim = worldOn(dying(store, 2, late).store, first.clock);
      expect(await attempt(victim, () => victim.edits.edit(id, MANAGER, { status: 'resolved' }))).to.equal(false);
      const heir = worldOn(store, first.clock);
      heir.clock.advance(11_000);
      await heir.bugs.reconcile();
      await settled(heir);
      expect((await heir.stats.of(MANAGER)).per_day[29]).to.include({ new: 1, resolved: 1 });
    }
  });
});
