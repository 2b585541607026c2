/**
 * The watchdog under `kill -9`: no acknowledged heartbeat is lost, and an event whose process died between the change of
 * state and the telling is told once, with its id (contract 30; docs/consistency.md). And the tick beside others.
 */
import { expect } from 'chai';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { SqliteStore } from '../../adapters/sqlite/store.js';
import type { LeaseDoc } from '../../plugins/watchdog/model.js';
import { until } from '../harness.js';
import { engines } from '../support/engines.js';
import { aos, SHARED_KEY, TestService } from '../support/service.js';

const NO_LIMITS = { SVC_LIMITS__INTAKE_PER_MINUTE: '0', SVC_LIMITS__API_PER_MINUTE: '0' };
const BASE = '/api/watchdog/v1';
const CALLERS = 8;
const BEATS_BEFORE_THE_KILL = 300;

/** A durable listener that notes what it stored; while `trap` says so, the process dies before it stores anything. */
const LISTENER = (folder: string): string => `
import { appendFileSync, existsSync } from 'node:fs';
export default {
  id: 'notary', version: '1.0.0', api: 1, title: 'Notary',
  setup: () => ({
    listens: ['monitor.down', 'monitor.recovered'].map((event) => ({
      event, durable: true,
      handle: (told) => {
        if (existsSync(${JSON.stringify(join(folder, 'trap'))})) process.kill(process.pid, 'SIGKILL');
        appendFileSync(${JSON.stringify(join(folder, 'told'))}, JSON.stringify(told) + '\\n');
      },
    })),
  }),
};
`;

interface Told {
  id: string;
  event: string;
  data: { alarm_id: string };
}

describe('faults: the watchdog', function () {
  this.timeout(180_000);

  for (const engine of engines) {
    it(`loses no acknowledged heartbeat and no sample on ${engine.name}`, async function () {
      const settings = await engine.settings();
      if (settings === null) this.skip();
      const service = await TestService.started({ ...NO_LIMITS, ...settings });
      try {
        const token = await service.token('watchdog:ping,watchdog:read');
        const last = new Map<string, { acknowledged: number; asked: number; at: string }>();
        const caller = async (source: string, enough: () => void): Promise<void> => {
          const seen = last.get(source) ?? { acknowledged: 0, asked: 0, at: '' };
          last.set(source, seen);
          for (;;) {
            try {
              seen.asked++;
              const body = { source, interval: 3600, metrics: { n: seen.asked } };
              const answer = await service.request('POST', `${BASE}/ping`, token, body);
              expect(answer.status).to.be.oneOf([200, 201]);
              seen.acknowledged++;
              seen.at = String(answer.body['server_time']);
              enough();
            } catch (problem) {
              if (problem instanceof TypeError) return; // the connection is gone
              throw problem;
            }
          }
        };
        for (let round = 0; round < 3; round++) {
          let beats = 0;
          await new Promise<void>((resolve, reject) => {
            const enough = (): void => void (++beats === BEATS_BEFORE_THE_KILL && resolve());
            const callers = Array.from({ length: CALLERS }, (_, c) => caller(`host-${c}`, enough));
            Promise.all(callers).then(() => resolve(), reject);
          });
          await service.end('SIGKILL');
          await service.start();
          for (const [source, seen] of last) {
            const { body } = await service.request('GET', `${BASE}/monitors/${source}`, token);
            const monitor = body['monitor'] as { last_heartbeat_at: string };
            expect(monitor.last_heartbeat_at >= seen.at, source).to.equal(true);
            const history = await service.request('GET', `${BASE}/metrics?source=${source}&hours=1`, token);
            const { n } = history.body['metrics'] as { n: { points: { n: number }[]; baseline: { n: number } } };
            const samples = n.points.reduce((sum, point) => sum + point.n, 0);
            expect(samples, source).to.be.at.least(seen.acknowledged).and.at.most(seen.asked);
            expect(n.baseline.n, source).to.equal(samples);
          }
        }
      } finally {
        await service.dispose();
      }
    });
  }

  it('tells an alarm once whose process was killed between the change of state and the event', async () => {
    const service = await TestService.create(NO_LIMITS);
    const folder = service.dataDir;
    try {
      await writeFile(join(folder, 'notary.mjs'), LISTENER(folder));
      await writeFile(join(folder, 'aos.json'), JSON.stringify({ plugins: ['./notary.mjs'] }));
      service.env['SVC_CONFIG'] = join(folder, 'aos.json');
      service.env['SVC_WATCHDOG__SCHEDULER'] = 'false';
      await service.start();
      const token = await service.token('watchdog:ping,watchdog:read');
      const first = await service.request('POST', `${BASE}/ping`, token, { source: 'a', interval: 0.01 });
      await until('down is due', () => Date.now() > Date.parse(String(first.body['down_after'])));
      await writeFile(join(folder, 'trap'), '');
      const died = new Promise((resolve) => service.child?.on('close', resolve));
      await Promise.allSettled([service.request('POST', `${BASE}/evaluate`, SHARED_KEY), died]);
      await died;
      await service.end();
      await writeFile(join(folder, 'told'), '');
      await rm(join(folder, 'trap'));
      await service.start();
      const told = async (): Promise<Told[]> =>
        (await readFile(join(folder, 'told'), 'utf8'))
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line) as Told);
      const monitor = (await service.request('GET', `${BASE}/monitors/a`, token)).body['monitor'] as {
        state: string;
        alarm: string;
        alarm_id: string;
      };
      expect(monitor).to.include({ state: 'down', alarm: 'open' });
      await until('the alarm is told', async () => (await told()).length > 0, 40_000);
      await service.request('POST', `${BASE}/evaluate`, SHARED_KEY);
      await service.request('POST', `${BASE}/ping`, token, { source: 'a' });
      await until('the recovery is told', async () => (await told()).length > 1, 40_000);
      const all = await told();
      expect(all.map(({ event }) => event)).to.deep.equal(['monitor.down', 'monitor.recovered']);
      expect(all.map(({ data }) => data.alarm_id)).to.deep.equal([monitor.alarm_id, monitor.alarm_id]);
      const events = await service.request('GET', `${BASE}/events?type=monitor.down`, token);
      expect((events.body['items'] as { id: string }[]).map(({ id }) => id)).to.deep.equal([all[0]?.id]);
    } finally {
      await service.dispose();
    }
  });

  it('the tick: exit 0, 2 while a living run holds the lease, 0 at once over a killed one, 1 without a store', async () => {
    const service = await TestService.create();
    try {
      const first = await aos(service.env, ['tick', '--json']);
      expect(first.code, first.stdout + first.stderr).to.equal(0);
      const printed = JSON.parse(first.stdout) as { run: { trigger: string; result: string } };
      expect(Object.keys(printed)).to.deep.equal(['run', 'release_store']);
      expect(printed.run).to.include({ trigger: 'cli', result: 'ok' });

      const hold = async (pid: number): Promise<void> => {
        const store = new SqliteStore({ path: join(service.dataDir, 'aos.db') });
        await store.connect();
        const owner = { host: hostname(), pid, started: null };
        const expires_at = new Date(Date.now() + 45_000).toISOString();
        const leases = store.collection<LeaseDoc>('watchdog_leases');
        await leases.change({ id: 'evaluator' }, { set: { holder: 'another', owner, expires_at } });
        await store.close();
      };
      await hold(process.pid);
      const skipped = await aos(service.env, ['tick', '--json']);
      expect(skipped.code).to.equal(2);
      expect(JSON.parse(skipped.stdout)).to.deep.equal({ skipped: true });
      const quiet = await aos(service.env, ['tick', '--quiet']);
      expect([quiet.code, quiet.stdout, quiet.stderr]).to.deep.equal([2, '', '']);

      await hold(2 ** 22 + 1);
      const taken = await aos(service.env, ['tick', '--quiet']);
      expect([taken.code, taken.stdout]).to.deep.equal([0, '']);

      const nowhere = { ...service.env, SVC_STORAGE_URL: `sqlite:${service.dataDir}` };
      const broken = await aos(nowhere, ['tick', '--quiet']);
      expect(broken.code).to.equal(1);
      expect(broken.stderr).to.not.equal('');
    } finally {
      await service.dispose();
    }
  });
});
