/** Leases with a clock that the test moves (contract 20, leases). */
import { expect } from 'chai';
import { ServiceError } from '../../../../kernel/errors.js';
import type { BugCaller } from '../../../../plugins/bugs/caller.js';
import { toCallerFilter } from '../../../../plugins/bugs/item/filters.js';
import type { NextItemResult } from '../../../../plugins/bugs/claims/next-item.js';
import { ManualClock } from '../../../kit/clock.js';
import { attempt, dying } from '../dying.js';
import {
  listed,
  codeOf,
  MANAGER,
  memoryFixture,
  report,
  settled,
  shown,
  STORES,
  fixtureOn,
  type Fixture,
} from '../fixture.js';

const OTHER: BugCaller = { ...MANAGER, id: 'tok-other', name: 'other' };
const HOUR = 3_600_000;

async function refusal(run: Promise<unknown>): Promise<ServiceError> {
  try {
    await run;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('not refused');
}

describe('bugs: leases', () => {
  let fixture: Fixture;
  let id: string;
  beforeEach(async () => {
    fixture = await memoryFixture();
    ({ id } = await fixture.bugs.record(report()));
  });
  const claim = (caller = MANAGER, request = {}) =>
    fixture.leases.claim(id, caller, { agent: caller.name, ...request });

  it('grants 1,800 s by default and stores no plain token', async () => {
    const { item, lease } = await claim();
    expect(lease.lease_seconds).to.equal(1800);
    expect(Date.parse(lease.expires_at) - fixture.clock.now()).to.equal(1_800_000);
    expect(item).to.include({ status: 'in_progress', claim_count: 1 });
    expect(item.claim).to.have.all.keys('agent', 'claimed_at', 'expires_at', 'renewals');
    expect(JSON.stringify(await fixture.deps.items.get(id))).to.not.include(lease.claim_token);
  });

  it('rejects a claim under another’s live lease and names its holder', async () => {
    const { lease } = await claim();
    const error = await refusal(claim(OTHER));
    expect(error.code).to.equal('already_claimed');
    expect(error.extra).to.deep.equal({ claim: { agent: 'manager', expires_at: lease.expires_at, yours: false } });
  });

  it('returns a new token to the same credential and agent, and invalidates the old one', async () => {
    const first = await claim();
    const second = await claim();
    expect(second.item.claim_count).to.equal(1);
    expect(second.lease.claim_token).to.not.equal(first.lease.claim_token);
    expect(await codeOf(fixture.leases.renew(id, MANAGER, { claim_token: first.lease.claim_token }))).to.equal(
      'lease_lost',
    );
    expect(await codeOf(fixture.leases.renew(id, MANAGER, { claim_token: second.lease.claim_token }))).to.equal('none');
    expect(await codeOf(claim(MANAGER, { agent: 'someone else' }))).to.equal('already_claimed');
  });

  it('renews from the current time, up to 24 hours after the claim', async () => {
    let { lease } = await claim(MANAGER, { lease_seconds: 14_400 });
    const claimed = fixture.clock.now();
    for (let h = 3; h <= 21; h += 3) {
      fixture.clock.advance(3 * HOUR);
      ({ lease } = await fixture.leases.renew(id, MANAGER, { claim_token: lease.claim_token }));
    }
    expect(Date.parse(lease.expires_at)).to.equal(claimed + 24 * HOUR);
    fixture.clock.advance(HOUR);
    expect(await codeOf(fixture.leases.renew(id, MANAGER, { claim_token: lease.claim_token }))).to.equal('lease_limit');
    fixture.clock.advance(3 * HOUR);
    expect(await codeOf(fixture.leases.renew(id, MANAGER, { claim_token: lease.claim_token }))).to.equal('lease_limit');
    expect((await claim()).item.claim_count).to.equal(2);
  });

  it('treats a lease as expired before the expiry is written', async () => {
    const { lease } = await claim();
    fixture.clock.advance(1_800_000);
    expect(await shown(fixture, id)).to.include({ status: 'open', claim: null });
    expect((await fixture.deps.items.get(id))?.status).to.equal('in_progress');
    expect(await codeOf(fixture.leases.renew(id, MANAGER, { claim_token: lease.claim_token }))).to.equal('lease_lost');
    expect(await codeOf(fixture.leases.release(id, MANAGER, lease))).to.equal('lease_lost');
    expect(await codeOf(fixture.edits.edit(id, MANAGER, { title: 'x', claim_token: lease.claim_token }))).to.equal(
      'lease_lost',
    );
    expect((await claim(OTHER)).item).to.include({ status: 'in_progress', claim_count: 2 });
  });

  it('records expired leases so that a delta query returns the items', async () => {
    await claim();
    fixture.clock.advance(1_800_001);
    const since = fixture.clock.iso();
    fixture.clock.advance(1000);
    await fixture.jobs.sweep();
    const answer = await fixture.lists.list(MANAGER, { updated_since: since });
    expect(listed(answer).map(({ status }) => status)).to.deep.equal(['open']);
  });

  it('detects the expiry of another process’s lease on time, right after a previous check', async () => {
    const other = fixtureOn(fixture.store);
    const open = async (): Promise<number> => listed(await other.lists.list(MANAGER, { status: ['open'] })).length;
    const advance = (ms: number): void => [fixture, other].forEach(({ clock }) => clock.advance(ms));
    expect(await open()).to.equal(1);
    await claim(MANAGER, { lease_seconds: 60 });
    expect(await open()).to.equal(0);
    for (const ms of [29_999, 30_000]) {
      advance(ms);
      expect(await open()).to.equal(0);
    }
    advance(1);
    expect(await open()).to.equal(1);
    // Renewed and shortened: the earlier end is over, the later one counts.
    const { lease } = await claim(MANAGER, { lease_seconds: 14_400 });
    await open();
    await fixture.leases.renew(id, MANAGER, { claim_token: lease.claim_token, lease_seconds: 60 });
    advance(60_000);
    expect(await open()).to.equal(1);
    await settled(other);
  });

  it('hands out an item five times without a result, then sets needs_info', async () => {
    for (let i = 1; i <= 5; i++) {
      const granted = await fixture.nextItem.reserveNext(MANAGER, { lease_seconds: 60 }, {});
      expect(granted.item?.claim_count).to.equal(i);
      fixture.clock.advance(60_000);
    }
    expect(await fixture.nextItem.reserveNext(MANAGER, {}, {})).to.include({ item: null });
    expect((await shown(fixture, id)).status).to.equal('needs_info');
    await fixture.edits.edit(id, MANAGER, { status: 'open' });
    expect((await fixture.nextItem.reserveNext(MANAGER, {}, {})).item?.id).to.equal(id);
  });

  it('renews the lease on any write by the holder', async () => {
    const { lease } = await claim(MANAGER, { lease_seconds: 600 });
    fixture.clock.advance(500_000);
    const item = await fixture.edits.edit(id, MANAGER, { title: 'New', claim_token: lease.claim_token });
    expect(Date.parse(item.claim?.expires_at ?? '')).to.equal(fixture.clock.now() + 600_000);
    fixture.clock.advance(500_000);
    await fixture.comments.add(id, MANAGER, { body: 'found it', claim_token: lease.claim_token });
    expect(Date.parse((await shown(fixture, id)).claim?.expires_at ?? '')).to.equal(fixture.clock.now() + 600_000);
  });

  it('denies writes by others under a live lease, unless forced with a reason', async () => {
    await claim();
    expect(await codeOf(fixture.edits.edit(id, OTHER, { title: 'x' }))).to.equal('already_claimed');
    expect(await codeOf(fixture.edits.edit(id, OTHER, { title: 'x', claim_token: 'wrong' }))).to.equal('lease_lost');
    expect(await codeOf(fixture.edits.edit(id, OTHER, { title: 'x', force: true }))).to.equal('reason_required');
    expect(await codeOf(fixture.edits.edit(id, OTHER, { title: 'x', force: true, reason: 'agent is gone' }))).to.equal(
      'none',
    );
    expect((await shown(fixture, id)).status).to.equal('in_progress');
  });

  it('rejects a claim token for an item that is not claimed', async () => {
    expect(await codeOf(fixture.edits.edit(id, MANAGER, { title: 'x', claim_token: 'stale' }))).to.equal('lease_lost');
    expect(await codeOf(fixture.comments.add(id, MANAGER, { body: 'hi', claim_token: 'stale' }))).to.equal(
      'lease_lost',
    );
    expect(await fixture.deps.comments.count()).to.equal(0);
  });

  it('orders by severity, regressions, then age, and skips muted and other agents’ items', async () => {
    const make = async (title: string, fields: object) => (await fixture.bugs.record(report({ title, ...fields }))).id;
    await fixture.edits.edit(id, MANAGER, { status: 'wont_fix', reason: 'out of the way' });
    const low = await make('low', { severity: 'low' });
    fixture.clock.advance(1000);
    const old = await make('old', {});
    fixture.clock.advance(1000);
    const again = await make('again', {});
    fixture.clock.advance(1000);
    const urgent = await make('urgent', { severity: 'critical' });
    await make('muted', { severity: 'critical', muted_by: { rule_id: 'r', reason: 'noise' } });
    const mine = await make('for b', { severity: 'critical', target_agent: 'b' });
    await fixture.edits.edit(again, MANAGER, { status: 'closed' });
    fixture.clock.advance(61_000);
    await fixture.edits.edit(again, MANAGER, { severity: 'low' });
    await fixture.bugs.record(report({ title: 'again' }));
    const order: (string | undefined)[] = [];
    for (let i = 0; i < 4; i++) order.push((await fixture.nextItem.reserveNext(MANAGER, { agent: 'a' }, {})).item?.id);
    expect(order).to.deep.equal([urgent, old, again, low]);
    expect(await fixture.nextItem.reserveNext(MANAGER, { agent: 'a' }, {})).to.include({ item: null });
    expect((await fixture.nextItem.reserveNext(MANAGER, { agent: 'b' }, {})).item?.id).to.equal(mine);
  });

  it('applies filters and the token’s project', async () => {
    const other = (await fixture.bugs.record(report({ project: 'beta', tags: ['ui'] }))).id;
    const bound: BugCaller = { ...MANAGER, project: 'beta' };
    const granted = await fixture.nextItem.reserveNext(bound, {}, toCallerFilter(bound, {}));
    expect(granted.item?.id).to.equal(other);
    expect(await fixture.nextItem.reserveNext(bound, {}, toCallerFilter(bound, {}))).to.include({ item: null });
    expect(() => toCallerFilter(bound, { project: ['alpha'] }))
      .to.throw(ServiceError)
      .with.property('code', 'insufficient_scope');
    expect(await codeOf(fixture.leases.claim(id, bound, {}))).to.equal('not_found');
    expect(await codeOf(fixture.leases.claim('alpha-77', bound, {}))).to.equal('not_found');
  });
});

for (const engine of STORES) {
  describe(`bugs: parallel claims on ${engine.name}`, function () {
    it('64 parallel action=next calls of two processes claim 40 items once each', async () => {
      const { store, close } = await engine.open();
      const clock = new ManualClock();
      const both = [fixtureOn(store, clock), fixtureOn(store, clock)] as const;
      try {
        await Promise.all(
          Array.from({ length: 40 }, (_, i) => both[0].bugs.record(report({ title: 'x'.repeat(i + 1) }))),
        );
        const answers = await Promise.all(
          Array.from({ length: 64 }, (_, i) =>
            (both[i % 2] as Fixture).nextItem.reserveNext({ ...MANAGER, id: `tok-${i}` }, { agent: `agent ${i}` }, {}),
          ),
        );
        const won = answers.filter((answer): answer is NextItemResult => answer.item !== null);
        expect(won).to.have.lengthOf(40);
        expect(new Set(won.map(({ item }) => item.id)).size).to.equal(40);
        expect(new Set(won.map(({ lease }) => lease.claim_token)).size).to.equal(40);
      } finally {
        for (const fixture of both) await settled(fixture);
        await close();
      }
    });

    for (const by of ['next', 'claim'] as const) {
      for (const together of [true, false]) {
        const way = together ? 'in the way of the store' : 'without transactions';
        it(`a process that dies in a ${by} leaves both item and history entry, or neither, ${way}`, async () => {
          for (const late of [false, true]) {
            for (let n = 1, died = true; died; n++) {
              const { store, close } = await engine.open();
              try {
                const before = fixtureOn(store);
                const { id } = await before.bugs.record(report());
                await settled(before);
                const dead = dying(store, n, late);
                const dies = fixtureOn(dead.store, before.clock, (deps) => {
                  if (!together) deps.transact = null;
                });
                await attempt(dies, ({ leases, nextItem }) =>
                  by === 'next'
                    ? nextItem.reserveNext(MANAGER, { agent: 'a' }, {})
                    : leases.claim(id, MANAGER, { agent: 'a' }),
                );
                died = dead.died();
                before.clock.advance(61_000);
                const heir = fixtureOn(store, before.clock);
                await heir.jobs.reconcile();
                await settled(heir);
                const item = await heir.deps.items.get(id);
                const { items: history } = await heir.parts.listPart(id, 'activity', {});
                const claims = history.filter((entry) => 'action' in entry && entry.action === 'claimed');
                expect(claims, `write ${n}`).to.have.lengthOf(item?.claim_count ?? NaN);
                expect(item).to.include({ status: claims.length === 0 ? 'open' : 'in_progress', outbox_at: null });
              } finally {
                await close();
              }
            }
          }
        });
      }
    }

    it('a claim is a single write, by id when the store supports transactions', async () => {
      const { store, close } = await engine.open();
      try {
        const fixture = fixtureOn(store);
        const { id } = await fixture.bugs.record(report());
        await settled(fixture);
        for (const by of store.transact === null ? (['next'] as const) : (['next', 'claim'] as const)) {
          const dead = dying(store, 1, true);
          await attempt(fixtureOn(dead.store, fixture.clock), ({ leases, nextItem }) =>
            by === 'next' ? nextItem.reserveNext(MANAGER, { agent: by }, {}) : leases.claim(id, MANAGER, { agent: by }),
          );
          const { items: history } = await fixture.parts.listPart(id, 'activity', {});
          const claimed = history.find((entry) => 'action' in entry && entry.action === 'claimed');
          expect(claimed).to.include({ actor: MANAGER.name }).and.nested.include({ 'data.agent': by });
          expect((await fixture.deps.items.get(id))?.outbox).to.deep.equal([]);
          fixture.clock.advance(HOUR);
        }
        await settled(fixture);
      } finally {
        await close();
      }
    });

    it('includes a slow claim in the delta of concurrent queries', async () => {
      const { store, close } = await engine.open();
      try {
        const clock = new ManualClock();
        const fixture = fixtureOn(store, clock);
        const { id } = await fixture.bugs.record(report());
        await settled(fixture);
        const slow = fixtureOn(dying(store, Infinity, false).store, clock, (deps) => {
          const { items, transact } = deps;
          let waits = 60_000;
          const held = async <V>(run: () => Promise<V>): Promise<V> => {
            const done = await run();
            clock.advance(waits);
            waits = 0;
            return done;
          };
          deps.transact = transact && ((writes) => held(() => transact(writes)));
          deps.items = Object.create(items, {
            change: { value: (...args: Parameters<typeof items.change>) => held(() => items.change(...args)) },
          }) as typeof items;
        });
        await slow.nextItem.reserveNext(MANAGER, {}, {});
        expect((await fixture.deps.items.get(id))?.updated_at).to.equal(new Date(clock.now()).toISOString());
        await settled(slow);
      } finally {
        await close();
      }
    });

    it('16 parallel claims of an item succeed exactly once', async () => {
      const { store, close } = await engine.open();
      const fixture = fixtureOn(store);
      try {
        const { id } = await fixture.bugs.record(report());
        const codes = await Promise.all(
          Array.from({ length: 16 }, (_, i) =>
            codeOf(fixture.leases.claim(id, { ...MANAGER, id: `tok-${i}` }, { agent: 'a' })),
          ),
        );
        expect(codes.filter((code) => code === 'none')).to.have.lengthOf(1);
        expect(codes.filter((code) => code === 'already_claimed')).to.have.lengthOf(15);
      } finally {
        await settled(fixture);
        await close();
      }
    });
  });
}
