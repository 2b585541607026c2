/** Monitors whose heartbeats are probes of the service itself (contract 30, amendments: probes). */
import { expect } from 'chai';
import { parseHeartbeat } from '../../../../plugins/watchdog/heartbeat/heartbeat.js';
import { ANYONE, memoryFixture, MINUTE, type Fixture } from '../fixture.js';

describe('watchdog: probed monitors', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await memoryFixture();
  });
  const seen = (status: string, probed = true) =>
    fixture.intake.recordHeartbeat(
      { ...parseHeartbeat({ source: 'shop', status, interval: 20 }, undefined, true), probed },
      ANYONE,
    );

  it('become unknown without an alarm when not probed in time, and recover with the next probe', async () => {
    await seen('ok');
    for (const [after, state] of [
      [41_000, 'up'],
      [39_000, 'up'],
      [1_000, 'unknown'],
      [10 * MINUTE, 'unknown'],
    ] as const) {
      fixture.clock.advance(after);
      await fixture.evaluate();
      expect((await fixture.monitor('shop')).state).to.equal(state);
    }
    expect([...fixture.told, ...fixture.notices]).to.deep.equal([]);
    expect(await seen('ok')).to.include({ previous_state: 'unknown', state: 'up' });
    await seen('error');
    fixture.clock.advance(10 * MINUTE);
    await fixture.evaluate();
    expect(await fixture.monitor('shop'), 'known to be down').to.include({ state: 'down', alarm: 'open' });
  });

  it('go down by silence when their last heartbeat was sent by the monitored host', async () => {
    await seen('ok');
    await seen('ok', false);
    fixture.clock.advance(81_000);
    await fixture.evaluate();
    expect(await fixture.monitor('shop')).to.include({ state: 'down', alarm: 'open' });
  });
});
