/** Retries on a machine whose clock is put ahead and back (contract 95, a bad day). */
import { expect } from 'chai';
import { memoryFixture, fixtureOn, MovedClock, type Fixture } from '../fixture.js';
import { Receiver, status } from '../receiver.js';

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;
/** The first retry of the schedule, with what chance may add. */
const FIRST_MS = 12_001;

describe('webhook retries when the clock steps', function () {
  let fixture: Fixture;
  let to: Receiver;
  beforeEach(async () => {
    fixture = await memoryFixture();
    to = await Receiver.open(status(500));
    await fixture.hook(to.url);
    await fixture.emit();
    await fixture.workers.waitUntilIdle();
    expect(to.got).to.have.length(1);
  });
  afterEach(async () => {
    await fixture.close();
    await to.close();
  });

  for (const [name, ms] of Object.entries({ 'an hour': -HOUR_MS, 'a year': -YEAR_MS })) {
    it(`back by ${name}: sends a retry at its original time`, async () => {
      fixture.clock.put(ms);
      await fixture.turn();
      expect(to.got).to.have.length(1);
      fixture.clock.advance(FIRST_MS);
      await fixture.turn();
      expect(to.got).to.have.length(2);
    });
  }

  it('ahead by an hour: sends a retry immediately, and the next at its regular delay', async () => {
    fixture.clock.put(HOUR_MS);
    await fixture.turn();
    expect(to.got).to.have.length(2);
    fixture.clock.advance(FIRST_MS);
    await fixture.turn();
    expect(to.got).to.have.length(2);
    fixture.clock.advance(60_000);
    await fixture.turn();
    expect(to.got).to.have.length(3);
  });

  it('finds pending deliveries in a process that starts after the clock moved backwards', async () => {
    await fixture.close();
    const next = fixtureOn(fixture.store, { clock: new MovedClock(-YEAR_MS) });
    fixture = next;
    await next.turn();
    next.clock.advance(2 * 60_000 + 1);
    await next.turn();
    expect(to.got).to.have.length(2);
  });

  it('does not change a retry of another process that waits no longer than its schedule', async () => {
    await fixture.close();
    const [before] = await fixture.deliveries();
    const next = fixtureOn(fixture.store, { clock: new MovedClock(-3_000) });
    fixture = next;
    await next.turn();
    expect((await next.deliveries())[0]?.next_at).to.equal(before?.next_at);
  });
});
