/**
 * Links between items: both ends, blocked items and the queue, circles, limits, projects, crashes
 * (contract 20, links).
 */
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import type { BugCaller } from '../../../../plugins/bugs/caller.js';
import { MAX_LINKS, type LinkKind } from '../../../../plugins/bugs/item/link-kinds.js';
import type { LinkView } from '../../../../plugins/bugs/links/visible-links.js';
import { scaleRepeats } from '../../../support/repeat-budget.js';
import { attempt, dying } from '../dying.js';
import {
  codeOf,
  ENGINES,
  ensureCollections,
  errorReport,
  fixtureOn,
  MANAGER,
  MASTER,
  report,
  settled,
  type Fixture,
  twoProcesses,
} from '../fixture.js';
import { httpOf, MANAGE, READ, type Ask } from '../http.js';

const BETA: BugCaller = { ...MANAGER, id: 'tok-beta', name: 'beta-agent', project: 'beta' };

let made = 0;
const make = async (fixture: Fixture, fields: object = {}): Promise<string> =>
  (await fixture.bugs.record(report({ title: `Item ${'y'.repeat(++made)}`, ...fields }))).id;
const link = (fixture: Fixture, id: string, kind: LinkKind, ref: string, caller = MANAGER) =>
  fixture.links.add(id, MASTER, caller, { kind, ref });
const unlink = (fixture: Fixture, id: string, kind: LinkKind, ref: string, caller = MANAGER) =>
  fixture.links.remove(id, MASTER, caller, { kind, ref });
const linksAt = async (fixture: Fixture, id: string, caller = MANAGER): Promise<LinkView[]> =>
  (await fixture.lists.getDetail(id, caller)).links;
const kindsAt = async (fixture: Fixture, id: string): Promise<[string, string][]> =>
  (await linksAt(fixture, id)).map(({ kind, id: other }) => [kind, other]);
const next = async (fixture: Fixture, ids: string[]): Promise<string | null> =>
  (await fixture.nextItem.reserveNext(MANAGER, {}, { id: { in: ids } })).item?.id ?? null;
const isBlocked = async (fixture: Fixture, id: string): Promise<boolean> =>
  (await fixture.lists.getDetail(id, MANAGER)).item.blocked;
const historyOf = async (fixture: Fixture, id: string): Promise<string[]> => {
  await settled(fixture);
  const page = await fixture.parts.listPart(id, 'activity', { limit: 100 });
  return (page.items as { action: string }[]).map(({ action }) => action).toReversed();
};

for (const engine of ENGINES)
  describe(`bugs: links on ${engine.name}`, function () {
    let fixture: Fixture;
    let other: Fixture;
    let close: (() => Promise<void>) | undefined;
    before(async function () {
      ({ fixture, other, close } = await twoProcesses(engine, () => this.skip()));
    });
    after(async () => {
      if (close === undefined) return;
      await close();
    });
    let all: Promise<string[]> | undefined;
    /** As many as an item takes links, and three more; made at once, for several tests. */
    const neighbours = (): Promise<string[]> =>
      (all ??= Promise.all(Array.from({ length: MAX_LINKS + 3 }, () => make(fixture))));

    it('shows a link once at both ends, and removes it from both', async () => {
      const [a, b, c] = [await make(fixture), await make(fixture), await make(fixture)];
      expect((await link(fixture, a, 'discovered_from', b)).created).to.equal(true);
      expect((await link(fixture, b, 'discovered', a)).created).to.equal(false);
      await link(fixture, a, 'related', c);
      expect((await link(fixture, c, 'related', a)).created).to.equal(false);
      expect(await kindsAt(fixture, a)).to.have.deep.members([
        ['discovered_from', b],
        ['related', c],
      ]);
      expect(await kindsAt(fixture, b)).to.deep.equal([['discovered', a]]);
      expect(await kindsAt(fixture, c)).to.deep.equal([['related', a]]);
      await unlink(fixture, b, 'discovered', a);
      expect(await kindsAt(fixture, a)).to.deep.equal([['related', c]]);
      expect(await kindsAt(fixture, b)).to.deep.equal([]);
      expect(await codeOf(unlink(fixture, b, 'discovered', a))).to.equal('not_found');
      expect(await historyOf(fixture, b)).to.deep.equal(['created', 'link added', 'link removed']);
    });

    it('does not hand out a blocked item, reports the block, and unblocks on every end of its blocker', async () => {
      const ends: ((blocker: string, blocked: string) => Promise<unknown>)[] = [
        (blocker) => fixture.edits.edit(blocker, MANAGER, { status: 'resolved' }),
        (blocker) => fixture.edits.edit(blocker, MANAGER, { status: 'closed' }),
        (blocker) => fixture.edits.edit(blocker, MANAGER, { status: 'wont_fix', reason: 'as designed' }),
        async (blocker) => fixture.merging.merge(blocker, await make(fixture), MANAGER),
        (blocker) => fixture.removal.remove(blocker, MASTER),
        (blocker, blocked) => unlink(fixture, blocked, 'blocked_by', blocker),
        (blocker, blocked) => unlink(fixture, blocker, 'blocks', blocked),
      ];
      for (const end of ends) {
        const [blocker, blocked] = [await make(fixture), await make(fixture)];
        await link(fixture, blocked, 'blocked_by', blocker);
        expect(await isBlocked(fixture, blocked)).to.equal(true);
        const none = await fixture.nextItem.reserveNext(MANAGER, {}, { id: blocked });
        expect(none).to.have.property('item', null);
        expect(none).to.have.nested.property('waiting.blocked', 1);
        await end(blocker, blocked);
        expect(await isBlocked(fixture, blocked)).to.equal(false);
        expect(await next(other, [blocked])).to.equal(blocked);
        expect((await historyOf(fixture, blocked)).filter((action) => /block/.test(action))).to.deep.equal([
          'blocked',
          'unblocked',
        ]);
      }
      expect(fixture.told.filter(({ event }) => event === 'bug.unblocked')).to.have.lengthOf(ends.length);
    });

    it('blocks again when the blocker is reopened, by a user or regression, or a merge is undone', async () => {
      const { id: blocker } = await fixture.bugs.record(errorReport({ app_version: '1.0' }));
      const blocked = await make(fixture);
      await link(fixture, blocker, 'blocks', blocked);
      await fixture.edits.edit(blocker, MANAGER, { status: 'resolved' });
      expect(await isBlocked(fixture, blocked)).to.equal(false);
      await fixture.edits.edit(blocker, MANAGER, { status: 'open' });
      expect(await isBlocked(fixture, blocked)).to.equal(true);
      await fixture.edits.edit(blocker, MANAGER, { status: 'resolved', resolved_in_build: '1.1' });
      expect((await fixture.bugs.record(errorReport({ app_version: '1.1' }))).regression).to.equal(true);
      expect(await isBlocked(fixture, blocked)).to.equal(true);
      await fixture.merging.merge(blocker, await make(fixture), MANAGER);
      expect(await isBlocked(fixture, blocked)).to.equal(false);
      await fixture.merging.split(blocker, MANAGER);
      expect(await isBlocked(fixture, blocked)).to.equal(true);
      expect((await fixture.deps.items.get(blocker))?.relink_at).to.equal(undefined);
      await fixture.edits.edit(blocker, MANAGER, { status: 'resolved', resolved_in_build: '1.2' });
      expect(await isBlocked(fixture, blocked)).to.equal(false);
    });

    it('unblocks an item with several blockers only with the last, also by a publish', async () => {
      const [a, b, blocked] = [await make(fixture), await make(fixture), await make(fixture)];
      await link(fixture, blocked, 'blocked_by', a);
      await link(fixture, blocked, 'blocked_by', b);
      await fixture.edits.edit(a, MANAGER, { status: 'closed' });
      expect(await isBlocked(fixture, blocked)).to.equal(true);
      await fixture.edits.edit(b, MANAGER, { resolved_in_build: '7.0' });
      await fixture.bugs.recordRelease('alpha', { version: '7.0', build: null });
      expect(await isBlocked(fixture, blocked)).to.equal(false);
      expect((await linksAt(fixture, blocked)).map(({ finished }) => finished)).to.deep.equal([true, true]);
    });

    it('rejects a self-link, a missing item, a cycle and a 51st link, and changes nothing', async () => {
      const [a, b, c] = [await make(fixture), await make(fixture), await make(fixture)];
      await link(fixture, a, 'blocks', b);
      await link(fixture, b, 'blocks', c);
      for (const [from, kind, to] of [
        [c, 'blocks', a],
        [a, 'blocked_by', c],
        [b, 'blocks', a],
      ] as const)
        expect(await codeOf(link(fixture, from, kind, to))).to.equal('conflict');
      expect(await codeOf(link(fixture, a, 'related', a))).to.equal('validation_failed');
      expect(await codeOf(link(fixture, a, 'related', 'alpha-999999'))).to.equal('validation_failed');
      expect(await codeOf(link(fixture, 'alpha-999999', 'related', a))).to.equal('not_found');
      expect(await kindsAt(fixture, c)).to.deep.equal([['blocked_by', b]]);
      const many = await make(fixture);
      for (const one of (await neighbours()).slice(0, MAX_LINKS)) await link(fixture, many, 'related', one);
      expect(await codeOf(link(fixture, many, 'related', a))).to.equal('conflict');
      expect(await codeOf(link(fixture, a, 'related', many))).to.equal('conflict');
      expect(await linksAt(fixture, many)).to.have.lengthOf(MAX_LINKS);
      expect(await linksAt(fixture, a)).to.have.lengthOf(1);
    });

    it('prevents cycles across two processes and enforces the limit for parallel calls', async () => {
      for (let i = 0; i < scaleRepeats(3); i++) {
        const [a, b, c] = [await make(fixture), await make(fixture), await make(fixture)];
        const tries = await Promise.all([
          codeOf(link(fixture, a, 'blocks', b)),
          codeOf(link(other, b, 'blocks', c)),
          codeOf(link(fixture, c, 'blocks', a)),
        ]);
        expect(
          tries.filter((code) => code === 'none'),
          tries.join(),
        ).to.have.lengthOf(2);
        expect(tries.filter((code) => code === 'conflict')).to.have.lengthOf(1);
      }
      const centre = await make(fixture);
      const few = (await neighbours()).slice(0, MAX_LINKS - 3);
      const more = (await neighbours()).slice(MAX_LINKS - 3);
      for (const one of few) await link(fixture, centre, 'related', one);
      expect(more).to.have.lengthOf(6);
      const tries = await Promise.all(
        more.map((one, i) => codeOf(link(i % 2 === 0 ? fixture : other, one, 'related', centre))),
      );
      expect(
        tries.filter((code) => code === 'none'),
        tries.join(),
      ).to.have.lengthOf(3);
      expect(await linksAt(fixture, centre)).to.have.lengthOf(MAX_LINKS);
    });

    it('is consistent while two processes finish and reopen blockers concurrently', async () => {
      const [a, b, blocked] = [await make(fixture), await make(fixture), await make(fixture)];
      await link(fixture, a, 'blocks', blocked);
      await link(fixture, b, 'blocks', blocked);
      for (let i = 0; i < scaleRepeats(4); i++) {
        const to = (n: number): 'closed' | 'open' => (n % 2 === 0 ? 'closed' : 'open');
        await Promise.all([
          fixture.edits.edit(a, MANAGER, { status: to(i) }),
          other.edits.edit(b, MANAGER, { status: to(i) }),
        ]);
        expect(await isBlocked(fixture, blocked), `round ${i}`).to.equal(i % 2 === 1);
      }
    });

    it('shows a project token nothing of another project', async () => {
      const [mine, foreign] = [
        await make(fixture, { project: 'beta' }),
        await make(fixture, { title: 'A secret plan' }),
      ];
      await link(fixture, mine, 'blocked_by', foreign);
      expect(await isBlocked(fixture, mine)).to.equal(true);
      expect(await linksAt(fixture, mine)).to.have.lengthOf(1);
      const detail = await fixture.lists.getDetail(mine, BETA);
      expect(detail.links).to.deep.equal([]);
      const { ref } = await fixture.lists.getDetail(foreign, MANAGER).then(({ item }) => item);
      const history = await fixture.parts.getPage(mine, BETA, 'activity', {});
      for (const reported of [detail, history]) {
        expect(JSON.stringify(reported)).not.to.include('secret plan');
        expect(JSON.stringify(reported)).not.to.include(ref);
      }
      expect(await codeOf(link(fixture, mine, 'related', foreign, BETA))).to.equal('validation_failed');
      expect(await codeOf(unlink(fixture, mine, 'blocked_by', foreign, BETA))).to.equal('validation_failed');
      expect(await codeOf(link(fixture, foreign, 'related', mine, BETA))).to.equal('not_found');
      await fixture.edits.edit(foreign, MANAGER, { status: 'closed' });
      expect(await next(fixture, [mine])).to.equal(mine);
    });

    it('requires an agent’s lease on the blocked item, and renews it', async () => {
      const [a, b] = [await make(fixture), await make(fixture)];
      const agent: BugCaller = { ...MANAGER, id: 'tok-agent', name: 'agent', by_tool: true };
      const { lease } = await fixture.leases.claim(a, agent, {});
      const requested = { kind: 'blocked_by', ref: b } as const;
      expect(await codeOf(fixture.links.add(a, MASTER, agent, requested))).to.equal('claim_required');
      expect(await codeOf(fixture.links.add(b, MASTER, agent, { kind: 'blocks', ref: a }))).to.equal('claim_required');
      expect(await codeOf(fixture.links.add(a, MASTER, agent, { ...requested, claim_token: 'x' }))).to.equal(
        'lease_lost',
      );
      await fixture.links.add(a, MASTER, agent, { kind: 'related', ref: b });
      fixture.clock.advance(60_000);
      await fixture.links.add(a, MASTER, agent, { ...requested, claim_token: lease.claim_token });
      const { claim } = (await fixture.lists.getDetail(a, MANAGER)).item;
      expect((claim?.expires_at ?? '') > lease.expires_at).to.equal(true);
    });

    it('unblocks in the job what a process of an earlier version left blocked', async () => {
      const [blocker, blocked] = [await make(fixture), await make(fixture)];
      await link(fixture, blocker, 'blocks', blocked);
      await fixture.deps.items.change({ id: blocker }, { set: { status: 'closed', queue_key: null } });
      expect(await isBlocked(fixture, blocked)).to.equal(true);
      await fixture.jobs.completePendingWork();
      expect(await isBlocked(fixture, blocked)).to.equal(false);
    });
  });

describe('bugs: links when a process dies at a write', () => {
  const acts: Record<string, (fixture: Fixture, blocker: string, blocked: string) => Promise<unknown>> = {
    link: (fixture, blocker, blocked) => link(fixture, blocker, 'blocks', blocked),
    unlink: (fixture, blocker, blocked) => unlink(fixture, blocker, 'blocks', blocked),
    close: (fixture, blocker) => fixture.edits.edit(blocker, MANAGER, { status: 'closed' }),
    reopen: (fixture, blocker) => fixture.edits.edit(blocker, MANAGER, { status: 'open' }),
    remove: (fixture, blocker) => fixture.removal.remove(blocker, MASTER),
  };
  for (const [name, act] of Object.entries(acts))
    it(`is consistent at both ends after ${name}, for any write`, async () => {
      for (let n = 1; n < 40; n++)
        for (const late of [false, true]) {
          const store = await ensureCollections(new MemoryStore());
          const fixture = fixtureOn(store);
          const [blocker, blocked] = [await make(fixture), await make(fixture)];
          if (name !== 'link') await link(fixture, blocker, 'blocks', blocked);
          if (name === 'reopen') await fixture.edits.edit(blocker, MANAGER, { status: 'closed' });
          await settled(fixture);
          const dead = dying(store, n, late);
          const answered = await attempt(fixtureOn(dead.store, fixture.clock), (one) => act(one, blocker, blocked));
          fixture.clock.advance(120_000);
          await fixture.jobs.reconcile();
          const links = await fixture.deps.links.find();
          const kept = links.items.length === 1;
          expect(links.items.every(({ open_at }) => open_at === undefined)).to.equal(true);
          const doc = await fixture.deps.items.get(blocker);
          expect(doc?.relink_at).to.equal(undefined);
          const blocks = kept && doc !== null && doc.status === 'open';
          expect(await isBlocked(fixture, blocked), `${name} ${n} ${late}`).to.equal(blocks);
          if (answered) expect(kept).to.equal(!['unlink', 'remove'].includes(name));
          await settled(fixture);
          const actions = await historyOf(fixture, blocked);
          const isAdded = actions.filter((action) => action === 'link added').length;
          if (name === 'link') expect(isAdded).to.equal(kept ? 1 : 0);
          if (!dead.died()) return;
        }
      throw new Error('it never ended');
    });
});

describe('bugs: links over HTTP', () => {
  let fixture: Fixture;
  let ask: Ask;
  beforeEach(async () => {
    fixture = fixtureOn(await ensureCollections(new MemoryStore()));
    ask = await httpOf(fixture);
  });
  const refOf = async (id: string): Promise<string> => (await fixture.lists.getDetail(id, MANAGER)).item.ref;

  it('returns 201, 200, 404, 409 and 422, and lists links with the item', async () => {
    const [a, b] = [await refOf(await make(fixture)), await refOf(await make(fixture))];
    const first = await ask('POST', `/bugs/${a}/links`, { kind: 'blocked_by', ref: b });
    expect(first).to.have.property('status', 201);
    expect(first.body).to.have.nested.property('links[0].ref', b);
    expect(first.body).to.have.nested.property('links[0].kind', 'blocked_by');
    expect(first.body).to.have.nested.property('item.ref', a);
    expect((await ask('POST', `/bugs/${a}/links`, { kind: 'blocked_by', ref: b })).status).to.equal(200);
    const circle = await ask('POST', `/bugs/${b}/links`, { kind: 'blocked_by', ref: a });
    expect(circle).to.have.property('status', 409);
    expect(circle.body).to.have.nested.property('error.code', 'conflict');
    for (const wrong of [
      { kind: 'likes', ref: b },
      { kind: 'related' },
      { kind: 'related', ref: 'alpha-999' },
      { kind: 'related', ref: a },
    ]) {
      const rejected = await ask('POST', `/bugs/${a}/links`, wrong);
      expect(rejected.status, JSON.stringify(wrong)).to.equal(422);
      expect(rejected.body).to.have.nested.property('error.code', 'validation_failed');
    }
    expect((await ask('POST', `/bugs/${a}/links`, { kind: 'related', ref: b }, { bearer: READ })).status).to.equal(403);
    const detail = await ask('GET', `/bugs/${b}`, undefined, { bearer: MANAGE });
    expect(detail.body).to.have.nested.property('links[0].kind', 'blocks');
    const queue = await ask('POST', `/bugs?action=next&q=${a}`);
    expect(queue.body).to.have.property('item', null);
    expect(queue.body).to.have.nested.property('waiting.blocked', 1);
    expect((await ask('DELETE', `/bugs/${a}/links`)).status).to.equal(422);
    const gone = await ask('DELETE', `/bugs/${b}/links?kind=blocks&ref=${a}`);
    expect(gone.status).to.equal(200);
    expect(gone.body).to.have.deep.property('links', []);
    expect((await ask('DELETE', `/bugs/${b}/links`, { kind: 'blocks', ref: a })).status).to.equal(404);
    expect((await ask('POST', `/bugs?action=next&q=${a}`)).body).to.have.nested.property('item.ref', a);
  });

  it('records links in the audit log', async () => {
    const log: unknown[] = [];
    fixture.deps.audit = () =>
      ({
        record: async (_who: unknown, action: string, subject: string, details: object) =>
          void log.push({ action, subject, ...details }),
      }) as never;
    const [a, b] = [await refOf(await make(fixture)), await refOf(await make(fixture))];
    await ask('POST', `/bugs/${a}/links`, { kind: 'related', ref: b });
    await ask('DELETE', `/bugs/${a}/links`, { kind: 'related', ref: b });
    expect(log).to.deep.equal([
      { action: 'bug.linked', subject: a, kind: 'related', ref: b },
      { action: 'bug.unlinked', subject: a, kind: 'related', ref: b },
    ]);
  });
});
