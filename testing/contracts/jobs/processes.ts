/** Several processes on one store, one of which is killed. */
import { expect } from 'chai';
import type { JobSpec } from '../../../ports/jobs.js';
import { countJob, SHORT_LOCKS, until, type JobsEngine, type JobsWorld } from './harness.js';

export function jobsOfProcesses(world: JobsWorld, runner: NonNullable<JobsEngine['runner']>): void {
  const { make, runs, stored } = world;

  it('two processes run each of 60 jobs once', async () => {
    const processes = await Promise.all([runner(), runner()]);
    const { jobs } = make([countJob(world.store)]);
    await Promise.all(Array.from({ length: 60 }, (_, n) => jobs.enqueue('test.count', n)));
    await until('all runs', async () => (await stored()) === 0);
    const done = await runs();
    expect(done.map(({ n }) => n).toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: 60 }, (_, n) => n));
    expect(done.every(({ pid }) => processes.some((process) => process.pid === pid))).to.equal(true);
    await Promise.all(processes.map((process) => process.kill()));
  });

  const killed = async (spec: JobSpec): Promise<void> => {
    const first = await runner(SHORT_LOCKS);
    const { jobs } = make([spec]);
    await jobs.enqueue(spec.name, 7);
    await until('the first run', async () => (await runs()).length === 1);
    await first.kill();
    const second = await runner(SHORT_LOCKS);
    const both = await until('the second run', async () => {
      const done = await runs();
      return done.length === 2 && done;
    });
    expect(both.map(({ pid }) => pid)).to.have.members([first.pid, second.pid]);
    await second.kill();
  };

  it('a job whose process is killed runs again elsewhere, after its lock has ended', () =>
    killed({ name: 'test.hang', timeoutMs: 500, run: async () => undefined }));

  it('a job that may last for ten minutes does not wait for them when its process is killed', () =>
    killed({ name: 'test.long', timeoutMs: 600_000, run: async () => undefined }));
}
