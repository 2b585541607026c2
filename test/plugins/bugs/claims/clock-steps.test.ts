/**
 * Leases on a machine whose clock is put forward and back (contract 95, a bad day). The monotonic
 * clock goes on.
 */
import { expect } from 'chai';
import type { BugCaller } from '../../../../plugins/bugs/caller.js';
import type { GrantedLease } from '../../../../plugins/bugs/claims/leases.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../lib/time.js';
import { ManualClock } from '../../../kit/clock.js';
import type { OpenedStore } from '../../../support/stores.js';
import type { BugDeps } from '../../../../plugins/bugs/deps.js';
import { codeOf, ENGINES, fixtureOn, MANAGER, report, shown, type Fixture } from '../fixture.js';

const OTHER: BugCaller = { ...MANAGER, id: 'tok-other', name: 'other' };
const YEAR_MS = 365 * DAY_MS;
const STEPS = { 'an hour back': -HOUR_MS, 'a year back': -YEAR_MS, 'an hour ahead': HOUR_MS, 'a year ahead': YEAR_MS };

for (const engine of ENGINES) {
  describe(`bugs on ${engine.name}: leases when the clock steps`, () => {
    let opened: OpenedStore;
    let clock: ManualClock;
    let first: Fixture;
    let id: string;
    const open: Fixture[] = [];
    /** A process over the store. @param time of its machine */
    const process = (time = clock, change?: (deps: BugDeps) => void): Fixture => {
      const fixture = fixtureOn(opened.store, time, change);
      open.push(fixture);
      return fixture;
    };
    beforeEach(async function () {
      opened = await engine.open(() => this.skip());
      clock = new ManualClock();
      first = process();
      ({ id } = await first.bugs.record(report()));
    });
    afterEach(async () => {
      for (const fixture of open.splice(0)) await fixture.jobs.stop();
      await opened?.close();
    });

    const step = (ms: number, time = clock): void => time.set(time.now() + ms);
    const claim = (lease_seconds: number, by = first): Promise<GrantedLease> =>
      by.leases.claim(id, MANAGER, { agent: 'a', lease_seconds });
    async function expectRefused(by: Fixture): Promise<void> {
      await by.jobs.sweep();
      expect((await by.nextItem.reserveNext(OTHER, { agent: 'b' }, {})).item).to.equal(null);
      expect(await codeOf(by.leases.claim(id, OTHER, { agent: 'b' }))).to.equal('already_claimed');
    }
    async function expectHeld(by = first): Promise<void> {
      await expectRefused(by);
      expect((await shown(by, id)).status).to.equal('in_progress');
    }
    async function expectFree(by = first): Promise<void> {
      expect((await shown(by, id)).status).to.equal('open');
      expect((await by.nextItem.reserveNext(OTHER, { agent: 'b' }, {})).item).to.include({ id });
    }
    /** How much longer the lease lasts, as the API tells it. */
    const left = async (by = first): Promise<number> =>
      Date.parse((await shown(by, id)).claim?.expires_at ?? '') - by.clock.now();

    for (const [name, ms] of Object.entries(STEPS)) {
      it(`clock step of ${name}: preserves the duration of a lease and shows its end`, async () => {
        const { lease } = await claim(1_800);
        clock.advance(10 * MINUTE_MS);
        step(ms);
        await expectHeld();
        expect(await left()).to.equal(20 * MINUTE_MS);
        clock.advance(20 * MINUTE_MS - 1);
        await expectHeld();
        clock.advance(1);
        const { claim_token } = lease;
        expect(await codeOf(first.leases.renew(id, MANAGER, { claim_token }))).to.equal('lease_lost');
        await expectFree();
      });

      it(`clock step of ${name}: gives a lease created or renewed afterwards its full duration`, async () => {
        const { lease } = await claim(60);
        step(ms);
        const { claim_token } = lease;
        await first.leases.renew(id, MANAGER, { claim_token, lease_seconds: 600 });
        expect(await left()).to.equal(10 * MINUTE_MS);
        await first.leases.release(id, MANAGER, { claim_token });
        const next = await first.nextItem.reserveNext(OTHER, { agent: 'a', lease_seconds: 60 }, {});
        expect(next.item).to.include({ id });
        clock.advance(MINUTE_MS - 1);
        expect((await shown(first, id)).status).to.equal('in_progress');
        clock.advance(1);
        expect((await shown(first, id)).status).to.equal('open');
      });

      it(`clock step of ${name}: limits a lease to 24 hours in total`, async () => {
        const { lease } = await claim(14_400);
        const { claim_token } = lease;
        step(ms);
        for (let hours = 0; hours < 24; hours += 3) {
          await first.leases.renew(id, MANAGER, { claim_token });
          clock.advance(3 * HOUR_MS);
        }
        expect(await codeOf(first.leases.renew(id, MANAGER, { claim_token }))).to.equal('lease_limit');
      });

      it(`clock step of ${name}: applies to all processes of the machine, also later ones`, async () => {
        const second = process();
        await looksOnce(second);
        await claim(1_800);
        step(ms);
        await Promise.all([first.jobs.sweep(), second.jobs.sweep()]);
        for (const one of [first, second, process()]) {
          await expectHeld(one);
          expect(await left(one)).to.equal(30 * MINUTE_MS);
        }
        clock.advance(30 * MINUTE_MS);
        await expectFree(second);
      });

      it(`clock step of ${name} on one machine: ends no lease granted by another machine early`, async () => {
        const there = new ManualClock(clock.now());
        // The store has more than one process, as an embedded store never has.
        const withoutTransactions = (deps: BugDeps): void => void (deps.transact = null);
        const [here, other] = [process(clock, withoutTransactions), process(there, withoutTransactions)];
        await here.jobs.sweep();
        await claim(1_800, other);
        step(ms);
        await expectRefused(here);
        await expectHeld(other);
        for (const time of [clock, there]) time.advance(30 * MINUTE_MS - 1);
        await here.jobs.sweep();
        await expectHeld(other);
        for (const time of [clock, there]) time.advance(1);
        await expectFree(other);
      });
    }

    /** Nothing to do yet but to look once, as a process that serves already has. */
    async function looksOnce(by: Fixture): Promise<void> {
      await by.jobs.sweep();
      expect((await shown(by, id)).status).to.equal('open');
    }

    it('two opposite steps leave a lease unchanged', async () => {
      await claim(600);
      step(HOUR_MS);
      await expectHeld();
      step(-HOUR_MS);
      expect(await left()).to.equal(10 * MINUTE_MS);
      clock.advance(10 * MINUTE_MS);
      await expectFree();
    });

    it('shortens a lease written by a machine whose clock was a year ahead', async () => {
      await claim(1_800, process(new ManualClock(clock.now() + YEAR_MS)));
      const later = process();
      await later.jobs.sweep();
      expect(await left(later)).to.be.within(MINUTE_MS, 30 * MINUTE_MS);
      clock.advance(30 * MINUTE_MS);
      await expectFree(later);
    });
  });
}
