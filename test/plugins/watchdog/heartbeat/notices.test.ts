/**
 * Events that are no alarms, and what every event says of its reason (contract 30, amendments:
 * events).
 */
import { expect } from 'chai';
import { parseHeartbeat } from '../../../../plugins/watchdog/heartbeat/heartbeat.js';
import { ANYONE, memoryFixture, MINUTE, type Fixture } from '../fixture.js';

describe('watchdog events', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await memoryFixture();
  });
  const notices = async (): Promise<[string, string, string | null][]> => {
    await fixture.settled();
    return fixture.notices.map(({ event, data }) => [event, data.source, data.reason]);
  };

  for (const [what, body, reason] of [
    [
      'a failed check',
      { checks: { disk: { ok: false, message: '99 %' }, db: { ok: true } } },
      'A check failed: disk: 99 %',
    ],
    ['a reported warning', { status: 'warning', message: 'slow' }, 'A warning was reported: slow'],
    ['a reported error', { status: 'error' }, 'An error was reported'],
  ] as const)
    it(`emits monitor.warning once for ${what}, with its reason`, async () => {
      await fixture.beat('a');
      await fixture.beat('a', body);
      await fixture.beat('a', body);
      expect(await notices()).to.deep.equal([['monitor.warning', 'a', reason]]);
      expect(fixture.notices[0]?.data).to.include({ name: 'a', state: 'warning', previous_state: 'up' });
      await fixture.beat('a');
      await fixture.beat('a', body);
      expect(await notices()).to.have.lengthOf(2);
    });

  it('emits monitor.warning for silence, but not while an ancestor is down', async () => {
    await fixture.monitors.create({ source: 'parent' }, ANYONE);
    await fixture.monitors.create({ source: 'child', parent_source: 'parent' }, ANYONE);
    for (const source of ['parent', 'child', 'other']) await fixture.beat(source, { interval: 60 });
    await fixture.beat('parent', { status: 'down' });
    fixture.clock.advance(2 * MINUTE + 1);
    await fixture.evaluate();
    expect(await notices()).to.deep.equal([
      ['monitor.warning', 'other', 'No heartbeat for 2 min; expected every 1 min'],
    ]);
    await fixture.beat('child', { interval: 60 });
    await fixture.beat('child', { status: 'warning', interval: 60 });
    expect(await notices()).to.have.lengthOf(1);
  });

  it('emits monitor.certificate_expiring once per threshold, and again after a renewal', async () => {
    const see = async (days_left: number, status = 'ok'): Promise<void> => {
      const checks = { answer: { ok: status === 'ok' }, certificate: { ok: days_left >= 14, message: 'x' } };
      const certificate = { days_left, expires_at: '2027-01-01T00:00:00.000Z', warn_days: 14 };
      const seen = parseHeartbeat({ source: 'tls', status, checks, certificate }, undefined, true);
      await fixture.intake.recordHeartbeat({ ...seen, probed: true, unsure: status === 'warning' }, ANYONE);
    };
    for (const days of [20, 14, 13, 13, 8, 6, 6, 2, 0, 90, 12]) await see(days);
    await fixture.settled();
    expect(fixture.notices.map(({ event, data }) => [event, data.days_left])).to.deep.equal(
      [13, 6, 2, 0, 12].map((days) => ['monitor.certificate_expiring', days]),
    );
    expect(fixture.notices[0]?.data).to.include({ days_left: 13, expires_at: '2027-01-01T00:00:00.000Z' });
    expect(fixture.told).to.deep.equal([]);
    await see(12, 'warning');
    expect(await notices(), 'a first failed try').to.have.lengthOf(5);
  });
});
