/** What the jobs' adapter tells while the store is away: each poll fails (contract 95). */
import { expect } from 'chai';
import { AgendaJobs } from '../../../adapters/agenda/jobs.js';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { RandomIds } from '../../../adapters/node/ids.js';
import { PrometheusMetrics } from '../../../adapters/node/metrics.js';
import { StoreFaultLogger } from '../../../adapters/node/store-fault-logger.js';
import { RepeatedLineLimiter } from '../../../lib/text/repeated-line-limiter.js';
import type { Logger } from '../../../ports/logger.js';
import { StoreUnavailable, type Collection, type Doc } from '../../../ports/store/index.js';
import { JOBS_COLLECTIONS, FAST_OPTIONS, waitUntil } from '../../kit/contracts/jobs/harness.js';
import { ManualClock } from '../../kit/clock.js';

/** Rejects queries while it is away, and counts them. */
class AwayStore extends MemoryStore {
  away = false;
  tries = 0;

  override collection<T extends Doc>(name: string): Collection<T> {
    const inner = super.collection<T>(name);
    const groupCount: Collection<T>['groupCount'] = async (...query) => {
      if (!this.away) return inner.groupCount(...query);
      this.tries++;
      throw new StoreUnavailable();
    };
    return new Proxy(inner, {
      get: (_, method) => {
        const own: unknown = method === 'groupCount' ? groupCount : Reflect.get(inner, method);
        return typeof own === 'function' ? own.bind(inner) : own;
      },
    });
  }
}

type Line = { level: string; message: string } & Record<string, unknown>;

class Lines implements Logger {
  constructor(
    readonly reported: Line[] = [],
    private readonly bound: object = {},
  ) {}
  #take = (level: string) => (data: object, message: string) =>
    void this.reported.push({ ...this.bound, ...data, level, message });
  debug = this.#take('debug');
  info = this.#take('info');
  warn = this.#take('warn');
  error = this.#take('error');
  child(bindings: object): Logger {
    return new Lines(this.reported, { ...this.bound, ...bindings });
  }
}

describe('jobs: unavailable store', function () {
  it('logs the outage once a minute with the number of suppressed lines, and then logs the recovery', async () => {
    const store = new AwayStore();
    await store.ensure(JOBS_COLLECTIONS);
    const clock = new ManualClock();
    const log = new Lines();
    const faults = new RepeatedLineLimiter(() => clock.monotonic());
    const ports = { store, clock, ids: new RandomIds(clock), metrics: new PrometheusMetrics() };
    const jobs = new AgendaJobs({ ...ports, log: new StoreFaultLogger(log, faults), faults }, FAST_OPTIONS);
    for (const name of ['a.one', 'a.two', 'a.three']) jobs.define({ name, run: async () => undefined });
    await jobs.start();
    store.away = true;
    await waitUntil('many polls', async () => store.tries >= 20);
    expect(log.reported.map(({ level, message }) => [level, message])).to.deep.equal([
      ['error', 'jobs: an error occurred outside any job'],
    ]);
    expect(log.reported[0]).to.not.have.property('left_out');

    clock.advance(60_000);
    const again = await waitUntil('the next line', async () => log.reported[1]);
    expect(again).to.include({ level: 'error', message: 'jobs: an error occurred outside any job' });
    expect(again['left_out']).to.be.a('number').that.is.at.least(19);

    clock.advance(5_000);
    store.away = false;
    const back = await waitUntil('the line that it is back', async () => log.reported[2]);
    expect(back).to.include({ level: 'warn', message: 'the store is reachable again', seconds: 65 });
    expect(back['left_out']).to.be.a('number');
    await jobs.drain();
    expect(log.reported).to.have.lengthOf(3);
  });

  it('logs other components once a minute each, and requests and other errors every time', () => {
    const clock = new ManualClock();
    const lines = new Lines();
    const log: Logger = new StoreFaultLogger(lines, new RepeatedLineLimiter(() => clock.monotonic()));
    const away = new Error('looking failed', { cause: new StoreUnavailable() });
    for (let n = 0; n < 1_000; n++) {
      log.child({ plugin: 'webhooks' }).error({ err: away, n }, 'loading due deliveries failed');
      log.warn({ err: new StoreUnavailable(), n }, 'a live topic could not be queried');
    }
    expect(lines.reported.map(({ message, n }) => [message, n])).to.deep.equal([
      ['loading due deliveries failed', 0],
      ['a live topic could not be queried', 0],
    ]);
    clock.advance(60_000);
    log.error({ err: away }, 'loading due deliveries failed');
    expect(lines.reported.at(-1)).to.include({ left_out: 999 });
    const before = lines.reported.length;
    for (let n = 0; n < 3; n++) {
      log.error({ err: away, request_id: `r${n}` }, 'a route failed');
      log.error({ err: new Error('other') }, 'a listener failed');
      log.warn({}, 'security');
    }
    expect(lines.reported.length - before).to.equal(9);
  });
});
