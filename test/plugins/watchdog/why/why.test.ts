/** Why a monitor is down, in one sentence, and what changed before it (contract 30). */
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { parseHeartbeat } from '../../../../plugins/watchdog/heartbeat/heartbeat.js';
import { formatElapsed } from '../../../../lib/time.js';
import { ANYONE, ensureCollections, HOUR, MINUTE, fixtureOn, type Fixture } from '../fixture.js';

describe('explanation why a monitor is down', () => {
  let fixture: Fixture;
  beforeEach(async () => (fixture = fixtureOn(await ensureCollections(new MemoryStore()))));
  afterEach(() => fixture.settled());

  const why = async (source: string, probed = false): Promise<string | undefined> =>
    (await fixture.explanations.explain(await fixture.monitors.getMonitor(source, ANYONE), probed))?.why;
  const fail = (source: string, message: string | null) =>
    fixture.intake.recordHeartbeat(parseHeartbeat({ source, status: 'error', message }, undefined, true), ANYONE);

  it('formats durations with two units', () => {
    expect([0, 999, 344_000, 3_600_000, 90_061_000, 86_405_000].map(formatElapsed)).to.deep.equal([
      '0 s',
      '1 s',
      '5 min 44 s',
      '1 h',
      '1 d 1 h',
      '1 d',
    ]);
  });

  it('states the silence, the expected interval, the parent and the siblings', async () => {
    await fixture.beat('rack-3', { interval: 3600 });
    for (const source of ['a', 'b', 'c', 'd']) {
      await fixture.beat(source, { interval: source === 'd' ? 3600 : 60, message: 'ok' });
      await fixture.monitors.update(source, { parent_source: 'rack-3' }, ANYONE);
    }
    expect(await why('a')).to.equal(undefined);
    fixture.clock.advance(5 * MINUTE + 44_000);
    await fixture.evaluate();
    expect(await why('a')).to.equal(
      'No heartbeat for 5 min 44 s; expected every 1 min; its parent rack-3 is up; 2 of 3 siblings went down within the same minute.',
    );
  });

  it('states what was reported and what a probe observed', async () => {
    await fail('a', 'disk full.');
    expect(await why('a')).to.equal('An error was reported: disk full.');
    await fail('b', null);
    expect(await why('b')).to.equal('An error was reported.');
    expect(await why('a', true)).to.equal('The last check failed: disk full.');
  });

  it('states the schedule and an unfinished run', async () => {
    await fixture.monitors.create({ source: 'n', schedule: '0 3 * * *', grace_seconds: 1800 }, ANYONE);
    await fixture.beat('n');
    fixture.clock.advance(48 * HOUR);
    await fixture.evaluate();
    expect(await why('n')).to.equal('No heartbeat for 2 d; expected by 0 3 * * * (UTC) with a grace period of 30 min.');
    await fixture.beat('n');
    fixture.clock.advance(1000);
    await fixture.intake.recordRunStart('n', ANYONE, { run: '', interval: null });
    fixture.clock.advance(HOUR);
    await fixture.evaluate();
    expect(await why('n')).to.equal('A run that started 1 h ago exceeded its limit of 30 min.');
  });

  it('lists changes of the day before: project releases, and annotations of the monitor and ancestors', async () => {
    await fixture.monitors.create({ source: 'p', project: 'shop' }, ANYONE);
    await fixture.monitors.create({ source: 'a', project: 'shop', parent_source: 'p' }, ANYONE);
    const { clock, explanations, timeline } = fixture;
    await timeline.annotate({ source: 'a', type: 'deploy', message: 'too old' }, ANYONE);
    clock.advance(25 * HOUR);
    await timeline.annotate({ source: 'p', type: 'deploy', message: '1.4.2 goes out' }, ANYONE);
    clock.advance(1000);
    await explanations.recordRelease('evt_1', clock.iso(), 'shop', 'shop 1.4.2 in stable');
    await explanations.recordRelease('evt_1', clock.iso(), 'shop', 'shop 1.4.2 in stable');
    await explanations.recordRelease('evt_2', clock.iso(), 'other', 'other 2 in stable');
    clock.advance(1000);
    await fail('a', 'x');
    clock.advance(1000);
    await timeline.annotate({ source: 'a', type: 'note', message: 'afterwards' }, ANYONE);
    const explained = await explanations.explain(await fixture.monitors.getMonitor('a', ANYONE), false);
    expect(explained?.changes.map(({ type, text, source }) => `${type} ${text} ${source}`)).to.deep.equal([
      'release shop 1.4.2 in stable null',
      'deploy 1.4.2 goes out p',
    ]);
  });
});
