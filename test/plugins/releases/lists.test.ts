/** The delta query of releases (contract 00, lists). */
import 'reflect-metadata';
import { expect } from 'chai';
import type { ReleaseDeps } from '../../../plugins/releases/deps.js';
import { createReleaseTopic } from '../../../plugins/releases/pages/live.js';
import { HOUR_MS, MINUTE_MS } from '../../../lib/time.js';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { ManualClock } from '../access/fixture.js';
import { CI, ensureCollections, fixtureOn, memoryFixture } from './fixture.js';

describe('releases: list of changes', function () {
  it('hides no change when the clock moves backwards, and is unchanged once it catches up', async () => {
    let deps!: ReleaseDeps;
    const f = await memoryFixture((made) => (deps = made));
    const hours = (n: number): void => f.clock.put(n * HOUR_MS);
    const ask = async (updated_since: string): Promise<{ versions: string[]; mark: string }> => {
      const { items, server_time = '' } = await f.lists.listPage(CI, {
        limit: 50,
        include_total: false,
        updated_since,
      });
      return { versions: items.map(({ version }) => version), mark: server_time };
    };
    await f.publish('1.0.0');
    hours(3);
    await f.publish('1.1.0');
    f.clock.forward(2 * MINUTE_MS);
    const { mark: ahead } = await ask('2000-01-01T00:00:00.000Z');
    hours(-3);
    const live = createReleaseTopic(deps);
    const shown = await live.getRevision('');
    await f.publish('1.2.0');
    expect(await live.getRevision('')).not.to.equal(shown);
    f.clock.forward(2 * MINUTE_MS);
    const reported = await ask(ahead);
    expect(reported.versions).to.include('1.2.0').and.not.include('1.0.0');
    await f.publish('1.3.0');
    for (const mark of [ahead, reported.mark]) expect((await ask(mark)).versions).to.include('1.3.0');
    hours(6);
    const { mark } = await ask(ahead);
    f.clock.forward(2 * MINUTE_MS);
    await f.publish('1.4.0');
    expect((await ask(mark)).versions).to.deep.equal(['1.4.0']);
    // Put back and right again between two questions.
    const { mark: before } = await ask(mark);
    hours(-1);
    await f.publish('1.5.0');
    f.clock.forward(MINUTE_MS);
    hours(1);
    await f.publish('1.6.0');
    expect((await ask(before)).versions).to.include.members(['1.5.0', '1.6.0']);
    await f.index.stop();
  });

  it('hides no change when the clock moves backwards while no process runs', async () => {
    const store = await ensureCollections(new MemoryStore());
    const f = fixtureOn(store);
    await f.publish('1.0.0');
    const right = f.clock.now();
    f.clock.put(3 * HOUR_MS);
    await f.publish('1.1.0');
    f.clock.forward(2 * MINUTE_MS);
    const listed = (of: typeof f, updated_since: string) =>
      of.lists.listPage(CI, { limit: 50, include_total: false, updated_since });
    const { server_time = '' } = await listed(f, '2000-01-01T00:00:00.000Z');
    await f.index.stop();
    const clock = new ManualClock();
    clock.put(right + HOUR_MS - clock.now());
    const next = fixtureOn(store, f.releaseStore, clock);
    await next.stamps.start();
    await next.publish('1.2.0');
    expect((await listed(next, server_time)).items.map(({ version }) => version)).to.include('1.2.0');
    await next.index.stop();
  });
});
