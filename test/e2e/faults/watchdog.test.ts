/**
 * The watchdog under `kill -9`: no acknowledged heartbeat is lost, and an event whose process died
 * between the change of state and the telling is told once, with its id (contract 30;
 * docs/consistency.md). And the tick beside others.
 *
 * `SVC_TEST_BUDGET` says how often the process is killed.
 */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitUntil } from '../../harness.js';
import { scaleRepeats } from '../../support/repeat-budget.js';
import { durableEngines } from '../../support/durable-engines.js';
import { runCli, CLI_PROGRAM, SHARED_KEY, TestService } from '../../support/service.js';

const NO_LIMITS = { SVC_LIMITS__INTAKE_PER_MINUTE: '0', SVC_LIMITS__API_PER_MINUTE: '0' };
const BASE = '/api/watchdog/v1';
const CALLERS = 8;
const BEATS_BEFORE_THE_KILL = 300;

/** For a machine that is busy; that it is told at once, test/plugins/watchdog shows. */
const PATIENCE_MS = 60_000;
const ROUNDS = scaleRepeats(1);

/**
 * A durable listener that notes what it stored; the process dies before or after that, once, when
 * `trap` says so.
 */
const LISTENER = (folder: string): string => `
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
const trap = ${JSON.stringify(join(folder, 'trap'))};
const sprung = (when) => {
  if (!existsSync(trap) || readFileSync(trap, 'utf8') !== when) return;
  rmSync(trap);
  process.kill(process.pid, 'SIGKILL');
};
export default {
  id: 'notary', version: '1.0.0', api: 1, title: 'Notary',
  setup: () => ({
    listens: ['monitor.down', 'monitor.recovered'].map((event) => ({
      event, durable: true,
      handle: (told) => {
        sprung('before');
        appendFileSync(${JSON.stringify(join(folder, 'told'))}, JSON.stringify(told) + '\\n');
        sprung('after');
      },
    })),
  }),
};
`;

interface Told {
  id: string;
  event: string;
  data: { alarm_id: string; source: string };
}

/** A repeating job that holds the tick, and with it the lease, for as long as `hold` is there. */
const HOLDER = (folder: string): string => `
import { existsSync, writeFileSync } from 'node:fs';
const hold = ${JSON.stringify(join(folder, 'hold'))};
export default {
  id: 'holder', version: '1.0.0', api: 1, title: 'Holder',
  setup: () => ({
    jobs: [{
      name: 'wait', everyMs: 3_600_000,
      run: async () => {
        if (!existsSync(hold)) return;
        writeFileSync(hold + '.held', '');
        while (existsSync(hold)) await new Promise((resolve) => setTimeout(resolve, 20));
      },
    }],
  }),
};
`;

async function withPlugin(service: TestService, name: string, code: string): Promise<void> {
  await writeFile(join(service.dataDir, `${name}.mjs`), code);
  await writeFile(join(service.dataDir, 'aos.json'), JSON.stringify({ plugins: [`./${name}.mjs`] }));
  service.env['SVC_CONFIG'] = join(service.dataDir, 'aos.json');
}

for (const [nth, engine] of durableEngines.entries()) {
  describe(`faults: the watchdog on ${engine.name}`, function () {
    this.timeout(300_000 + ROUNDS * 60_000);
    let settings: Record<string, string>;
    /** Nobody evaluates but whom a test asks. */
    let service: TestService;
    let token: string;
    before(async function () {
      const found = await engine.settings();
      if (found === null) this.skip();
      settings = { ...NO_LIMITS, ...found };
      service = await TestService.create({ ...settings, SVC_WATCHDOG__SCHEDULER: 'false' });
      await withPlugin(service, 'notary', LISTENER(service.dataDir));
      await writeFile(join(service.dataDir, 'told'), '');
      await service.start();
      token = await service.createToken('watchdog:ping,watchdog:read');
    });
    after(() => service?.dispose());

    it('reports what changed in the tick, and stores the events before the process exits', async () => {
      const first = await service.request('POST', `${BASE}/ping`, token, { source: 'a', interval: 0.05 });
      await waitUntil('down is due', () => Date.now() > Date.parse(String(first.body['down_after'])));
      const done = await runCli(service.env, ['tick', '--quiet']);
      expect([done.code, done.stdout, done.stderr]).to.deep.equal([0, 'a: up -> down\n', '']);
      const { body } = await service.request('GET', `${BASE}/events?source=a&type=monitor.down`, token);
      expect(body['items']).to.have.lengthOf(1);
      const runs = await service.request('GET', `${BASE}/runs`, token);
      const items = runs.body['items'] as { trigger: string }[];
      expect(
        items.map(({ trigger }) => trigger),
        'nobody else evaluates',
      ).to.deep.equal(['cli']);
    });

    it('reports each alarm once when its process is killed before or after', async () => {
      const trap = join(service.dataDir, 'trap');
      /** What the listener stored: each event once by its id, in the order of the first time. */
      const reported = async (source: string): Promise<Told[]> => {
        const lines = (await readFile(join(service.dataDir, 'told'), 'utf8')).split('\n').filter(Boolean);
        const events = lines.map((line) => JSON.parse(line) as Told).filter(({ data }) => data.source === source);
        return [...new Map(events.map((event) => [event.id, event])).values()];
      };
      const ping = (source: string, interval: number) =>
        service.request('POST', `${BASE}/ping`, token, { source, interval });
      /** The process dies around the telling of what `act` causes, and comes back. */
      const killed = async (when: string, act: () => Promise<unknown>): Promise<void> => {
        const died = new Promise((resolve) => service.child?.on('close', resolve));
        if (when === 'before' || when === 'after') await writeFile(trap, when);
        const acting = act();
        if (when === 'at once') service.child?.kill('SIGKILL');
        await Promise.allSettled([acting, died]);
        await service.stop();
        await rm(trap, { force: true });
        await service.start();
      };
      /** The engines begin with different ones: in one round each event meets two of the three. */
      const when = (turn: number): string => ['before', 'after', 'at once'][(turn + nth) % 3] as string;
      for (let round = 0; round < ROUNDS; round++) {
        const source = `alarm-${round}`;
        const first = await ping(source, 0.05);
        await waitUntil('down is due', () => Date.now() > Date.parse(String(first.body['down_after'])));
        const evaluate = () => service.request('POST', `${BASE}/evaluate`, SHARED_KEY);
        await killed(when(round), evaluate);
        // The gap is short: it credits nobody, and where the run did not get as far the next one
        // does.
        await waitUntil(
          'it is down',
          async () => {
            await evaluate();
            const { body } = await service.request('GET', `${BASE}/monitors/${source}`, token);
            return (body['monitor'] as { state: string }).state === 'down';
          },
          PATIENCE_MS,
        );
        await waitUntil('the alarm is sent', async () => (await reported(source)).length === 1, PATIENCE_MS);
        await killed(when(round + 1), () => ping(source, 3600));
        await ping(source, 3600);
        await waitUntil('the recovery is sent', async () => (await reported(source)).length === 2, PATIENCE_MS);
      }
      for (let round = 0; round < ROUNDS; round++) {
        const source = `alarm-${round}`;
        const events = await reported(source);
        expect(events.map(({ event }) => event)).to.deep.equal(['monitor.down', 'monitor.recovered']);
        expect(events[1]?.data.alarm_id).to.equal(events[0]?.data.alarm_id);
        const path = `${BASE}/events?source=${source}&type=monitor.down&type=monitor.recovered`;
        const log = (await service.request('GET', path, token)).body['items'] as { id: string }[];
        expect(log.map(({ id }) => id)).to.deep.equal(events.map(({ id }) => id).toReversed());
      }
    });

    it('loses no acknowledged heartbeat and no sample', async () => {
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
      for (let round = 0; round < ROUNDS; round++) {
        let beats = 0;
        await new Promise<void>((resolve, reject) => {
          const enough = (): void => void (++beats === BEATS_BEFORE_THE_KILL && resolve());
          const callers = Array.from({ length: CALLERS }, (_, c) => caller(`host-${c}`, enough));
          Promise.all(callers).then(() => resolve(), reject);
        });
        await service.stop('SIGKILL');
        // Nobody kills it any more after the last round.
        await (round + 1 < ROUNDS ? service.start() : service.startInProcess());
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
    });

    it('creates one monitor for 64 concurrent first heartbeats through two processes, and accepts all', async function () {
      if (engine.name === 'sqlite') this.skip(); // one process serves an embedded store
      const two = await TestService.createStarted(settings);
      try {
        for (const source of ['first', 'second']) {
          const answers = await Promise.all(
            Array.from({ length: 64 }, (_, i) =>
              (i % 2 ? service : two).request('POST', `${BASE}/ping`, token, { source, metrics: { n: i } }),
            ),
          );
          const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
          expect(statuses).to.deep.equal([...Array<number>(63).fill(200), 201]);
          const history = await two.request('GET', `${BASE}/metrics?source=${source}&hours=1`, token);
          const { n } = history.body['metrics'] as { n: { points: { n: number }[] } };
          expect(n.points.reduce((sum, point) => sum + point.n, 0)).to.equal(64);
        }
        const list = await service.request('GET', `${BASE}/monitors?limit=200`, token);
        const sources = (list.body['items'] as { source: string }[]).map(({ source }) => source);
        expect(sources.filter((source) => ['first', 'second'].includes(source))).to.have.lengthOf(2);
      } finally {
        await two.dispose();
      }
    });

    it('exits the tick with 0, 2 during another tick, 0 after a killed tick, 64, and 1 without a store', async () => {
      const own = await engine.settings();
      const of = await TestService.create({ ...NO_LIMITS, ...own });
      const hold = join(of.dataDir, 'hold');
      try {
        // Only the one that is held needs the plugin.
        const env = { ...of.env };
        await withPlugin(of, 'holder', HOLDER(of.dataDir));
        await writeFile(hold, '');
        const running = spawn(process.execPath, [...CLI_PROGRAM, 'tick'], { env: of.env, stdio: 'ignore' });
        const died = new Promise((resolve) => running.on('close', resolve));
        await waitUntil('the tick holds the lease', () => existsSync(`${hold}.held`), PATIENCE_MS);
        const skipped = await runCli(env, ['tick', '--json']);
        expect([skipped.code, skipped.stdout]).to.deep.equal([2, '{"skipped":true}\n']);
        // How a run is told is the same on every engine, and so is a word that nobody knows.
        if (engine.name === 'sqlite') {
          const silent = await runCli(env, ['tick', '--quiet']);
          expect([silent.code, silent.stdout, silent.stderr]).to.deep.equal([2, '', '']);
          expect((await runCli(env, ['tick', '--quite'])).code).to.equal(64);
        }

        running.kill('SIGKILL');
        await died;
        await rm(hold);
        const taken = await runCli(env, ['tick', '--quiet']);
        expect([taken.code, taken.stdout, taken.stderr]).to.deep.equal([0, '', '']);
        if (engine.name === 'sqlite') {
          const next = await runCli(env, ['tick', '--json']);
          expect(next.code, next.stdout + next.stderr).to.equal(0);
          const printed = JSON.parse(next.stdout) as { run: { trigger: string; result: string } };
          expect(Object.keys(printed)).to.deep.equal(['run', 'release_store']);
          expect(printed.run).to.include({ trigger: 'cli', result: 'ok' });
        }

        const gone = engine.name === 'sqlite' ? `sqlite:${of.dataDir}` : 'mongodb://127.0.0.1:1/aos';
        const broken = await runCli({ ...env, SVC_STORAGE_URL: gone }, ['tick', '--quiet']);
        expect([broken.code, broken.stdout]).to.deep.equal([1, '']);
        expect(broken.stderr).to.not.equal('');
      } finally {
        await of.dispose();
      }
    });
  });
}
