/**
 * The live topics of monitors: a mark moves with what its pages show, and stays while nothing
 * happens.
 */
import 'reflect-metadata';
import { expect } from 'chai';
import { buildMonitorTopics } from '../../../../plugins/watchdog/pages/live-topics.js';
import { memoryFixture } from '../fixture.js';

describe('watchdog: live topics', () => {
  it('detects a heartbeat that changes neither the first nor the last due time', async () => {
    const fixture = await memoryFixture();
    const topic = buildMonitorTopics(fixture.deps, fixture).find(({ name }) => name === 'heartbeats');
    const mark = async (): Promise<string | undefined> => topic?.getRevision('');
    const without = await mark();
    await fixture.beat('soon', { interval: 60 });
    await fixture.beat('between', { interval: 3_600 });
    await fixture.beat('late', { interval: 86_400 });
    const before = await mark();
    expect(before).to.not.equal(without);
    expect(await mark()).to.equal(before);
    fixture.clock.advance(1_000);
    await fixture.beat('between', { interval: 3_600 });
    expect(await mark()).to.not.equal(before);
  });
});
