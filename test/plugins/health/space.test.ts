/** Whether there is room for what intakes write (contract 00, limits). */
import { expect } from 'chai';
import { DiskSpaceMonitor } from '../../../plugins/health/disk-space-monitor.js';
import { TestService } from '../../support/service.js';

describe('health: free space for intakes', () => {
  const make = (min_free_bytes: number) => {
    const state = { free: 100, at: 0, asked: 0 };
    const system = {
      getFreeBytes: async () => {
        state.asked += 1;
        if (Number.isNaN(state.free)) throw new Error('no such folder');
        return state.free;
      },
    };
    const lines: string[] = [];
    const log = {
      warn: (_: object, text: string) => void lines.push(text),
      info: (_: object, text: string) => void lines.push(text),
    };
    return {
      state,
      lines,
      space: new DiskSpaceMonitor(system, { monotonic: () => state.at }, { min_free_bytes }, log),
    };
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));

  it('reports a shortage below the limit, and logs both transitions once', async () => {
    const { state, lines, space } = make(50);
    await space.refresh();
    expect(space.isLow()).to.equal(false);
    state.free = 49;
    for (let i = 0; i < 3; i++) {
      state.at += 1000;
      space.isLow();
      await settle();
    }
    expect(space.isLow()).to.equal(true);
    state.free = 50;
    state.at += 1000;
    space.isLow();
    await settle();
    expect(space.isLow()).to.equal(false);
    expect(lines).to.have.length(2);
  });

  it('reads the free space at most once a second, and never when the limit is 0', () => {
    const { state, space } = make(50);
    for (let i = 0; i < 100; i++) space.isLow();
    expect(state.asked).to.equal(1);
    const none = make(0);
    expect(none.space.isLow()).to.equal(false);
    expect(none.state.asked).to.equal(0);
  });

  it('reports no shortage when the free space cannot be read', async () => {
    const { state, space } = make(50);
    state.free = NaN;
    await space.refresh();
    expect(space.isLow()).to.equal(false);
  });
});

describe('intakes without free space', function () {
  it('return 507 while everything else continues', async () => {
    const service = await TestService.createInProcess({ SVC_HEALTH__MIN_FREE_BYTES: String(2 ** 52) });
    try {
      const token = await service.createToken('bugtracker:report,bugtracker:read,watchdog:ping,projects:manage');
      await service.request('POST', '/api/projects/v1/projects', token, { slug: 'shop' });
      const intakes: [string, object][] = [
        ['/api/errors/v1/report', { project: 'shop', error_level: 'error', error_message: 'x' }],
        ['/api/bugtracker/v1/report', { project: 'shop', title: 'x' }],
        ['/api/watchdog/v1/heartbeat', { source: 'shop', interval: 60 }],
      ];
      for (const [path, body] of intakes) {
        const answer = await service.request('POST', path, token, body);
        expect([path, answer.status]).to.deep.equal([path, 507]);
        expect(answer.body['error']).to.include({ code: 'insufficient_storage' });
      }
      const store = await fetch(`${service.url}/api/1/store/?sentry_key=${token}`, { method: 'POST', body: '{}' });
      expect(store.status).to.equal(507);
      expect((await service.request('GET', '/api/bugtracker/v1/bugs', token)).status).to.equal(200);
    } finally {
      await service.dispose();
    }
  });
});
