import { expect } from 'chai';
import { createCountJob, SHORT_LOCK_OPTIONS, waitUntil, type JobsEngine, type JobsFixture } from './harness.js';

export function describeProcessJobs(world: JobsFixture, runner: NonNullable<JobsEngine['runner']>): void {
  const { make, runs, stored } = world;

  it('run each of 60 jobs once in two processes', async () => {
    const processes = await Promise.all([runner(), runner()]);
    const { jobs } = make([createCountJob(world.store)]);
    await Promise.all(Array.from({ length: 60 }, (_, n) => jobs.enqueue('test.count', n)));
    await waitUntil('all runs', async () => (await stored()) === 0);
    const done = await runs();
    expect(done.map(({ n }) => n).toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: 60 }, (_, n) => n));
    expect(done.every(({ pid }) => processes.some((process) => process.pid === pid))).to.equal(true);
    await Promise.all(processes.map((process) => process.kill()));
  });

  /** One may run longer than its lock, the other may not. */
  const HANGING = [
    { name: 'test.long', timeoutMs: 600_000 },
    { name: 'test.hang', timeoutMs: 4_000 },
  ];

  it('run jobs of a killed process elsewhere after their locks have expired, for any time limit', async () => {
    const other = await runner(SHORT_LOCK_OPTIONS);
    const { jobs } = make(
      HANGING.map((job) => ({ ...createCountJob(world.store), ...job })),
      SHORT_LOCK_OPTIONS,
    );
    for (const [i, { name }] of HANGING.entries()) await jobs.enqueue(name, i);
    await waitUntil('the first runs', async () => new Set((await runs()).map(({ n }) => n)).size === HANGING.length);
    await other.kill();
    expect((await runs()).every(({ pid }) => pid === other.pid)).to.equal(true);
    await jobs.start();
    await waitUntil('the runs elsewhere', async () => (await stored()) === 0);
    const elsewhere = (await runs()).filter(({ pid }) => pid === process.pid);
    expect(elsewhere.map(({ n }) => n)).to.have.members(HANGING.map((_, i) => i));
  });
}
