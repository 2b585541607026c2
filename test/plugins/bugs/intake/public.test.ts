/**
 * What a report with a public intake key may do, and what it never meets (contracts 20, values; 21,
 * intake; 00, limits).
 */
import { expect } from 'chai';
import type { Report } from '../../../../ports/domain/bugs.js';
import {
  ensureCollections,
  errorReport,
  memoryFixture,
  report,
  settled,
  STORES,
  fixtureOn,
  type Fixture,
} from '../fixture.js';
import { MemoryStore } from '../../../../adapters/memory/store.js';

const KEY = 'tok-intake';
const public_ = (fields: Partial<Report> = {}): Report =>
  errorReport({ intake_key: KEY, reported_by: KEY, error_message: `boom ${JSON.stringify(fields)}`, ...fields });

for (const { name, open } of STORES) {
  describe(`bugs: client_ref of intake keys on ${name}`, () => {
    let fixture: Fixture;
    let close: () => Promise<void>;
    beforeEach(async () => {
      const opened = await open();
      close = opened.close;
      fixture = fixtureOn(opened.store);
    });
    afterEach(async () => {
      await settled(fixture);
      await close();
    });

    it('never match reports of a token', async () => {
      const agent = await fixture.bugs.record(report({ client_ref: 'TICKET-1', title: 'Private plans' }));
      const app = await fixture.bugs.record(public_({ client_ref: 'TICKET-1' }));
      expect(app).to.include({ created: true, repeated: false });
      expect(app.id).not.to.equal(agent.id);
    });

    it('never block a later report of a token', async () => {
      const app = await fixture.bugs.record(public_({ client_ref: 'TICKET-1' }));
      const agent = await fixture.bugs.record(report({ client_ref: 'TICKET-1', title: 'The real report' }));
      expect(agent).to.include({ created: true, repeated: false });
      expect(agent.id).not.to.equal(app.id);
    });

    it('recognize repeats in any order, in parallel, and after the notes are deleted', async () => {
      const one = public_({ client_ref: 'event-1' });
      const all = await Promise.all(Array.from({ length: 8 }, () => fixture.bugs.record(one)));
      await settled(fixture);
      await fixture.jobs.reconcile();
      all.push(await fixture.bugs.record(one));
      expect(new Set(all.map(({ id }) => id)).size).to.equal(1);
      expect(all.filter(({ created }) => created)).to.have.length(1);
      expect((await fixture.deps.items.get(all[0]?.id ?? ''))?.hit_count).to.equal(1);
      // The item's own is remembered as long as the item.
      fixture.clock.advance(40 * 86_400_000);
      await fixture.jobs.reconcile();
      await fixture.jobs.deleteExpired();
      expect(await fixture.bugs.record(one)).to.include({ repeated: true });
    });
  });
}

describe('bugs: new groups of an intake key', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = fixtureOn(await ensureCollections(new MemoryStore()), undefined, (deps) => {
      deps.new_groups_per_hour = 3;
    });
  });
  afterEach(() => settled(fixture));

  const nth = (n: number, fields: Partial<Report> = {}): Report =>
    public_({ exception_class: `E${n}`, error_message: 'boom', title: `E${n}: boom`, ...fields });

  it('beyond the limit are counted in an overflow item of the project, which stores the reports', async () => {
    for (const n of [1, 2, 3]) expect(await fixture.bugs.record(nth(n))).to.include({ created: true, overflow: false });
    const over = [];
    for (const n of [4, 5, 6]) over.push(await fixture.bugs.record(nth(n, { client_ref: `r${n}` })));
    expect(over.map(({ overflow }) => overflow)).to.deep.equal([true, true, true]);
    expect(new Set(over.map(({ id }) => id)).size).to.equal(1);
    expect(over[1]).to.include({ created: false, title: 'E5: boom' });
    const { item, occurrences } = await fixture.lists.getDetail(over[0]?.id ?? '', {
      id: 'm',
      name: 'm',
      project: null,
      manage: true,
      kind: 'token',
    });
    expect(item).to.include({ type: 'error', hit_count: 3, exception_class: null, client_ref: null, severity: 'high' });
    expect((occurrences as { exception_class: string }[]).map((one) => one.exception_class)).to.have.members([
      'E4',
      'E5',
      'E6',
    ]);
    expect(await fixture.deps.items.count()).to.equal(4);
  });

  it('are limited without affecting existing groups, tokens or other keys', async () => {
    for (const n of [1, 2, 3, 4]) await fixture.bugs.record(nth(n));
    expect(await fixture.bugs.record(nth(2))).to.include({ created: false, overflow: false, hit_count: 2 });
    expect(await fixture.bugs.record(nth(7, { intake_key: null }))).to.include({ created: true, overflow: false });
    expect(await fixture.bugs.record(nth(8, { intake_key: 'tok-other' }))).to.include({
      created: true,
      overflow: false,
    });
  });

  it('share the limit among several processes', async () => {
    fixture.deps.peers = () => 2;
    expect(await fixture.bugs.record(nth(1))).to.include({ created: true, overflow: false });
    expect(await fixture.bugs.record(nth(2))).to.include({ overflow: true });
    fixture.deps.peers = () => 1;
    expect(await fixture.bugs.record(nth(3)), 'once the other has gone').to.include({ created: true, overflow: false });
    fixture.deps.peers = () => 100;
    expect(await fixture.bugs.record(nth(4, { intake_key: 'tok-other' })), 'one at least').to.include({
      created: true,
    });
  });

  it('are not counted again for a repeated overflow report', async () => {
    for (const n of [1, 2, 3]) await fixture.bugs.record(nth(n));
    const sent = nth(4, { client_ref: 'r' });
    const first = await fixture.bugs.record(sent);
    await settled(fixture);
    expect(await fixture.bugs.record(sent)).to.include({ id: first.id, repeated: true, overflow: true });
  });

  it('are allowed again after an hour', async () => {
    for (const n of [1, 2, 3, 4]) await fixture.bugs.record(nth(n));
    fixture.clock.advance(61 * 60_000);
    expect(await fixture.bugs.record(nth(9))).to.include({ created: true, overflow: false });
  });

  it('use a separate overflow item per project', async () => {
    for (const n of [1, 2, 3]) await fixture.bugs.record(nth(n));
    const [a, b] = [await fixture.bugs.record(nth(4)), await fixture.bugs.record(nth(5, { project: 'beta' }))];
    expect([a.overflow, b.overflow]).to.deep.equal([true, true]);
    expect(a.id).not.to.equal(b.id);
  });

  it('neither raise the severity of the overflow item nor mute it', async () => {
    for (const n of [1, 2, 3]) await fixture.bugs.record(nth(n));
    const over = await fixture.bugs.record(
      nth(4, { error_level: 'fatal', severity: 'critical', muted_by: { rule_id: 'r', reason: 'x' } }),
    );
    expect(over.item).to.include({ severity: 'high', muted: false });
  });
});

describe('bugs: the clock of an intake key', () => {
  it('limits the first sighting to the retention time of payloads', async () => {
    const fixture = await memoryFixture();
    const ancient = { occurred_at: '1970-01-01T00:00:00.000Z' };
    const app = await fixture.bugs.record(public_(ancient));
    const trusted = await fixture.bugs.record(errorReport({ ...ancient, exception_class: 'T' }));
    expect(Date.parse(app.item.first_seen_at)).to.equal(fixture.clock.now() - 30 * 86_400_000);
    expect(trusted.item.first_seen_at).to.equal(ancient.occurred_at);
    await settled(fixture);
  });
});
