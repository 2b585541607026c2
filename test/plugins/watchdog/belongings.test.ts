import { expect } from 'chai';
import { createProjectUsage } from '../../../plugins/watchdog/project-cleanup.js';
import { ANYONE, memoryFixture } from './fixture.js';

describe('watchdog: monitors of a project', () => {
  it('do not block its deletion once they are deleted, even with a pending event', async () => {
    let tell = (): void => undefined;
    const telling = new Promise<void>((resolve) => (tell = resolve));
    const fixture = await memoryFixture((deps) => {
      const { emit } = deps;
      deps.config = { ...deps.config, error_status_is_down: true };
      deps.emit = async (...event) => {
        await telling;
        return emit(...event);
      };
    });
    const inUse = (project: string) => createProjectUsage(fixture.deps).isInUse(project);
    expect(await inUse('shop')).to.equal(false);
    await fixture.monitors.create({ source: 'web-1', project: 'shop', interval_seconds: 60 }, ANYONE);
    await fixture.beat('web-1', { status: 'error' });
    expect([await inUse('shop'), await inUse('blog')]).to.deep.equal([true, false]);
    await fixture.monitors.remove('web-1', ANYONE);
    expect(await fixture.deps.monitors.count({ project: 'shop' }), 'it is there until then').to.equal(1);
    expect(await inUse('shop')).to.equal(false);
    tell();
    await fixture.settled();
    expect(fixture.told.map(({ event }) => event)).to.deep.equal(['monitor.down', 'monitor.alarm_closed']);
    expect(await fixture.deps.monitors.count({ project: 'shop' })).to.equal(0);
  });
});
