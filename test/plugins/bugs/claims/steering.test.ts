/**
 * What two agents and a person are told of each other's work on one queue (contract 20, leases and
 * hold).
 */
import { expect } from 'chai';
import { ServiceError } from '../../../../kernel/errors.js';
import type { BugCaller } from '../../../../plugins/bugs/caller.js';
import type { ClaimResult } from '../../../../plugins/bugs/claims/leases.js';
import { codeOf, ENGINES, errorReport, fixtureOn, MANAGER, report, settled, shown, type Fixture } from '../fixture.js';
import { useStore } from '../../../support/stores.js';

const ONE: BugCaller = { ...MANAGER, id: 'tok-one', name: 'one' };
const TWO: BugCaller = { ...MANAGER, id: 'tok-two', name: 'two' };
const ADA: BugCaller = { ...MANAGER, id: 'user:ada', name: 'ada', kind: 'session' };
const byTool = (caller: BugCaller): BugCaller => ({ ...caller, by_tool: true });

async function rejected(run: Promise<unknown>): Promise<{ code: string } & Record<string, unknown>> {
  try {
    await run;
  } catch (error) {
    if (error instanceof ServiceError) return { code: error.code, ...error.extra };
    throw error;
  }
  throw new Error('it was not refused');
}

for (const { name, open } of ENGINES)
  describe(`bugs: agents and a user on ${name}`, function () {
    let fixture: Fixture;
    useStore({ name, open }, (store) => (fixture = fixtureOn(store)), { end: () => settled(fixture), once: true });

    let items = 0;
    const made = async (fields: object = {}): Promise<string> =>
      (await fixture.bugs.record(report({ title: `Item ${'x'.repeat(++items)}`, ...fields }))).id;
    const claim = (id: string, caller = ONE): Promise<ClaimResult> => fixture.leases.claim(id, caller, {});

    it('stores the holder’s progress note on renewal', async () => {
      const id = await made();
      const { claim_token } = (await claim(id)).lease;
      await fixture.leases.renew(id, ONE, { claim_token, note: ' The total is rounded twice ', tokens: 2450 });
      await fixture.leases.renew(id, ONE, { claim_token });
      const { item, activity } = await fixture.lists.getDetail(id, MANAGER);
      expect(item.claim).to.include({ renewals: 2, note: 'The total is rounded twice', tokens: 2450 });
      expect(item.untrusted_fields).to.include('claim.note');
      expect((activity as { data: object }[])[1]?.data).to.include({
        note: 'The total is rounded twice',
        tokens: 2450,
      });
      await fixture.leases.release(id, ONE, { claim_token });
      expect((await claim(id, TWO)).item.claim).to.not.have.any.keys('note', 'tokens');
    });

    it('returns the requester of a feature', async () => {
      const id = await made({ type: 'feature', reporter: 'Ada' });
      expect((await fixture.lists.getDetail(id, MANAGER)).requester).to.equal('Ada');
      const { item } = await claim(id);
      expect((await fixture.lists.getBriefing(item)).requester).to.equal('Ada');
      expect((await fixture.lists.getDetail(await made(), MANAGER)).requester).to.equal(null);
    });

    it('rejects a resolve once when a user’s comment is unread', async () => {
      const id = await made();
      const { claim_token } = (await claim(id)).lease;
      await fixture.comments.add(id, ADA, { body: 'Please keep the old format.' });
      const resolve = { status: 'resolved', claim_token } as const;
      const stopped = await rejected(fixture.edits.edit(id, ONE, resolve));
      expect(stopped.code).to.equal('unread_news');
      expect((stopped['news'] as object[])[0]).to.include({ kind: 'comment', body: 'Please keep the old format.' });
      expect((await shown(fixture, id)).status).to.equal('in_progress');
      expect((await fixture.edits.edit(id, ONE, resolve)).status).to.equal('resolved');
      // Another agent's comment stops nothing, and what the holder has read is no news.
      const other = await made();
      const lease = (await claim(other)).lease;
      await fixture.comments.add(other, TWO, { body: 'Me too.' });
      await fixture.comments.add(other, ADA, { body: 'Thanks.' });
      await fixture.lists.getDetail(other, ONE);
      await fixture.edits.edit(other, ONE, { status: 'resolved', claim_token: lease.claim_token });
    });

    it('reports merges into and splits from an item to its holder', async () => {
      const [id, other] = [await made(), await made()];
      const { claim_token } = (await claim(id)).lease;
      const reported = async (): Promise<unknown[]> =>
        (await fixture.leases.renew(id, ONE, { claim_token })).news.map((one) => {
          const { action, actor, data } = one as { action: string; actor: string; data: { item_id: string } };
          return [action, actor, data.item_id];
        });
      await fixture.merging.merge(other, id, ADA);
      expect(await reported()).to.deep.equal([['merged', 'ada', other]]);
      await fixture.merging.split(other, ADA);
      expect(await reported()).to.deep.equal([['split', 'ada', other]]);
      expect(await reported()).to.deep.equal([]);
    });

    it('retains news for agents that share a token, and rejects a resolve only once for it', async () => {
      const shared = { ...ONE, id: 'tok-shared', name: 'shared' };
      const [mine, other] = [await made(), await made()];
      const { lease } = await fixture.leases.claim(mine, shared, { agent: 'first' });
      const said = async (body: string): Promise<void> => {
        await fixture.comments.add(mine, ADA, { body });
        await fixture.lists.getDetail(mine, shared);
      };
      const renewed = async (): Promise<unknown[]> =>
        (await fixture.leases.renew(mine, shared, { claim_token: lease.claim_token })).news.map(
          (one) => 'body' in one && one.body,
        );
      await said('Alone it is surely read.');
      expect(await renewed()).to.deep.equal([]);
      await fixture.leases.claim(other, shared, { agent: 'second' });
      await said('Not before Monday.');
      await said('And not on Fridays.');
      expect(await renewed()).to.deep.equal(['Not before Monday.', 'And not on Fridays.']);
      expect(await renewed(), 'each once').to.deep.equal([]);
      await said('Please.');
      const resolved = await fixture.edits.editWithDetails(mine, shared, {
        status: 'resolved',
        claim_token: lease.claim_token,
      });
      expect(resolved.news).to.have.lengthOf(1);
      expect(resolved.news?.[0]).to.include({ body: 'Please.' });
    });

    it('counts waiting items by reason', async () => {
      const tags = ['waiting'];
      const filter = { tags: { has: 'waiting' } } as const;
      const [mine, reserved] = [await made({ tags }), await made({ tags })];
      await made({ tags, target_agent: 'other' });
      await fixture.bugs.record(
        errorReport({ tags, title: 'E: muted', error_message: 'muted', muted_by: { rule_id: 'r', reason: 'noise' } }),
      );
      await claim(reserved, TWO);
      const { lease } = await claim(mine);
      await fixture.leases.release(mine, ONE, { claim_token: lease.claim_token });
      const { waiting } = (await fixture.nextItem.reserveNext(ONE, {}, filter)) as { waiting: object };
      expect(waiting).to.deep.equal({
        reserved: 1,
        on_hold: 0,
        blocked: 0,
        released_by_you: 1,
        for_others: 1,
        muted: 1,
      });
    });

    it('waits for an item for the requested time and claims the first available', async () => {
      const filter = { tags: { has: 'later' } } as const;
      const waiting = fixture.nextItem.reserveNext(ONE, { wait_seconds: 25 }, filter);
      const id = await made({ tags: ['later'] });
      fixture.arrivals.notifyAll();
      expect((await waiting).item).to.include({ id });
      const gone = new AbortController();
      const left = fixture.nextItem.reserveNext(ONE, { wait_seconds: 25 }, filter, {
        waiting: gone.signal,
        reauthorize: async () => undefined,
      });
      gone.abort();
      expect((await left).item).to.equal(null);
    });

    it('allows max_claims live leases per credential and agent, also concurrently', async () => {
      const filter = { tags: { has: 'quota' } } as const;
      for (let i = 0; i < 6; i++) await made({ tags: ['quota'] });
      const before = fixture.deps.config.max_claims;
      fixture.deps.config.max_claims = 3;
      try {
        const caller = { ...ONE, id: 'tok-greedy' };
        const codes = await Promise.all(
          Array.from({ length: 6 }, async () => codeOf(fixture.nextItem.reserveNext(caller, {}, filter))),
        );
        expect(codes.filter((code) => code === 'none')).to.have.lengthOf(3);
        expect(codes.filter((code) => code === 'too_many_claims')).to.have.lengthOf(3);
        const held = await fixture.deps.items.find({ filter: { 'claim.credential': 'tok-greedy' }, limit: 10 });
        expect(held.items).to.have.lengthOf(3);
        await fixture.edits.edit(held.items[0]!.id, ADA, { status: 'closed', force: true, reason: 'gone' });
        expect((await fixture.nextItem.reserveNext(caller, {}, filter)).item).to.not.equal(null);
        expect((await fixture.nextItem.reserveNext(caller, { agent: 'another' }, filter)).item).to.not.equal(null);
      } finally {
        fixture.deps.config.max_claims = before;
      }
    });

    it('enforces max_claims across processes, for any distribution', async () => {
      const filter = { tags: { has: 'shared' } } as const;
      for (let i = 0; i < 40; i++) await made({ tags: ['shared'] });
      const caller = { ...ONE, id: 'tok-many' };
      const processes = [1, 2, 3].map(() =>
        fixtureOn(fixture.store, fixture.clock, (deps) => {
          deps.transact = null;
          deps.config = { ...deps.config, max_claims: 7 };
        }),
      );
      const round = (): Promise<string[]> =>
        Promise.all(
          Array.from({ length: 21 }, async (_, i) =>
            codeOf(processes[i % 3]!.nextItem.reserveNext(caller, {}, filter)),
          ),
        );
      const held = (): Promise<number> => fixture.deps.items.count({ 'claim.credential': 'tok-many' });
      const first = await round();
      expect(first.filter((code) => code === 'none')).to.have.lengthOf(7);
      expect(first.filter((code) => code === 'too_many_claims')).to.have.lengthOf(14);
      expect(await held()).to.equal(7);
      // Places are free again when leases end, by whichever process, and when they run out.
      const { items } = await fixture.deps.items.find({ filter: { 'claim.credential': 'tok-many' } });
      const end = { status: 'closed', force: true, reason: 'gone' } as const;
      for (const { id } of items.slice(0, 3)) await processes[0]!.edits.edit(id, ADA, end);
      expect((await round()).filter((code) => code === 'none')).to.have.lengthOf(3);
      expect(await held()).to.equal(7);
      fixture.clock.advance(3_600_000);
      const open = await made({ tags: ['by-name'] });
      expect(await codeOf(processes[1]!.leases.claim(open, caller, {}))).to.equal('none');
      expect((await round()).filter((code) => code === 'none')).to.have.lengthOf(6);
      for (const one of processes) await settled(one);
    });

    it('grants concurrent claims the free slots, and rejects no call when there is no item', async () => {
      const filter = { tags: { has: 'places' } } as const;
      for (let i = 0; i < 8; i++) await made({ tags: ['places'] });
      const before = fixture.deps.config.max_claims;
      fixture.deps.config.max_claims = 8;
      try {
        const caller = { ...ONE, id: 'tok-busy' };
        const next = (): Promise<string> => codeOf(fixture.nextItem.reserveNext(caller, {}, filter));
        for (let i = 0; i < 3; i++) expect(await next()).to.equal('none');
        // What was granted is not at hand any longer.
        fixture.clock.advance(2_000);
        expect(await Promise.all(Array.from({ length: 5 }, next))).to.deep.equal(Array(5).fill('none'));
        const held = await fixture.deps.items.count({ 'claim.credential': 'tok-busy' });
        expect(held).to.equal(8);
        fixture.deps.config.max_claims = 10;
        expect(await Promise.all(Array.from({ length: 12 }, next))).to.deep.equal(Array(12).fill('none'));
      } finally {
        fixture.deps.config.max_claims = before;
      }
    });

    it('lets an agent set a severity without locking it', async () => {
      const id = await made();
      const { claim_token } = (await claim(id)).lease;
      const edit = { severity: 'high', claim_token } as const;
      expect(await fixture.edits.edit(id, byTool(ONE), edit)).to.include({ severity: 'high', severity_locked: false });
      expect(await fixture.edits.edit(id, ONE, { severity: 'low', claim_token })).to.include({ severity_locked: true });
    });

    it('converts between bug and feature, but never converts errors', async () => {
      const id = await made();
      expect((await fixture.edits.edit(id, ONE, { type: 'feature' })).type).to.equal('feature');
      expect((await fixture.edits.edit(id, ONE, { type: 'bug' })).type).to.equal('bug');
      const error = (await fixture.bugs.record(errorReport())).id;
      expect(await codeOf(fixture.edits.edit(error, ONE, { type: 'bug' }))).to.equal('validation_failed');
    });
  });
