/** Numbers over all items (contract 20, endpoints: `GET /stats`). */
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import type { DailyStats } from '../../../../plugins/bugs/lists/item-stats.js';
import { dying, attempt } from '../dying.js';
import { httpOf, READ, REPORT } from '../http.js';
import {
  ENGINES,
  ensureCollections,
  errorReport,
  itemIn,
  MANAGER,
  memoryFixture,
  report,
  settled,
  fixtureOn,
  type Fixture,
} from '../fixture.js';
import { useStore } from '../../../support/stores.js';

const DAY = 86_400_000;
const dayOf = (days: readonly DailyStats[], date: string): Omit<DailyStats, 'date'> => {
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
    let fixture: Fixture;
    useStore(
      engine,
      (store) => {
        fixture = fixtureOn(store);
        fixture.clock.set('2026-11-20T08:15:30.123Z');
      },
      { end: () => settled(fixture) },
    );

    it('counts by status, severity and project, and events per day', async () => {
      await itemIn(fixture, 'open');
      await itemIn(fixture, 'needs_info');
      const fixed = await itemIn(fixture, 'resolved');
      await fixture.edits.edit(fixed, MANAGER, { status: 'closed' });
      await itemIn(fixture, 'closed');
      await itemIn(fixture, 'in_progress');
      await fixture.bugs.record(report({ project: 'beta', title: 'Elsewhere', severity: 'critical' }));
      const error = await fixture.bugs.record(errorReport());
      await fixture.edits.edit(error.id, MANAGER, { status: 'resolved' });
      fixture.clock.advance(DAY);
      await fixture.bugs.record(errorReport());
      // A person's reopening is no regression.
      await fixture.edits.edit(fixed, MANAGER, { status: 'open' });
      await fixture.edits.edit(fixed, MANAGER, { status: 'resolved' });
      const ask = await httpOf(fixture);
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
      const days = answer.body['per_day'] as unknown as DailyStats[];
      expect(days).to.have.lengthOf(30);
      expect([days[0]?.date, days[29]?.date]).to.deep.equal(['2026-10-23', '2026-11-21']);
      expect(dayOf(days, '2026-11-20')).to.deep.equal({ new: 7, resolved: 3, regressed: 0 });
      expect(dayOf(days, '2026-11-21')).to.deep.equal({ new: 0, resolved: 1, regressed: 1 });
      for (const { date, ...counts } of days.slice(0, 28))
        expect(counts, date).to.deep.equal({ new: 0, resolved: 0, regressed: 0 });
    });

    it('counts an item recorded as new by earlier versions once', async () => {
      const id = await itemIn(fixture, 'open');
      const at = fixture.clock.iso();
      const entry = {
        id: 'earlier',
        item_id: id,
        at,
        action: 'created',
        actor: 'x',
        data: {},
        stat: '2026-11-20 new alpha',
      };
      await fixture.deps.activity.insert(entry);
      expect((await fixture.stats.getStats(MANAGER)).per_day[29]).to.include({ new: 1, resolved: 0 });
    });

    it('counts each day from its first to its last millisecond, in chronological order', async () => {
      const times = ['2026-11-18T23:59:59.999Z', '2026-11-19T00:00:00.000Z', '2026-11-19T23:59:59.999Z'];
      for (const [n, at] of times.entries()) {
        fixture.clock.set(at);
        await fixture.bugs.record(report({ title: 'abc'.charAt(n) }));
      }
      fixture.clock.set('2026-11-20T08:15:30.123Z');
      const { per_day } = await fixture.stats.getStats({ project: 'alpha' });
      expect(per_day.slice(-3).map((day) => day.new)).to.deep.equal([1, 2, 0]);
    });

    it('limits a project token to its project', async () => {
      await itemIn(fixture, 'open');
      const other = await fixture.bugs.record(report({ project: 'beta', title: 'Elsewhere' }));
      await fixture.edits.edit(other.id, MANAGER, { status: 'closed' });
      const stats = await fixture.stats.getStats({ project: 'beta' });
      expect(stats.by_project).to.deep.equal({ beta: 1 });
      expect(stats.by_status).to.include({ open: 0, closed: 1 });
      expect(stats.per_day[29]).to.deep.equal({ date: '2026-11-20', new: 1, resolved: 1, regressed: 0 });
    });

    it('limits the result to the requested project and the caller’s projects', async () => {
      await itemIn(fixture, 'open');
      await fixture.bugs.record(report({ project: 'beta', title: 'Elsewhere' }));
      await settled(fixture);
      const ask = await httpOf(fixture);
      const answer = await ask('GET', '/stats?project=beta', undefined, { bearer: READ });
      expect(answer.body['by_project']).to.deep.equal({ beta: 1 });
      expect((await ask('GET', '/stats?project=none', undefined, { bearer: READ })).body['by_project']).to.deep.equal(
        {},
      );
      const rejected = await ask('GET', '/stats?project=', undefined, { bearer: READ });
      expect([rejected.status, rejected.body['error']?.['code']]).to.deep.equal([400, 'invalid_request']);
      const foreign = await fixture.stats.getStats({ project: 'beta' }, 'alpha').catch((error: unknown) => error);
      expect(foreign).to.include({ code: 'insufficient_scope' });
    });
  });
}

describe('bugs: stats', () => {
  it('move with the time window', async () => {
    const fixture = await memoryFixture();
    await itemIn(fixture, 'open');
    expect((await fixture.stats.getStats(MANAGER)).per_day[29]?.new).to.equal(1);
    fixture.clock.advance(30 * DAY);
    const { per_day, by_status } = await fixture.stats.getStats(MANAGER);
    expect(per_day.reduce((sum, day) => sum + day.new, 0)).to.equal(0);
    expect(by_status.open).to.equal(1);
  });

  it('are counted once for concurrent requests, and never without a request', async () => {
    let counts = 0;
    const plain = await memoryFixture();
    const fixture = fixtureOn(plain.store, plain.clock, (deps) => {
      const groupCount = deps.activity.groupCount.bind(deps.activity);
      deps.activity.groupCount = (...args) => {
        counts += 1;
        return groupCount(...args);
      };
    });
    const first = fixture.stats.getStats(MANAGER);
    await itemIn(fixture, 'open');
    const later = await Promise.all(Array.from({ length: 20 }, () => fixture.stats.getStats(MANAGER)));
    for (const { by_status } of later) expect(by_status.open).to.equal(1);
    await first;
    expect(counts).to.be.lessThan(4);
    expect((await fixture.stats.getStats(MANAGER)).by_status.open).to.equal(1);
  });

  it('are cached when counting is slow, a second per 100,000 items', async () => {
    let open = 250_000;
    const plain = await memoryFixture();
    const fixture = fixtureOn(plain.store, plain.clock, (deps) => {
      deps.items.groupCount = (path) => Promise.resolve(path === 'status' ? [{ key: 'open', n: open }] : []);
    });
    const shows = async () => (await fixture.stats.getStats(MANAGER)).by_status.open;
    expect(await shows()).to.equal(250_000);
    open += 1;
    fixture.clock.advance(2_400);
    expect(await shows()).to.equal(250_000);
    fixture.clock.advance(100);
    expect(await shows()).to.equal(250_001);
  });

  it('require bugtracker:read', async () => {
    const ask = await httpOf(await memoryFixture());
    expect((await ask('GET', '/stats', undefined, { bearer: REPORT })).status).to.equal(403);
  });

  it('count changes once that a crash left to the job', async () => {
    for (const late of [false, true]) {
      const store = await ensureCollections(new MemoryStore());
      const first = fixtureOn(store);
      const id = await itemIn(first, 'open');
      await settled(first);
      // Its first write is the item, its second the history.
      const victim = fixtureOn(dying(store, 2, late).store, first.clock);
      expect(await attempt(victim, () => victim.edits.edit(id, MANAGER, { status: 'resolved' }))).to.equal(false);
      const heir = fixtureOn(store, first.clock);
      heir.clock.advance(11_000);
      await heir.jobs.reconcile();
      await settled(heir);
      expect((await heir.stats.getStats(MANAGER)).per_day[29]).to.include({ new: 1, resolved: 1 });
    }
  });
});
