/** Lists, filters, paging and the delta query (contract 20, endpoints; contract 00, lists). */
import { expect } from 'chai';
import { ManualClock } from '../../../kit/clock.js';
import { InvalidCursor, type Transact } from '../../../../ports/store/index.js';
import type { BugCaller } from '../../../../plugins/bugs/caller.js';
import { buildItemListTopic } from '../../../../plugins/bugs/pages/live-topics.js';
import {
  codeOf,
  errorReport,
  itemIn,
  MANAGER,
  memoryFixture,
  report,
  settled,
  shown,
  STORES,
  fixtureOn,
  listed,
  type Fixture,
} from '../fixture.js';

describe('bugs: lists', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await memoryFixture();
  });
  const titles = async (request: object, caller: BugCaller = MANAGER): Promise<string[]> =>
    listed(await fixture.lists.list(caller, request)).map(({ title }) => title);

  it('lists the newest open items of a project, of any severity', async () => {
    for (const [title, severity, project] of [
      ['First', 'critical', 'alpha'],
      ['Second', 'low', 'alpha'],
      ['Elsewhere', 'high', 'beta'],
      ['Closed', 'high', 'alpha'],
      ['Third', 'medium', 'alpha'],
    ] as const) {
      fixture.clock.advance(1_000);
      const { id } = await fixture.bugs.record(report({ title, severity, project }));
      if (title === 'Closed') await fixture.edits.edit(id, MANAGER, { status: 'closed' });
    }
    const list = async (limit: number): Promise<string[]> =>
      (await fixture.board.listNewest('alpha', limit)).map(({ title }) => title);
    expect(await list(5)).to.deep.equal(['Third', 'Second', 'First']);
    expect(await list(2)).to.deep.equal(['Third', 'Second']);
  });

  it('filters items, with repeated values as alternatives', async () => {
    await fixture.bugs.record(
      report({ title: 'Alpha ONE', tags: ['ui', 'slow'], commit_sha: 'c1', push_id: 'p', target_agent: 'fixer' }),
    );
    await fixture.bugs.record(
      report({ title: 'Two', severity: 'critical', error_message: 'Straße GESPERRT', project: 'beta' }),
    );
    await fixture.bugs.record(
      errorReport({ title: 'Three', environment: 'prod', exception_class: 'app.Boom', error_level: 'fatal' }),
    );
    const sorted = async (request: object): Promise<string[]> => (await titles(request)).toSorted();
    expect(await sorted({ q: ['one'] })).to.deep.equal(['Alpha ONE']);
    expect(await sorted({ q: ['straße gesp'] })).to.deep.equal(['Two']);
    expect(await sorted({ q: ['BOOM', 'alpha'] })).to.deep.equal(['Alpha ONE', 'Three']);
    expect(await sorted({ tag: ['slow'] })).to.deep.equal(['Alpha ONE']);
    expect(await sorted({ tag: ['slow', 'none'] })).to.deep.equal(['Alpha ONE']);
    expect(await sorted({ type: ['bug', 'error'], project: ['alpha'] })).to.deep.equal(['Alpha ONE', 'Three']);
    expect(await sorted({ severity: ['critical'] })).to.deep.equal(['Two']);
    expect(
      await sorted({ environment: ['prod'], error_level: ['fatal'], exception_class: ['app.Boom'] }),
    ).to.deep.equal(['Three']);
    expect(await sorted({ target_agent: ['fixer'], commit_sha: ['c1'], push_id: ['p'] })).to.deep.equal(['Alpha ONE']);
    await fixture.leases.claim('alpha-1', MANAGER, { agent: 'bot' });
    expect(await sorted({ claimed_by: ['bot'], status: ['in_progress'] })).to.deep.equal(['Alpha ONE']);
    expect(await sorted({ muted: [false], regression: [false], status: ['open'] })).to.deep.equal(['Three', 'Two']);
  });

  it('finds an item by its full client_ref for any sender, within the requested projects', async () => {
    await fixture.bugs.record(report({ title: 'One', client_ref: 'TICKET 7' }));
    await fixture.bugs.record(report({ title: 'Two', client_ref: 'TICKET 7', project: 'beta' }));
    await fixture.bugs.record(errorReport({ title: 'Three', client_ref: 'TICKET 7', intake_key: 'key' }));
    const found = async (request: object, caller?: BugCaller): Promise<string[]> =>
      (await titles(request, caller)).toSorted();
    expect(await found({ q: ['TICKET 7'] })).to.deep.equal(['One', 'Three', 'Two']);
    expect(await found({ q: [' TICKET 7 '], project: ['beta'] })).to.deep.equal(['Two']);
    expect(await found({ q: ['TICKET 7'] }, { ...MANAGER, project: 'beta' })).to.deep.equal(['Two']);
    expect(await found({ q: ['TICKET'] })).to.deep.equal([]);
    expect(await found({ q: ['TICKET 7'], type: ['error'] })).to.deep.equal(['Three']);
  });

  it('sorts severities by rank, and by last_seen_at by default', async () => {
    for (const severity of ['low', 'critical', 'medium', 'high'] as const) {
      await fixture.bugs.record(report({ title: severity, severity }));
      fixture.clock.advance(1000);
    }
    expect(await titles({ sort: 'severity' })).to.deep.equal(['critical', 'high', 'medium', 'low']);
    expect(await titles({ sort: 'severity', order: 'asc' })).to.deep.equal(['low', 'medium', 'high', 'critical']);
    expect(await titles({})).to.deep.equal(['high', 'medium', 'critical', 'low']);
  });

  for (const engine of STORES) {
    it(`returns items consistent with a direct read while they change (${engine.name})`, async () => {
      const { store, close } = await engine.open();
      const own = fixtureOn(store);
      try {
        for (let i = 0; i < 4; i++)
          await own.bugs.record(report({ title: `t${i}`, description: i % 2 ? `long ${i}` : undefined, tags: ['a'] }));
        const look = async (): Promise<void> => {
          const items = listed(await own.lists.list(MANAGER, {}));
          expect(items).to.have.length(4);
          for (const item of items) expect(item).to.deep.equal((await own.lists.getDetail(item.ref, MANAGER)).item);
        };
        await look();
        await own.bugs.record(report({ title: 't1', description: 'long 1', tags: ['a'] }));
        await look();
        const granted = await own.nextItem.reserveNext(MANAGER, { lease_seconds: 60 }, {});
        await look();
        own.clock.advance(61_000);
        await look();
        expect(listed(await own.lists.list(MANAGER, { status: ['in_progress'] }))).to.deep.equal([]);
        await own.edits.edit(granted.item?.id ?? '', MANAGER, { title: 'another', description: 'text' });
        await look();
        own.clock.advance(3_600_000);
        await look();
      } finally {
        await settled(own);
        await close();
      }
    });
  }

  it('pages, counts on request, and rejects the cursor of another list', async () => {
    for (let i = 0; i < 5; i++)
      await fixture.bugs.record(report({ title: `t${i}`, description: 'long', error_message: 'e'.repeat(i + 1) }));
    const first = await fixture.lists.list(MANAGER, { limit: 3, include_total: true });
    expect(first).to.include({ total: 5, has_more: true });
    expect(listed(first)[0]).to.include({ description: 'long' });
    const second = await fixture.lists.list(MANAGER, { limit: 3, cursor: first.next_cursor });
    expect(second).to.include({ has_more: false, next_cursor: null });
    expect(new Set([...listed(first), ...listed(second)].map(({ id }) => id)).size).to.equal(5);
    for (const request of [{ sort: 'hit_count' as const }, { updated_since: fixture.clock.iso() }]) {
      try {
        await fixture.lists.list(MANAGER, { ...request, cursor: first.next_cursor });
        expect.fail('taken');
      } catch (error) {
        expect(error).to.be.instanceOf(InvalidCursor);
      }
    }
  });

  it('returns every field, and names fields with external text', async () => {
    const { id, ref } = await fixture.bugs.record(errorReport({ stack_trace: 'at x', client_ref: 'c' }));
    const item = await shown(fixture, ref);
    expect(item).to.include({
      id,
      ref,
      urgency: 'high',
      severity: 'high',
      stack_trace: 'at x',
      description: null,
      claim: null,
      rev: 1,
    });
    expect(item.untrusted_fields).to.deep.equal([
      'title',
      'error_message',
      'stack_trace',
      'exception_class',
      'client_ref',
      'file_path',
    ]);
    const edited = await fixture.edits.edit(id, MANAGER, { title: 'Cart fails when empty', description: 'seen by me' });
    expect(edited.untrusted_fields).to.deep.equal([
      'error_message',
      'stack_trace',
      'exception_class',
      'client_ref',
      'file_path',
    ]);
    expect(edited.description).to.equal('seen by me');
    expect(await titles({ q: ['when empty'] })).to.deep.equal(['Cart fails when empty']);
  });

  it('limits a project-bound token to its project', async () => {
    await fixture.bugs.record(report({ title: 'A' }));
    await fixture.bugs.record(report({ title: 'B', project: 'beta' }));
    const bound: BugCaller = { ...MANAGER, project: 'beta' };
    expect(await titles({}, bound)).to.deep.equal(['B']);
    expect(await codeOf(fixture.lists.list(bound, { project: ['alpha'] }))).to.equal('insufficient_scope');
    expect(await codeOf(fixture.lists.getDetail('alpha-1', bound))).to.equal('not_found');
    expect(await codeOf(fixture.lists.getDetail('no such', bound))).to.equal('not_found');
    expect((await fixture.lists.listProjects(bound)).map(({ slug }) => slug)).to.deep.equal(['beta']);
  });

  it('counts open items and returns the newest version', async () => {
    await itemIn(fixture, 'open');
    await itemIn(fixture, 'closed');
    for (const version of ['1.9', '1.10', '1.2']) await fixture.published(version);
    expect((await fixture.lists.listProjects(MANAGER))[0]).to.deep.equal({
      slug: 'alpha',
      name: 'alpha',
      open_count: 1,
      latest_build: '1.10',
    });
  });

  it('allows a reporting token to comment only on items it reported', async () => {
    const { id } = await fixture.bugs.record(report({ reported_by: 'tok-1' }));
    const own: BugCaller = { id: 'tok-1', name: 'one', project: null, manage: false, kind: 'token' };
    expect((await fixture.comments.add(id, own, { body: 'more' })).comment).to.include({ body: 'more', author: 'one' });
    expect(await codeOf(fixture.comments.add(id, { ...own, id: 'tok-2' }, { body: 'x' }))).to.equal(
      'insufficient_scope',
    );
    const detail = await fixture.lists.getDetail(id, MANAGER);
    expect(detail.comments).to.have.lengthOf(1);
    expect((detail.activity as { action: string }[]).map(({ action }) => action)).to.deep.equal([
      'commented',
      'created',
    ]);
  });
});

for (const engine of STORES) {
  describe(`bugs: delta query on ${engine.name}`, function () {
    it('returns every change while two processes write, one slow and one with a lagging clock', async () => {
      const { store, close } = await engine.open();
      const writer = fixtureOn(store);
      const lagging = fixtureOn(store, undefined, (deps) => {
        deps.clock = {
          now: () => writer.clock.now() - 4000,
          iso: () => new Date(writer.clock.now() - 4000).toISOString(),
          monotonic: () => 0,
          epoch: 'test',
        };
      });
      const reported = new Map<string, number>();
      let mark = '1970-01-01T00:00:00.000Z';
      const poll = async (): Promise<void> => {
        let cursor: string | null = null;
        do {
          const page = await writer.lists.list(MANAGER, { updated_since: mark, limit: 7, cursor });
          for (const item of listed(page)) reported.set(item.id, Math.max(reported.get(item.id) ?? 0, item.hit_count));
          if (page.next_cursor === null) mark = page.server_time ?? '';
          cursor = page.next_cursor;
        } while (cursor !== null);
      };
      try {
        for (let round = 0; round < 25; round++) {
          const writes = Array.from({ length: 6 }, (_, i) => {
            const fixture = i % 2 === 0 ? writer : lagging;
            return fixture.bugs.record(report({ title: `item ${'x'.repeat((round * 5 + i) % 40)}` }));
          });
          const [, answers] = await Promise.all([poll(), Promise.all(writes)]);
          expect(answers).to.have.lengthOf(6);
          writer.clock.advance(700);
        }
        await poll();
        const all = await writer.deps.items.find({ limit: 1000 });
        for (const item of all.items) expect(reported.get(item.id), item.title).to.equal(item.hit_count);
      } finally {
        await settled(writer);
        await settled(lagging);
        await close();
      }
    });
  });
}

describe('bugs: safe mark of delta queries', () => {
  it('stays behind a write in progress', async () => {
    const fixture = await memoryFixture();
    const arrived: string[] = [];
    let finish: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { transact } = fixture.deps;
    const held: Transact = async (writes) => {
      arrived.push('transaction');
      await gate;
      return transact?.(writes) ?? null;
    };
    const slow = fixtureOn(fixture.store, fixture.clock, (deps) => Object.assign(deps, { transact: held }));
    const began = fixture.clock.iso();
    const writing = slow.bugs.record(report());
    while (arrived.length === 0) await new Promise(setImmediate);
    fixture.clock.advance(3_600_000);
    const { server_time = '' } = await slow.lists.list(MANAGER, { updated_since: began });
    expect(server_time <= began, server_time).to.equal(true);
    finish();
    await writing;
  });

  it('misses no change when the clock moved backwards for an hour without a query', async () => {
    const fixture = await memoryFixture();
    const ask = (mark: string) => fixture.lists.list(MANAGER, { updated_since: mark });
    fixture.clock.advance(60_000);
    const { server_time = '' } = await ask('2000-01-01T00:00:00.000Z');
    const now = fixture.clock.now();
    fixture.clock.set(now - 3_600_000);
    const { ref } = await fixture.bugs.record(report({ title: 'in the hour that came twice' }));
    fixture.clock.set(now);
    expect(listed(await ask(server_time)).map((item) => item.ref)).to.deep.equal([ref]);
  });

  it('misses no change when the clock moves backwards by hours, forwards and back again', async () => {
    const fixture = await memoryFixture();
    const ask = async (mark: string): Promise<{ refs: string[]; mark: string }> => {
      const page = await fixture.lists.list(MANAGER, { updated_since: mark });
      return { refs: listed(page).map(({ ref }) => ref), mark: page.server_time ?? '' };
    };
    const write = async (title: string): Promise<string> => (await fixture.bugs.record(report({ title }))).ref;
    const hours = (n: number): void => fixture.clock.set(fixture.clock.now() + n * 3_600_000);
    await write('before');
    hours(3);
    const early = await write('while the clock was ahead');
    fixture.clock.advance(60_000);
    const { mark: ahead } = await ask('2000-01-01T00:00:00.000Z');
    hours(-3);
    const shown = await buildItemListTopic(fixture.deps).getRevision('');
    const late = await write('after it was put back');
    expect(await buildItemListTopic(fixture.deps).getRevision('')).not.to.equal(shown);
    fixture.clock.advance(60_000);
    const reported = await ask(ahead);
    expect(reported.refs).to.include(late);
    const later = await write('later');
    expect((await ask(reported.mark)).refs).to.include.members([later]);
    hours(-2);
    const earlier = await write('put back once more');
    fixture.clock.advance(60_000);
    for (const mark of [ahead, reported.mark])
      expect((await ask(mark)).refs, mark).to.include.members([late, later, earlier]);
    // Once the clock was there again, a mark is what it was.
    hours(6);
    fixture.clock.advance(60_000);
    const { mark } = await ask(ahead);
    const newest = await write('newest');
    expect((await ask(mark)).refs).to.deep.equal([newest]);
    expect(early).to.match(/-\d+$/);
  });

  it('misses no change when the clock moves backwards while no process runs', async () => {
    const before = await memoryFixture();
    const write = async ({ bugs }: Fixture, title: string): Promise<string> =>
      (await bugs.record(report({ title }))).ref;
    const ask = async (fixture: Fixture, updated_since: string): Promise<string[]> =>
      listed(await fixture.lists.list(MANAGER, { updated_since })).map(({ ref }) => ref);
    await write(before, 'before');
    const right = before.clock.now();
    before.clock.set(right + 3 * 3_600_000);
    await write(before, 'while the clock was ahead');
    before.clock.advance(60_000);
    const { server_time: ahead = '' } = await before.lists.list(MANAGER, { updated_since: '2000-01-01T00:00:00.000Z' });
    await settled(before);

    const started = async (minutes: number): Promise<Fixture> => {
      const process = fixtureOn(before.store, new ManualClock(right + minutes * 60_000));
      await process.watermark.start();
      return process;
    };
    const first = await started(10);
    const late = await write(first, 'after it was put back');
    expect(await ask(first, ahead)).to.include(late);
    // A mark that lies ahead is of before; nobody knows how long ago that was.
    expect(await ask(await started(20), ahead)).to.include(late);
    // Where the clock passed the mark meanwhile, this process knows since when it has run.
    const second = await started(30);
    const later = await write(second, 'later');
    second.clock.advance(3 * 3_600_000);
    expect(await ask(second, ahead)).to.include(later);
    // A mark that is right tells no more than before.
    second.clock.advance(24 * 3_600_000);
    expect(await ask(second, second.clock.iso())).to.deep.equal([]);
    await settled(first);
    await settled(second);
  });
});
