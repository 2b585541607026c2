/** What the data of `monitor.down` says about the failure (contract 30, amendments). */
import { expect } from 'chai';
import { parseHeartbeat } from '../../../../plugins/watchdog/heartbeat/heartbeat.js';
import type { ReceivedHeartbeat } from '../../../../plugins/watchdog/heartbeat/heartbeat.js';
import { ANYONE, memoryFixture, MINUTE, type Fixture } from '../fixture.js';

describe('watchdog: reasons of alarms', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await memoryFixture();
    await fixture.beat('db-1', { message: 'backup started' });
  });

  const fail = (more: Partial<ReceivedHeartbeat>, message: string | null = null) =>
    fixture.intake.recordHeartbeat(
      { ...parseHeartbeat({ source: 'db-1', status: 'error', message }, undefined, true), ...more },
      ANYONE,
    );

  for (const [what, more, message, expected] of [
    [
      'an exit code with output',
      { exit_code: 3 },
      'disk full',
      { reason: 'Exit code 3', message: 'disk full', exit_code: 3 },
    ],
    ['a failure without output', {}, null, { reason: 'A failure was reported', message: null, exit_code: null }],
    [
      'a failed probe',
      { probed: true },
      'HTTP 503',
      { reason: 'The check failed', message: 'HTTP 503', exit_code: null },
    ],
  ] as [string, Partial<ReceivedHeartbeat>, string | null, object][])
    it(`states ${what}`, async () => {
      await fail(more, message);
      await fixture.settled();
      const [down] = fixture.told;
      expect(down?.event).to.equal('monitor.down');
      expect(down?.data).to.include({ ...expected, name: 'db-1', last_heartbeat_at: down?.at });
    });

  it('states the silence and the message of the last heartbeat', async () => {
    fixture.clock.advance(5 * MINUTE);
    await fixture.evaluate();
    expect(fixture.told[0]?.data).to.include({
      reason: 'No heartbeat for 5 min; expected every 1 min',
      message: 'backup started',
      exit_code: null,
    });
  });

  it('states the earlier report when the alarm was deferred', async () => {
    await fixture.monitors.create({ source: 'host' }, ANYONE);
    await fixture.monitors.update('db-1', { parent_source: 'host' }, ANYONE);
    await fixture.intake.recordHeartbeat(parseHeartbeat({ source: 'host', status: 'error' }, undefined, true), ANYONE);
    await fail({ exit_code: 7 }, 'no route');
    await fixture.beat('host');
    fixture.clock.advance(2 * MINUTE);
    await fixture.evaluate();
    const down = fixture.told.find(({ event, data }) => event === 'monitor.down' && data.source === 'db-1');
    expect(down?.data).to.include({ deferred: true, reason: 'Exit code 7', message: 'no route', exit_code: 7 });
  });
});
