import { expect } from 'chai';
import type { JobRun } from '../../../../ports/jobs.js';
import { waitUntil, type JobsFixture } from './harness.js';

export function describeEnqueuedJobs(world: JobsFixture): void {
  const { make, stored } = world;

  it('runs what is enqueued, with its data, and stores nothing of it afterwards', async () => {
    const seen: unknown[] = [];
    const { jobs } = make([{ name: 'a.b', run: async ({ data }) => void seen.push(data) }]);
    await jobs.start();
    await jobs.enqueue('a.b', { x: [1, null, 'é'] });
    await jobs.enqueue('a.b');
    await waitUntil('two runs', async () => seen.length === 2);
    expect(seen).to.deep.include.members([{ x: [1, null, 'é'] }, null]);
    await waitUntil('nothing is left', async () => (await stored()) === 0);
    const info = await waitUntil('the record', async () => (await jobs.list()).find((job) => job.last_finished_at));
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

  it('runs what was enqueued before the start, and by a process that runs no jobs', async () => {
    const seen: unknown[] = [];
    const spec = { name: 'a.b', run: async ({ data }: JobRun) => void seen.push(data) };
    await make([spec]).jobs.enqueue('a.b', 1);
    const { jobs } = make([spec]);
    await jobs.start();
    await waitUntil('the run', async () => seen.length === 1);
  });

  it('waits until it is due', async () => {
    let ran = 0;
    const { jobs } = make([{ name: 'a.b', run: async () => void (ran = Date.now()) }]);
    await jobs.start();
    const at = Date.now() + 300;
    await jobs.enqueue('a.b', null, { at: new Date(at).toISOString() });
    expect((await jobs.list())[0]?.next_run_at).to.equal(new Date(at).toISOString());
    await waitUntil('the run', async () => ran > 0);
    expect(ran).to.be.at.least(at);
  });

  it('stores at most one waiting job per key, at the earlier time, next to a running one', async () => {
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
    await waitUntil('the first run', async () => seen.length === 1);
    expect(seen).to.deep.equal(['later']);
    await jobs.enqueue('a.b', 'again', { key: 'k' });
    await waitUntil('the second run', async () => seen.length === 2);
    expect(seen).to.deep.equal(['later', 'again']);
    release();
  });

  it('retries with increasing delays, up to the limit, then fails with the reason', async () => {
    const times: number[] = [];
    const attempts: [number, boolean][] = [];
    const fail = async ({ attempt, lastAttempt }: JobRun): Promise<void> => {
      times.push(Date.now());
      attempts.push([attempt, lastAttempt]);
      throw new Error('receiver down');
    };
    const { jobs, lines, metrics } = make([{ name: 'a.b', run: fail }], { retryBaseMs: 60 });
    await jobs.start();
    await jobs.enqueue('a.b', null, { retry: 2, key: 'k' });
    await waitUntil('the last try', async () => times.length === 3 && (await stored()) === 0);
    const [first = 0, second = 0, third = 0] = times;
    expect(second - first).to.be.at.least(60);
    expect(third - second).to.be.at.least(120);
    const info = await waitUntil('the record', async () => (await jobs.list()).find((job) => job.fail_count > 0));
    expect(info).to.include({ fail_count: 3, fail_reason: 'receiver down' });
    expect(attempts).to.deep.equal([
      [1, false],
      [2, false],
      [3, true],
    ]);
    const reported = lines.filter(({ message }) => message.startsWith('a job failed')).map(({ message }) => message);
    expect(reported).to.deep.equal([
      'a job failed and will be retried',
      'a job failed and will be retried',
      'a job failed',
    ]);
    expect(await metrics.render()).to.contain('aos_job_runs_total{job="a.b",result="error"} 3\n');
  });

  it('is failing while it waits for a retry', async () => {
    const fail = async (): Promise<void> => {
      throw new Error('receiver down');
    };
    const { jobs } = make([{ name: 'a.b', run: fail }], { retryBaseMs: 60_000 });
    await jobs.start();
    await jobs.enqueue('a.b', null, { retry: 1 });
    const info = await waitUntil('the failure', async () =>
      (await jobs.list()).find((job) => job.fail_reason !== null),
    );
    expect(info).to.include({ fail_count: 1, fail_reason: 'receiver down', running: false });
    expect(await stored()).to.equal(1);
  });

  it('names a job that blocks the event loop', async () => {
    const block = async (): Promise<void> => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_600);
    };
    const { jobs, lines } = make([{ name: 'a.b', run: block }]);
    await jobs.start();
    await jobs.enqueue('a.b');
    await waitUntil('the line', async () =>
      lines.some(({ message }) => /^the event loop was blocked for \d+ ms while a\.b ran$/.test(message)),
    );
  });

  it('runs nothing of a job that is retired, and keeps its queue', async () => {
    const ran: string[] = [];
    const spec = (name: string) => ({ name, run: async () => void ran.push(name) });
    const { jobs } = make([spec('a.b'), spec('a.c')]);
    await jobs.enqueue('a.b');
    jobs.retire('a.b');
    await jobs.start();
    await jobs.enqueue('a.c');
    await waitUntil('the other', async () => ran.length === 1 && (await stored()) === 1);
    expect(ran).to.deep.equal(['a.c']);
    expect((await jobs.list()).map(({ name }) => name)).to.deep.equal(['a.c']);
  });

  it('reports how long the longest waiting job has been due', async () => {
    const { jobs, metrics } = make([{ name: 'a.b', run: () => Promise.resolve() }]);
    expect(await metrics.render()).to.contain('aos_job_queue_age_seconds 0\n');
    await jobs.enqueue('a.b', null, { at: new Date(Date.now() + 3_600_000).toISOString() });
    expect(await metrics.render()).to.contain('aos_job_queue_age_seconds 0\n');
    await jobs.enqueue('a.b', null, { at: new Date(Date.now() - 3_600_000).toISOString() });
    expect(await metrics.render()).to.match(/^aos_job_queue_age_seconds 36\d\d/m);
    await jobs.start();
    await waitUntil('the job', async () => (await metrics.render()).includes('aos_job_queue_age_seconds 0\n'));
  });

  it('succeeds on a retry and resets the failure', async () => {
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
    await waitUntil('success', async () => tries === 2 && (await stored()) === 0);
    expect((await jobs.list())[0]).to.include({ fail_count: 0, fail_reason: null });
  });
}
