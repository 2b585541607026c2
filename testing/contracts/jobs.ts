/**
 * What every store must give the Jobs port (ports/jobs.ts): the same suite on memory, SQLite and MongoDB. "Two processes"
 * are child processes where the engine has a store outside this one, and two instances on one store where it has not.
 */
import { expect } from 'chai';
import { JOBS_COLLECTION } from '../../adapters/agenda/job-document.js';
import { AgendaJobs, type AgendaJobsOptions } from '../../adapters/agenda/jobs.js';
import { RandomIds } from '../../adapters/node/ids.js';
import { SystemClock } from '../../adapters/node/clock.js';
import { PrometheusMetrics } from '../../adapters/node/metrics.js';
import type { JobRun, JobSpec } from '../../ports/jobs.js';
import type { Logger } from '../../ports/logger.js';
import type { DocumentStore } from '../../ports/store.js';

export interface CountedRun {
  id: string;
  n: number;
  pid: number;
}

/** A process that runs `test.count` (writes a CountedRun) and `test.hang` (writes one and never ends). */
export interface Runner {
  pid: number;
  kill(): Promise<void>;
}

export interface JobsEngine {
  /** A fresh store with `kernel_jobs` and `runs` in it. */
  open(): Promise<DocumentStore>;
  /** Another process on the store opened last; null where that cannot be. */
  runner: (() => Promise<Runner>) | null;
  close(): Promise<void>;
}

export const RUNS = { name: 'runs', indexes: [] };
export const COLLECTIONS = [JOBS_COLLECTION, RUNS];
export const FAST: AgendaJobsOptions = { pollMs: 50, marginMs: 200, retryBaseMs: 20 };

/** Waits until `read` answers something; the condition, not the time, ends it. */
export async function until<T>(
  what: string,
  read: () => Promise<T | null | undefined | false>,
  timeoutMs = 15_000,
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (value) return value;
    if (Date.now() > end) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

interface Line {
  data: Record<string, unknown>;
  message: string;
}

class MemoryLog implements Logger {
  constructor(readonly lines: Line[] = []) {}
  debug(data: object, message: string): void {
    this.lines.push({ data: { ...data }, message });
  }
  info = this.debug.bind(this);
  warn = this.debug.bind(this);
  error = this.debug.bind(this);
  child(): Logger {
    return this;
  }
}

export function makeJobs(
  store: DocumentStore,
  specs: readonly JobSpec[],
  options: AgendaJobsOptions = {},
): { jobs: AgendaJobs; lines: Line[]; metrics: PrometheusMetrics } {
  const log = new MemoryLog();
  const clock = new SystemClock();
  const metrics = new PrometheusMetrics();
  const jobs = new AgendaJobs({ store, clock, ids: new RandomIds(clock), log, metrics }, { ...FAST, ...options });
  for (const spec of specs) jobs.define(spec);
  return { jobs, lines: log.lines, metrics };
}

/** The job that the runners know, and the suite's own instances. */
export const countJob = (store: DocumentStore): JobSpec => ({
  name: 'test.count',
  async run({ data }: JobRun): Promise<void> {
    const clock = new SystemClock();
    await store
      .collection<CountedRun>('runs')
      .insert({ id: new RandomIds(clock).uuid(), n: Number(data), pid: process.pid });
  },
});

export function jobsContract(name: string, engine: JobsEngine): void {
  describe(`jobs on ${name}`, function () {
    this.timeout(30_000);
    let store: DocumentStore;
    const instances: AgendaJobs[] = [];

    beforeEach(async () => {
      store = await engine.open();
    });
    afterEach(async () => {
      await Promise.all(instances.splice(0).map((jobs) => jobs.drain(2_000)));
      await engine.close();
    });

    function make(specs: readonly JobSpec[], options?: AgendaJobsOptions): ReturnType<typeof makeJobs> {
      const made = makeJobs(store, specs, options);
      instances.push(made.jobs);
      return made;
    }
    const runs = async (): Promise<CountedRun[]> =>
      (await store.collection<CountedRun>('runs').find({ limit: 1000 })).items;
    const stored = async (): Promise<number> => store.collection('kernel_jobs').count({ due_at: { exists: true } });

    it('runs what is enqueued, with its data, and keeps nothing of it', async () => {
      const seen: unknown[] = [];
      const { jobs } = make([{ name: 'a.b', run: async ({ data }) => void seen.push(data) }]);
      await jobs.start();
      await jobs.enqueue('a.b', { x: [1, null, 'é'] });
      await jobs.enqueue('a.b');
      await until('two runs', async () => seen.length === 2);
      expect(seen).to.deep.include.members([{ x: [1, null, 'é'] }, null]);
      await until('nothing is left', async () => (await stored()) === 0);
      const info = await until('the record', async () => (await jobs.list()).find((job) => job.last_finished_at));
      expect(info).to.include({
        name: 'a.b',
        running: false,
        fail_count: 0,
        fail_reason: null,
        next_run_at: null,
        every_ms: null,
      });
      expect(info.last_finished_at).to.match(/Z$/);
    });

    it('runs what was enqueued before the start, and by a process that runs nothing', async () => {
      const seen: unknown[] = [];
      const spec = { name: 'a.b', run: async ({ data }: JobRun) => void seen.push(data) };
      await make([spec]).jobs.enqueue('a.b', 1);
      const { jobs } = make([spec]);
      await jobs.start();
      await until('the run', async () => seen.length === 1);
    });

    it('waits for its time', async () => {
      let ran = 0;
      const { jobs } = make([{ name: 'a.b', run: async () => void (ran = Date.now()) }]);
      await jobs.start();
      const at = Date.now() + 300;
      await jobs.enqueue('a.b', null, { at: new Date(at).toISOString() });
      expect((await jobs.list())[0]?.next_run_at).to.equal(new Date(at).toISOString());
      await until('the run', async () => ran > 0);
      expect(ran).to.be.at.least(at);
    });

    it('keeps at most one waiting job per key, at the earlier time; a running one does not count', async () => {
      const seen: unknown[] = [];
      let release: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => (release = resolve));
      const { jobs } = make([
        {
          name: 'a.b',
          run: async ({ data }) => {
            seen.push(data);
            await gate;
          },
        },
      ]);
      await jobs.start();
      const later = new Date(Date.now() + 60_000).toISOString();
      await Promise.all([1, 2, 3, 4, 5].map(() => jobs.enqueue('a.b', 'later', { key: 'k', at: later })));
      await jobs.enqueue('a.b', 'other', { key: 'other', at: later });
      expect(await stored()).to.equal(2);
      await jobs.enqueue('a.b', 'now', { key: 'k' });
      await until('the first run', async () => seen.length === 1);
      expect(seen).to.deep.equal(['later']);
      await jobs.enqueue('a.b', 'again', { key: 'k' });
      await until('the second run', async () => seen.length === 2);
      expect(seen).to.deep.equal(['later', 'again']);
      release();
    });

    it('retries with growing delays, as often as asked, then gives up and tells why', async () => {
      const times: number[] = [];
      const fail = async (): Promise<void> => {
        times.push(Date.now());
        throw new Error('receiver down');
      };
      const { jobs, lines, metrics } = make([{ name: 'a.b', run: fail }], { retryBaseMs: 60 });
      await jobs.start();
      await jobs.enqueue('a.b', null, { retry: 2, key: 'k' });
      await until('the last try', async () => times.length === 3 && (await stored()) === 0);
      const [first = 0, second = 0, third = 0] = times;
      expect(second - first).to.be.at.least(60);
      expect(third - second).to.be.at.least(120);
      const info = await until('the record', async () => (await jobs.list()).find((job) => job.fail_count > 0));
      expect(info).to.include({ fail_count: 3, fail_reason: 'receiver down' });
      expect(lines.filter(({ message }) => message === 'a job failed')).to.have.lengthOf(3);
      expect(await metrics.render()).to.contain('aos_job_runs_total{job="a.b",result="error"} 3\n');
    });

    it('tells how long the longest waiting job has been due', async () => {
      const { jobs, metrics } = make([{ name: 'a.b', run: () => Promise.resolve() }]);
      expect(await metrics.render()).to.contain('aos_job_queue_age_seconds 0\n');
      await jobs.enqueue('a.b', null, { at: new Date(Date.now() + 3_600_000).toISOString() });
      expect(await metrics.render()).to.contain('aos_job_queue_age_seconds 0\n');
      await jobs.enqueue('a.b', null, { at: new Date(Date.now() - 3_600_000).toISOString() });
      expect(await metrics.render()).to.match(/^aos_job_queue_age_seconds 36\d\d/m);
      await jobs.start();
      await until('the job', async () => (await metrics.render()).includes('aos_job_queue_age_seconds 0\n'));
    });

    it('succeeds on a retry and forgets the failure', async () => {
      let tries = 0;
      const { jobs } = make([
        {
          name: 'a.b',
          run: async () => {
            if (++tries < 2) throw new Error('not yet');
          },
        },
      ]);
      await jobs.start();
      await jobs.enqueue('a.b', null, { retry: 5 });
      await until('success', async () => tries === 2 && (await stored()) === 0);
      expect((await jobs.list())[0]).to.include({ fail_count: 0, fail_reason: null });
    });

    it('repeats, never overlapping, on two instances; a failure does not end it', async () => {
      let running = 0;
      let most = 0;
      let count = 0;
      const spec: JobSpec = {
        name: 'a.tick',
        everyMs: 20,
        run: async () => {
          most = Math.max(most, ++running);
          await new Promise((resolve) => setTimeout(resolve, 15));
          running--;
          if (++count === 2) throw new Error('once');
        },
      };
      const [one, two] = [make([spec]), make([spec])];
      await Promise.all([one.jobs.start(), two.jobs.start()]);
      await until('eight runs', async () => count >= 8);
      expect(most).to.equal(1);
      expect(await store.collection('kernel_jobs').count({})).to.equal(1);
      const [info] = await one.jobs.list();
      expect(info).to.include({ name: 'a.tick', every_ms: 20, fail_count: 0 });
      expect(info?.next_run_at).to.match(/Z$/);
    });

    it('plans a cron job in UTC, and a repeating job earlier when its interval became shorter', async () => {
      const none = async (): Promise<void> => undefined;
      const cron = { name: 'a.cron', cron: '30 4 * * *', run: none };
      const first = make([cron, { name: 'a.long', everyMs: 3_600_000, run: none }]);
      await first.jobs.start();
      await until('the first run', async () => (await first.jobs.list())[1]?.last_finished_at);
      expect((await first.jobs.list())[0]?.next_run_at).to.match(/T04:30:00\.000Z$/);
      expect(Date.parse((await first.jobs.list())[1]?.next_run_at ?? '')).to.be.greaterThan(Date.now() + 3_500_000);
      const second = make([cron, { name: 'a.long', everyMs: 60_000, run: none }]);
      await second.jobs.start();
      expect(Date.parse((await second.jobs.list())[1]?.next_run_at ?? '')).to.be.lessThan(Date.now() + 61_000);
    });

    it('runs a job here and now under the same lock, without having been started', async () => {
      let release: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => (release = resolve));
      const seen: unknown[] = [];
      const spec: JobSpec = {
        name: 'a.tick',
        everyMs: 3_600_000,
        run: async ({ data }) => {
          seen.push(data);
          await gate;
        },
      };
      const [one, two] = [make([spec]), make([spec])];
      const run = one.jobs.runNow('a.tick', 'x');
      await until('the run', async () => seen.length === 1);
      expect(await two.jobs.runNow('a.tick')).to.equal(false);
      expect((await two.jobs.list())[0]).to.include({ running: true });
      release();
      expect(await run).to.equal(true);
      expect((await two.jobs.list())[0]).to.include({ running: false });
      expect(await two.jobs.runNow('a.tick')).to.equal(true);
      expect(seen).to.deep.equal(['x', null]);
    });

    it('throws out of runNow what the job threw, and records it', async () => {
      const failure = new Error('broken');
      const { jobs } = make([{ name: 'a.once', run: () => Promise.reject(failure) }]);
      const error = await jobs.runNow('a.once').then(
        () => null,
        (reason: unknown) => reason,
      );
      expect(error).to.equal(failure);
      expect((await jobs.list())[0]).to.include({ running: false, fail_count: 1, fail_reason: 'broken' });
    });

    it('lets a repeating job be brought forward, also while it runs', async () => {
      let count = 0;
      let release: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => (release = resolve));
      const spec: JobSpec = {
        name: 'a.tick',
        everyMs: 3_600_000,
        run: async () => {
          if (++count === 2) await gate;
        },
      };
      const { jobs } = make([spec]);
      await jobs.start();
      await until('the first run', async () => (await jobs.list())[0]?.last_finished_at);
      await jobs.enqueue('a.tick');
      await until('the second run', async () => count === 2);
      await jobs.enqueue('a.tick');
      release();
      await until('the third run', async () => count === 3);
    });

    it('aborts a run at the end of its time and counts it as failed, whether it listens or not', async () => {
      let reason: unknown;
      const listens: JobSpec = {
        name: 'a.listens',
        timeoutMs: 60,
        run: ({ signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              reason = signal.reason;
              reject(signal.reason as Error);
            });
          }),
      };
      const deaf: JobSpec = { name: 'a.deaf', timeoutMs: 60, run: () => new Promise(() => undefined) };
      const { jobs } = make([listens, deaf]);
      await jobs.start();
      await jobs.enqueue('a.listens');
      await jobs.enqueue('a.deaf');
      await until('both failures', async () => (await jobs.list()).every(({ fail_count }) => fail_count === 1));
      expect((reason as Error).message).to.equal('job a.listens took longer than 60 ms');
      const [first, second] = await jobs.list();
      expect(first?.fail_reason).to.equal('job a.listens took longer than 60 ms');
      expect(second?.fail_reason).to.equal('job a.deaf ignored the end of its 60 ms');
    });

    it('drains: takes no new job, waits for those under way, gives the rest back', async () => {
      let release: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => (release = resolve));
      const seen: number[] = [];
      let begun = 0;
      const spec: JobSpec = {
        name: 'a.b',
        run: async ({ data }) => {
          begun++;
          await gate;
          seen.push(Number(data));
        },
      };
      const { jobs } = make([spec], { concurrency: 2 });
      await jobs.start();
      for (let n = 0; n < 6; n++) await jobs.enqueue('a.b', n);
      // A job that is locked but has not begun yet is given back by the drain: not one of those it waits for.
      await until('two under way', async () => begun === 2);
      let drained = false;
      const drain = jobs.drain(10_000).then(() => (drained = true));
      await jobs.enqueue('a.b', 6);
      expect(drained).to.equal(false);
      release();
      await drain;
      expect(seen).to.have.lengthOf(2);
      expect(await store.collection('kernel_jobs').count({ lock: { exists: true } })).to.equal(0);
      expect(await stored()).to.equal(5);
      const other = make([spec]);
      await other.jobs.start();
      await until('the rest', async () => seen.length === 7);
      expect(seen.toSorted((a, b) => a - b)).to.deep.equal([0, 1, 2, 3, 4, 5, 6]);
    });

    it('waits no longer than asked when it drains: aborts what is left, which runs again in the next process', async () => {
      let tries = 0;
      const run = ({ signal }: JobRun): Promise<void> => {
        if (++tries > 1) return Promise.resolve();
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        });
      };
      const { jobs } = make([{ name: 'a.b', run }]);
      await jobs.start();
      await jobs.enqueue('a.b', null, { key: 'k' });
      await until('the run', async () => tries === 1);
      await jobs.drain(500);
      expect(await store.collection('kernel_jobs').count({ lock: { exists: true } })).to.equal(0);
      expect((await jobs.list())[0]).to.include({ fail_count: 0, running: false });
      const next = make([{ name: 'a.b', run }]);
      await next.jobs.start();
      await until('the second run', async () => tries === 2 && (await stored()) === 0);
    });

    it('two instances run each of 60 jobs once', async () => {
      const [one, two] = [make([countJob(store)]), make([countJob(store)])];
      await Promise.all([one.jobs.start(), two.jobs.start()]);
      await Promise.all(Array.from({ length: 60 }, (_, n) => (n % 2 ? one : two).jobs.enqueue('test.count', n)));
      await until('all runs', async () => (await stored()) === 0);
      expect((await runs()).map(({ n }) => n).toSorted((a, b) => a - b)).to.deep.equal(
        Array.from({ length: 60 }, (_, n) => n),
      );
    });

    it('a lock that a dead owner left ends, and the job runs elsewhere', async () => {
      const seen: unknown[] = [];
      const spec: JobSpec = { name: 'a.b', timeoutMs: 300, run: async ({ data }) => void seen.push(data) };
      const past = new Date(Date.now() - 1).toISOString();
      const future = new Date(Date.now() + 400).toISOString();
      const dead = { name: 'a.b', lock: 'dead', owner: 'gone:1', next_run_at: null, retry: 0, fail_count: 0 };
      await store.collection('kernel_jobs').insert({ id: 'x1', ...dead, data: 'over', due_at: past } as { id: string });
      await store
        .collection('kernel_jobs')
        .insert({ id: 'x2', ...dead, data: 'running', due_at: future } as { id: string });
      const { jobs } = make([spec]);
      await jobs.start();
      await until('the first', async () => seen.length === 1);
      expect(seen).to.deep.equal(['over']);
      await until('the second', async () => seen.length === 2);
      expect(Date.now()).to.be.at.least(Date.parse(future));
    });

    it('a run whose lock was taken over cannot finish the job of another', async () => {
      let release: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => (release = resolve));
      let begun = false;
      const run = (): Promise<void> => {
        begun = true;
        return gate;
      };
      const { jobs, lines } = make([{ name: 'a.b', run }]);
      await jobs.start();
      await jobs.enqueue('a.b');
      // Not `running`: a job that is locked and has not begun does not begin without its lock.
      await until('the run', async () => begun);
      const thief = { lock: 'thief', due_at: new Date(Date.now() + 60_000).toISOString() };
      await store.collection('kernel_jobs').change({ name: 'a.b', lock: { exists: true } }, { set: thief });
      release();
      await until('the log line', async () =>
        lines.some(({ message }) => message === 'the end of a job could not be stored'),
      );
      expect(await store.collection('kernel_jobs').count({ lock: 'thief' })).to.equal(1);
    });

    it('goes on after a store that failed for a while, and says so', async () => {
      let down = false;
      const gone = (): Promise<never> => Promise.reject(new Error('store down'));
      const real = store;
      const flaky = new Proxy(real, {
        get: (target, name) =>
          name !== 'collection'
            ? Reflect.get(target, name)
            : (collection: string) => {
                const inner = target.collection(collection);
                return new Proxy(inner, {
                  get:
                    (_, method) =>
                    (...args: unknown[]): unknown =>
                      down ? gone() : Reflect.apply(Reflect.get(inner, method) as () => unknown, inner, args),
                });
              },
      });
      let ran = 0;
      const { jobs, lines } = makeJobs(flaky, [{ name: 'a.b', run: async () => void ran++ }]);
      instances.push(jobs);
      await jobs.start();
      down = true;
      await until('the log line', async () =>
        lines.some(({ message }) => message === 'jobs: an error outside of any job'),
      );
      const refused = await jobs.enqueue('a.b').then(
        () => null,
        (error: unknown) => (error as Error).message,
      );
      expect(refused).to.equal('store down');
      down = false;
      await jobs.enqueue('a.b');
      await until('the run', async () => ran === 1);
    });

    it('refuses definitions and calls that make no sense', async () => {
      const run = async (): Promise<void> => undefined;
      const { jobs } = make([
        { name: 'a.b', run },
        { name: 'a.tick', everyMs: 60_000, run },
      ]);
      expect(() => jobs.define({ name: 'a.b', run })).to.throw(TypeError, 'job a.b: is defined twice');
      expect(() => jobs.define({ name: 'A', run })).to.throw(TypeError, 'lower case');
      expect(() => jobs.define({ name: 'c', everyMs: 0, run })).to.throw(
        TypeError,
        'everyMs must be a positive number',
      );
      expect(() => jobs.define({ name: 'c', everyMs: 1, cron: '* * * * *', run })).to.throw(TypeError, 'both');
      expect(() => jobs.define({ name: 'c', cron: 'every day', run })).to.throw(
        TypeError,
        'cron must have five fields',
      );
      expect(() => jobs.define({ name: 'c', cron: '99 * * * *', run })).to.throw(TypeError, 'cron cannot be read');
      const refused = async (work: Promise<unknown>): Promise<string> =>
        work.then(
          () => 'accepted',
          (error: unknown) => (error as Error).message,
        );
      expect(await refused(jobs.enqueue('nobody'))).to.equal('no job is named nobody');
      expect(await refused(jobs.runNow('nobody'))).to.equal('no job is named nobody');
      expect(await refused(jobs.enqueue('a.b', null, { at: 'tomorrow' }))).to.equal('job a.b: "at" is no time');
      expect(await refused(jobs.enqueue('a.tick', 1))).to.equal('job a.tick repeats and takes no data');
      await jobs.start();
      expect(() => jobs.define({ name: 'late', run })).to.throw(TypeError, 'jobs are defined before start');
    });

    const { runner } = engine;
    if (!runner) return;

    it('two processes run each of 60 jobs once', async () => {
      const processes = await Promise.all([runner(), runner()]);
      const { jobs } = make([countJob(store)]);
      await Promise.all(Array.from({ length: 60 }, (_, n) => jobs.enqueue('test.count', n)));
      await until('all runs', async () => (await stored()) === 0);
      const done = await runs();
      expect(done.map(({ n }) => n).toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: 60 }, (_, n) => n));
      expect(done.every(({ pid }) => processes.some((process) => process.pid === pid))).to.equal(true);
      await Promise.all(processes.map((process) => process.kill()));
    });

    it('a job whose process is killed runs again elsewhere, after its lock has ended', async () => {
      const first = await runner();
      const { jobs } = make([{ name: 'test.hang', timeoutMs: 500, run: async () => undefined }]);
      await jobs.enqueue('test.hang', 7);
      await until('the first run', async () => (await runs()).length === 1);
      await first.kill();
      const second = await runner();
      const both = await until('the second run', async () => {
        const done = await runs();
        return done.length === 2 && done;
      });
      expect(both.map(({ pid }) => pid)).to.have.members([first.pid, second.pid]);
      await second.kill();
    });
  });
}
