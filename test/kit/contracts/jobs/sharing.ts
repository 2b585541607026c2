/**
 * Several instances on one store: each job runs once, and another instance takes over the jobs of a
 * dead owner.
 */
import { expect } from 'chai';
import type { JobDoc } from '../../../../adapters/agenda/job-document.js';
import type { JobRun, JobSpec } from '../../../../ports/jobs.js';
import { createCountJob, waitUntil, type JobsFixture } from './harness.js';

export function describeSharedJobs(world: JobsFixture): void {
  const { make, runs, stored } = world;

  it('run each of 60 jobs once on two instances', async () => {
    const [one, two] = [make([createCountJob(world.store)]), make([createCountJob(world.store)])];
    await Promise.all([one.jobs.start(), two.jobs.start()]);
    await Promise.all(Array.from({ length: 60 }, (_, n) => (n % 2 ? one : two).jobs.enqueue('test.count', n)));
    await waitUntil('all runs', async () => (await stored()) === 0);
    expect((await runs()).map(({ n }) => n).toSorted((a, b) => a - b)).to.deep.equal(
      Array.from({ length: 60 }, (_, n) => n),
    );
  });

  it('expires a lock that a dead owner left, and runs the job elsewhere', async () => {
    const seen: unknown[] = [];
    const spec: JobSpec = { name: 'a.b', timeoutMs: 300, run: async ({ data }) => void seen.push(data) };
    const past = new Date(Date.now() - 1).toISOString();
    const future = new Date(Date.now() + 2_000).toISOString();
    const dead = { name: 'a.b', lock: 'dead', owner: 'gone:1', next_run_at: null, retry: 0, fail_count: 0 };
    await world.store
      .collection('kernel_jobs')
      .insert({ id: 'x1', ...dead, data: 'over', due_at: past } as { id: string });
    await world.store
      .collection('kernel_jobs')
      .insert({ id: 'x2', ...dead, data: 'running', due_at: future } as { id: string });
    const { jobs } = make([spec]);
    await jobs.start();
    await waitUntil('the first', async () => seen.length === 1);
    expect(seen).to.deep.equal(['over']);
    await waitUntil('the second', async () => seen.length === 2);
    expect(Date.now()).to.be.at.least(Date.parse(future));
  });

  it('does not let a run whose lock was taken over finish the job of another', async () => {
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
    // Does not check `running`: a job that is locked but not started does not start without its
    // lock.
    await waitUntil('the run', async () => begun);
    const thief = { lock: 'thief', due_at: new Date(Date.now() + 60_000).toISOString() };
    await world.store.collection('kernel_jobs').change({ name: 'a.b', lock: { exists: true } }, { set: thief });
    release();
    await waitUntil('the log line', async () =>
      lines.some(({ message }) => message === 'the result of a job could not be stored'),
    );
    expect(await world.store.collection('kernel_jobs').count({ lock: 'thief' })).to.equal(1);
  });

  it('renews the lock of a long run, which is stored for a short time only', async () => {
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    let begun = 0;
    const spec: JobSpec = { name: 'a.b', everyMs: 3_600_000, timeoutMs: 600_000, run: () => (begun++, gate) };
    const [one, two] = [make([spec], { lockMs: 3_000 }), make([spec], { lockMs: 3_000 })];
    await Promise.all([one.jobs.start(), two.jobs.start()]);
    const ends = new Set<unknown>();
    await waitUntil('its lock was made longer three times', async () => {
      const doc = await world.store.collection<JobDoc>('kernel_jobs').get('a.b');
      if (doc?.lock !== undefined) ends.add(doc.due_at);
      expect(doc?.ahead_ms ?? 0).to.be.at.most(3_000);
      return ends.size > 3;
    });
    expect(begun).to.equal(1);
    release();
    await waitUntil('its end', async () => (await one.jobs.list())[0]?.last_finished_at);
    expect(begun).to.equal(1);
  });

  it('aborts a run whose lock was lost', async () => {
    let reason: unknown;
    let begun = false;
    const run = ({ signal }: JobRun): Promise<void> => {
      begun = true;
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
          reject(new Error('it stops'));
        });
      });
    };
    const { jobs } = make([{ name: 'a.b', timeoutMs: 600_000, run }], { lockMs: 3_000 });
    await jobs.start();
    await jobs.enqueue('a.b');
    await waitUntil('the run', async () => begun);
    const thief = { lock: 'thief', due_at: new Date(Date.now() + 60_000).toISOString() };
    await world.store.collection('kernel_jobs').change({ name: 'a.b', lock: { exists: true } }, { set: thief });
    await waitUntil('its end', async () => reason !== undefined);
    expect(String(reason)).to.contain('the lock of job a.b was lost to another process');
  });
}
