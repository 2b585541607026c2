/** Floating seats over every engine: leases, renewal, release, clocks (contract 97). */
import 'reflect-metadata';
import { expect } from 'chai';
import { verifyLicenseAnswer } from '../../../lib/formats/license-file.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../lib/time.js';
import type { LicenseDoc } from '../../../plugins/licensing/model/documents.js';
import { ManualClock } from '../../kit/clock.js';
import { getRejection } from '../../harness.js';
import { ADMIN, fixtureOn, memoryFixture, STORES, type Fixture } from './fixture.js';

interface Answer extends Record<string, unknown> {
  status: string;
  valid: boolean;
  lease: { id: string; expires_at: string } | null;
  seats: { used: number; max: number | null };
}

const ask = (f: Fixture, key: string, machine_id: string | null, more: object = {}, takesSeat = true) =>
  f.online.validate(key, { product: 'shop', machine_id, ...more }, { takesSeat, warnings: [] }) as Promise<Answer>;
const createFloating = (f: Fixture, more: object = {}): Promise<{ doc: LicenseDoc; key: string }> =>
  f.license({ floating: true, max_activations: 2, ...more });

describe('licensing: floating seats', () => {
  let f: Fixture;
  beforeEach(async () => {
    f = await memoryFixture();
  });
  afterEach(() => f.settled());

  it('takes a lease for 900 s by default, and renews it under the same id', async () => {
    const { doc, key } = await createFloating(f);
    const first = await ask(f, key, 'a', { nonce: 'n' });
    const expires_at = new Date(f.clock.now() + 900 * SECOND_MS).toISOString();
    expect(first).to.deep.include({ status: 'active', valid: true, activation: null, seats: { used: 1, max: 2 } });
    expect(first.lease).to.include({ expires_at });
    const { pem } = f.signer;
    const requested = { keySha256: doc.key_sha256, product: 'shop', machineId: 'a', nonce: 'n' };
    expect(verifyLicenseAnswer(JSON.parse(JSON.stringify(first)), pem, requested)).to.deep.equal({ valid: true });
    expect(verifyLicenseAnswer({ ...first, lease: null }, pem, requested).valid).to.equal(false);
    const { signature: _, ...covered } = first;
    expect(Object.keys(covered)).to.deep.equal(Object.keys(covered).sort());
    f.clock.advance(10 * MINUTE_MS);
    const again = await ask(f, key, 'a');
    expect(again.lease).to.deep.equal({
      id: first.lease?.id,
      expires_at: new Date(f.clock.now() + 900 * SECOND_MS).toISOString(),
    });
    expect(again.seats.used).to.equal(1);
  });

  it('returns no_seat_free when all seats are in use, and frees an ended lease without a job', async () => {
    const { key } = await createFloating(f, { lease_seconds: 60 });
    await ask(f, key, 'a');
    f.clock.advance(30 * SECOND_MS);
    await ask(f, key, 'b');
    expect(await ask(f, key, 'c')).to.deep.include({
      status: 'no_seat_free',
      valid: false,
      lease: null,
      seats: { used: 2, max: 2 },
    });
    f.clock.advance(30 * SECOND_MS);
    expect(await ask(f, key, 'c')).to.deep.include({ status: 'active', seats: { used: 2, max: 2 } });
    expect((await ask(f, key, 'a')).status).to.equal('no_seat_free');
  });

  it('renews an ended lease under the same id while its seat is free', async () => {
    const { key } = await createFloating(f, { lease_seconds: 60 });
    const { lease } = await ask(f, key, 'a');
    f.clock.advance(2 * MINUTE_MS);
    expect(await ask(f, key, null)).to.deep.include({ seats: { used: 0, max: 2 } });
    expect((await ask(f, key, 'a')).lease?.id).to.equal(lease?.id);
  });

  it('assigns overdraft seats beyond the maximum, and no more', async () => {
    const { key } = await createFloating(f, { overdraft: 1 });
    const requested = [];
    for (const machine of ['a', 'b', 'c', 'd']) requested.push(await ask(f, key, machine));
    expect(requested.map(({ status }) => status)).to.deep.equal(['active', 'active', 'active', 'no_seat_free']);
    expect(requested.at(-1)?.seats).to.deep.equal({ used: 3, max: 2 });
  });

  it('releases a lease by its id, repeatedly, and gives the machine another one later', async () => {
    const { key } = await createFloating(f, { max_activations: 1 });
    const first = (await ask(f, key, 'a')).lease;
    expect(await f.seats.release(first!.id)).to.include({ lease_id: first!.id });
    expect(await f.seats.release(first!.id)).to.include({ lease_id: first!.id });
    expect(await f.seats.release('00000000-0000-4000-8000-000000000000')).to.equal(null);
    expect((await ask(f, key, 'b')).status).to.equal('active');
    expect((await ask(f, key, 'a')).status).to.equal('no_seat_free');
    // A repeated release does not touch the seat that another machine took.
    expect(await f.seats.release(first!.id)).to.include({ lease_id: first!.id });
    expect(await ask(f, key, null)).to.deep.include({ seats: { used: 1, max: 1 } });
    f.clock.advance(2 * DAY_MS);
    expect(await f.seats.removeReleased()).to.equal(1);
    expect(await f.seats.release(first!.id)).to.equal(null);
  });

  it('takes floating seats for unstable machines, and no fixed ones', async () => {
    const unstable = { machine_unstable: true };
    const { key } = await createFloating(f, { max_activations: 1 });
    const answer = await ask(f, key, 'c-1', unstable);
    expect(answer).to.include({ status: 'active' }).and.not.have.property('warnings');
    expect(answer.lease).to.not.equal(null);
    expect((await ask(f, key, 'c-2', unstable)).status).to.equal('no_seat_free');
    const fixed = await f.license({ max_activations: 1 });
    const other = await ask(f, fixed.key, 'c-1', unstable);
    expect(other).to.deep.include({ status: 'active', activation: null }).and.not.have.any.keys('lease', 'seats');
    expect(other['warnings']).to.have.length(1);
  });

  it('takes no seat without a machine and by GET', async () => {
    const { key } = await createFloating(f, { max_activations: 1 });
    const free = { status: 'active', lease: null, seats: { used: 0, max: 1 } };
    expect(await ask(f, key, null)).to.deep.include(free);
    expect(await ask(f, key, 'a', {}, false)).to.deep.include(free);
    await ask(f, key, 'a');
    expect(await ask(f, key, 'a', {}, false)).to.deep.include({ ...free, seats: { used: 1, max: 1 } });
    expect((await ask(f, key, 'b', {}, false)).status).to.equal('no_seat_free');
  });

  it('a blocked machine gets no lease', async () => {
    const { doc, key } = await f.license();
    await ask(f, key, 'a');
    const { id } = (await f.machines.find(doc, 'a'))!;
    await f.activations.applyTransition(ADMIN, doc.id, id, 'block');
    await f.licenses.update(ADMIN, doc.id, { floating: true });
    expect(await ask(f, key, 'a')).to.deep.include({ status: 'machine_blocked', valid: false, lease: null });
  });

  it('a lower maximum counts at the next renewal', async () => {
    const { doc, key } = await createFloating(f, { max_activations: 3 });
    for (const machine of ['a', 'b', 'c']) await ask(f, key, machine);
    await f.licenses.update(ADMIN, doc.id, { max_activations: 1 });
    expect((await ask(f, key, 'd')).status).to.equal('no_seat_free');
    for (const machine of ['c', 'b', 'a']) await ask(f, key, machine);
    expect(await ask(f, key, null)).to.deep.include({ seats: { used: 1, max: 1 } });
    expect((await ask(f, key, 'a')).status).to.equal('active');
  });

  it('an unlimited floating license has a seat for every machine', async () => {
    const { key } = await createFloating(f, { max_activations: null });
    for (let n = 1; n <= 5; n++) expect((await ask(f, key, `m${n}`)).seats).to.deep.equal({ used: n, max: null });
  });

  describe('clock steps', () => {
    for (const [name, step] of [
      ['ahead', 3 * HOUR_MS],
      ['back', -3 * HOUR_MS],
    ] as const)
      it(`a clock that steps ${name} neither ends nor prolongs a lease`, async () => {
        const { key } = await createFloating(f, { max_activations: 1 });
        await ask(f, key, 'a');
        f.clock.set(f.clock.now() + step);
        expect((await ask(f, key, 'b')).status).to.equal('no_seat_free');
        f.clock.advance(900 * SECOND_MS);
        expect((await ask(f, key, 'b')).status).to.equal('active');
      });

    it('another machine ends a lease by the time of day, also one from the future', async () => {
      const { key } = await createFloating(f, { max_activations: 1 });
      await ask(f, key, 'a');
      const later = fixtureOn(f.store, { clock: new ManualClock(f.clock.now() + 899 * SECOND_MS), signer: f.signer });
      expect((await ask(later, key, 'b')).status).to.equal('no_seat_free');
      later.clock.advance(SECOND_MS);
      expect((await ask(later, key, 'b')).status).to.equal('active');
      const before = fixtureOn(f.store, { clock: new ManualClock(f.clock.now() - HOUR_MS), signer: f.signer });
      expect((await ask(before, key, 'c')).status).to.equal('active');
    });
  });

  it('issues no file for a floating license', async () => {
    const { doc, key } = await createFloating(f, { grace_days: 3, expires_at: new Date(f.clock.now()).toISOString() });
    const question = { license_key: key, product: 'shop', machine_id: 'a' };
    expect(await f.online.issueRequestedFile(question)).to.deep.equal({ status: 'floating' });
    expect(await f.online.issueFileFor(doc, 'a')).to.deep.equal({ status: 'floating' });
    await f.licenses.applyTransition(ADMIN, doc.id, 'revoke');
    expect(await f.online.issueRequestedFile(question)).to.deep.equal({ status: 'revoked' });
  });

  it('an administrator lists seats and releases one, which the audit log records', async () => {
    const { doc, key } = await createFloating(f);
    for (const machine of ['a', 'b']) await ask(f, key, machine, { machine_name: `Mr ${machine}` });
    const { items, count } = await f.seatAdministration.listPage(ADMIN, doc.id, { limit: 10 });
    expect(items.map(({ machine_id }) => machine_id)).to.deep.equal(['a', 'b']);
    expect(await count()).to.equal(2);
    f.audited.length = 0;
    await f.seatAdministration.release(ADMIN, doc.id, items[0]!.id, 'idle');
    await f.seatAdministration.release(ADMIN, doc.id, items[0]!.id);
    expect(f.audited).to.deep.equal([
      {
        action: 'license.seat_released',
        target: doc.id,
        details: { product: 'shop', lease: items[0]!.id, machine_id: 'a', reason: 'idle' },
        before: { status: 'leased' },
        after: { status: 'released' },
      },
    ]);
    expect((await ask(f, key, 'c')).status).to.equal('active');
    const other = await createFloating(f);
    expect(await getRejection(f.seatAdministration.release(ADMIN, other.doc.id, items[1]!.id))).to.include({
      code: 'not_found',
    });
  });
});

describe('licensing: grace period and entitlements', () => {
  let f: Fixture;
  beforeEach(async () => {
    f = await memoryFixture();
  });
  afterEach(() => f.settled());

  for (const floating of [true, false])
    it(`is valid as grace until grace_days after expiry (${floating ? 'floating' : 'fixed'})`, async () => {
      const expires_at = new Date(f.clock.now() + DAY_MS).toISOString();
      const { doc, key } = await f.license({ floating, grace_days: 2, expires_at, max_activations: 1 });
      const grace_until = new Date(Date.parse(expires_at) + 2 * DAY_MS).toISOString();
      expect(await ask(f, key, 'a')).to.include({ status: 'active', grace_until });
      f.clock.advance(DAY_MS);
      expect(await ask(f, key, 'a')).to.include({ status: 'grace', valid: true, expires_at });
      expect((await f.licenses.getView(ADMIN, doc.id)).status).to.equal('expired');
      expect((await ask(f, key, 'b')).status).to.equal(floating ? 'no_seat_free' : 'machine_limit');
      f.clock.advance(2 * DAY_MS);
      expect(await ask(f, key, 'a')).to.include({ status: 'expired', valid: false });
    });

  it('returns the entitlements in force', async () => {
    const until = new Date(f.clock.now() + DAY_MS).toISOString();
    const { key, doc } = await f.license({ entitlements: [{ name: 'export' }, { name: 'api', until }] });
    expect((await ask(f, key, 'a'))['entitlements']).to.deep.equal([
      { name: 'export', until: null },
      { name: 'api', until },
    ]);
    f.clock.advance(DAY_MS);
    expect((await ask(f, key, 'a'))['entitlements']).to.deep.equal([{ name: 'export', until: null }]);
    await f.licenses.update(ADMIN, doc.id, { entitlements: [] });
    expect(await ask(f, key, 'a')).to.not.have.property('entitlements');
  });

  it('a license that was stored before has the defaults, and an unchanged value changes nothing', async () => {
    const { doc } = await f.license();
    const unset = ['floating', 'lease_seconds', 'overdraft', 'grace_days', 'entitlements'];
    await f.deps.licenses.change({ id: doc.id }, { unset });
    const defaults = { floating: false, lease_seconds: 900, overdraft: 0, grace_days: 0, entitlements: [] };
    f.audited.length = 0;
    expect(await f.licenses.update(ADMIN, doc.id, defaults)).to.deep.include(defaults);
    expect(f.audited).to.deep.equal([]);
  });
});

for (const engine of STORES) {
  describe(`licensing: concurrent leases (${engine.name})`, function () {
    let opened: Awaited<ReturnType<typeof engine.open>>;
    before(async function () {
      opened = await engine.open(() => this.skip());
    });
    after(() => opened?.close());

    it('50 parallel machines in two processes get exactly the maximum and the overdraft', async () => {
      const [a, b] = [fixtureOn(opened.store), fixtureOn(opened.store)];
      const { doc, key } = await createFloating(a, { max_activations: 5, overdraft: 2 });
      const requested = await Promise.all(Array.from({ length: 50 }, (_, i) => ask(i % 2 ? a : b, key, `m${i}`)));
      expect(requested.filter(({ lease }) => lease !== null)).to.have.length(7);
      expect(requested.filter(({ status }) => status === 'no_seat_free')).to.have.length(43);
      expect(await a.seats.countUsed(doc)).to.equal(7);
    });

    it('50 parallel machines share the seats of ended leases exactly', async () => {
      const clock = new ManualClock();
      const [a, b] = [fixtureOn(opened.store, { clock }), fixtureOn(opened.store, { clock })];
      const { doc, key } = await createFloating(a, { max_activations: 4 });
      for (let i = 0; i < 4; i++) await ask(a, key, `old${i}`);
      clock.advance(HOUR_MS);
      const requested = await Promise.all(Array.from({ length: 50 }, (_, i) => ask(i % 2 ? a : b, key, `m${i}`)));
      expect(requested.filter(({ lease }) => lease !== null)).to.have.length(4);
      expect(await a.seats.countUsed(doc)).to.equal(4);
    });

    it('50 parallel calls of one machine share one lease of the last seat', async () => {
      const [a, b] = [fixtureOn(opened.store), fixtureOn(opened.store)];
      const { doc, key } = await createFloating(a, { max_activations: 1 });
      const requested = await Promise.all(Array.from({ length: 50 }, (_, i) => ask(i % 2 ? a : b, key, 'm')));
      expect(new Set(requested.map(({ status, lease }) => `${status} ${lease?.id}`)).size).to.equal(1);
      expect(await a.seats.countUsed(doc)).to.equal(1);
    });

    it('never exceeds or loses seats while machines come and go', async () => {
      const [a, b] = [fixtureOn(opened.store), fixtureOn(opened.store)];
      const { doc, key } = await createFloating(a, { max_activations: 3 });
      for (let round = 0; round < 5; round++) {
        await Promise.all(
          Array.from({ length: 20 }, async (_, i) => {
            const f = i % 2 ? a : b;
            const { lease } = await ask(f, key, `m${i % 7}`);
            if (lease !== null && i % 3 === 0) await f.seats.release(lease.id);
          }),
        );
        expect(await a.seats.countUsed(doc)).to.be.at.most(3);
      }
      for (let i = 0; i < 7; i++) await ask(a, key, `m${i}`);
      expect(await a.seats.countUsed(doc)).to.equal(3);
    });
  });
}
