import { expect } from 'chai';
import type { JobRun, JobSpec } from '../../../../ports/jobs.js';
import { createJobs, waitUntil, type JobsFixture } from './harness.js';

export function describeEndingJobs(world: JobsFixture): void {
  const { make, stored } = world;

  it('aborts a run at its time limit and counts it as failed, whether it listens to the signal or not', async () => {
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
    await waitUntil('both failures', async () => (await jobs.list()).every(({ fail_count }) => fail_count === 1));
    expect((reason as Error).message).to.equal('job a.listens took longer than 60 ms');
    const [first, second] = await jobs.list();
    expect(first?.fail_reason).to.equal('job a.listens took longer than 60 ms');
    expect(second?.fail_reason).to.equal('job a.deaf did not stop at its timeout of 60 ms');
  });

  it('accepts no new job while draining, waits for running ones, and returns the others', async () => {
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
    // A drain returns a job that is locked but not started, instead of waiting for it.
    await waitUntil('two under way', async () => begun === 2);
    let drained = false;
    const drain = jobs.drain(10_000).then(() => (drained = true));
    await jobs.enqueue('a.b', 6);
    expect(drained).to.equal(false);
    release();
    await drain;
    expect(seen).to.have.lengthOf(2);
    expect(await world.store.collection('kernel_jobs').count({ lock: { exists: true } })).to.equal(0);
    expect(await stored()).to.equal(5);
    const other = make([spec]);
    await other.jobs.start();
    await waitUntil('the rest', async () => seen.length === 7);
    expect(seen.toSorted((a, b) => a - b)).to.deep.equal([0, 1, 2, 3, 4, 5, 6]);
  });

  it('drains no longer than requested: aborts the rest, which runs again in the next process', async () => {
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
    await waitUntil('the run', async () => tries === 1);
    await jobs.drain(500);
    expect(await world.store.collection('kernel_jobs').count({ lock: { exists: true } })).to.equal(0);
    expect((await jobs.list())[0]).to.include({ fail_count: 0, running: false });
    const next = make([{ name: 'a.b', run }]);
    await next.jobs.start();
    await waitUntil('the second run', async () => tries === 2 && (await stored()) === 0);
  });

  it('continues after a world.store that failed for a while, and logs it', async () => {
    let down = false;
    const gone = (): Promise<never> => Promise.reject(new Error('store down'));
    const real = world.store;
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
    const { jobs, lines } = createJobs(flaky, [{ name: 'a.b', run: async () => void ran++ }]);
    world.keep(jobs);
    await jobs.start();
    down = true;
    await waitUntil('the log line', async () =>
      lines.some(({ message }) => message === 'jobs: an error occurred outside any job'),
    );
    const rejected = await jobs.enqueue('a.b').then(
      () => null,
      (error: unknown) => (error as Error).message,
    );
    expect(rejected).to.equal('store down');
    down = false;
    await jobs.enqueue('a.b');
    await waitUntil('the run', async () => ran === 1);
  });

  it('rejects invalid definitions and calls', async () => {
    const run = async (): Promise<void> => undefined;
    const { jobs } = make([
      { name: 'a.b', run },
      { name: 'a.tick', everyMs: 60_000, run },
    ]);
    expect(() => jobs.define({ name: 'a.b', run })).to.throw(TypeError, 'job a.b is defined twice');
    expect(() => jobs.define({ name: 'A', run })).to.throw(TypeError, 'lower case');
    expect(() => jobs.define({ name: 'c', everyMs: 0, run })).to.throw(TypeError, 'everyMs must be a positive number');
    expect(() => jobs.define({ name: 'c', everyMs: 1, cron: '* * * * *', run })).to.throw(TypeError, 'both');
    expect(() => jobs.define({ name: 'c', cron: 'every day', run })).to.throw(TypeError, 'cron must have five fields');
    expect(() => jobs.define({ name: 'c', cron: '99 * * * *', run })).to.throw(TypeError, 'cron is not valid');
    const rejected = async (work: Promise<unknown>): Promise<string> =>
      work.then(
        () => 'accepted',
        (error: unknown) => (error as Error).message,
      );
    expect(await rejected(jobs.enqueue('nobody'))).to.equal('job nobody does not exist');
    expect(await rejected(jobs.runNow('nobody'))).to.equal('job nobody does not exist');
    expect(await rejected(jobs.enqueue('a.b', null, { at: 'tomorrow' }))).to.equal('job a.b: "at" is not a valid time');
    expect(await rejected(jobs.enqueue('a.tick', 1))).to.equal('job a.tick is recurring and cannot have data');
    await jobs.start();
    expect(() => jobs.define({ name: 'late', run })).to.throw(TypeError, 'jobs must be defined before start');
  });
}
