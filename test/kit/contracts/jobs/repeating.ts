import { expect } from 'chai';
import type { JobSpec } from '../../../../ports/jobs.js';
import { waitUntil, type JobsFixture } from './harness.js';

export function describeRepeatingJobs(world: JobsFixture): void {
  const { make } = world;

  it('repeats without overlapping, on two instances, also after a failure', async () => {
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
    await waitUntil('eight runs', async () => count >= 8);
    expect(most).to.equal(1);
    expect(await world.store.collection('kernel_jobs').count({})).to.equal(1);
    const [info] = await one.jobs.list();
    expect(info).to.include({ name: 'a.tick', every_ms: 20, fail_count: 0 });
    expect(info?.next_run_at).to.match(/Z$/);
  });

  it('repeats many jobs that are due together, each without overlapping, on two instances', async () => {
    const names = ['a.one', 'a.two', 'a.three', 'a.slow'];
    const running = new Map<string, number>();
    const counts = new Map<string, number>();
    let most = 0;
    const specs = names.map((name): JobSpec => ({
      name,
      everyMs: name === 'a.three' ? 60 : 30,
      timeoutMs: name === 'a.two' ? 60_000 : 120_000,
      run: async () => {
        running.set(name, (running.get(name) ?? 0) + 1);
        most = Math.max(most, running.get(name) ?? 0);
        await new Promise((resolve) => setTimeout(resolve, name === 'a.slow' ? 400 : 5));
        running.set(name, (running.get(name) ?? 0) - 1);
        counts.set(name, (counts.get(name) ?? 0) + 1);
        if (name === 'a.one' && counts.get(name) === 2) throw new Error('once');
      },
    }));
    const [one, two] = [make(specs), make(specs)];
    await Promise.all([one.jobs.start(), two.jobs.start()]);
    await waitUntil('three runs of the slow one, and more of the others', async () =>
      names.every((name) => (counts.get(name) ?? 0) >= (name === 'a.slow' ? 3 : 6)),
    );
    expect(most).to.equal(1);
    expect(one.lines.concat(two.lines).filter(({ message }) => message !== 'a job failed')).to.deep.equal([]);
    const infos = await one.jobs.list();
    expect(infos.map(({ name }) => name)).to.deep.equal(names);
    for (const { last_finished_at, last_run_at } of infos) expect([last_finished_at, last_run_at]).not.to.include(null);
  });

  it('runs again when it is requested while it runs concurrently with others', async () => {
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const ran: string[] = [];
    const specs = ['a.one', 'a.two'].map((name): JobSpec => ({
      name,
      everyMs: 3_600_000,
      run: async () => {
        ran.push(name);
        await gate;
      },
    }));
    const { jobs } = make(specs);
    await jobs.start();
    await waitUntil('both run', async () => ran.length === 2);
    await jobs.enqueue('a.one');
    release();
    await waitUntil('it runs again', async () => ran.length === 3);
    expect(ran.toSorted()).to.deep.equal(['a.one', 'a.one', 'a.two']);
    await waitUntil('all are over', async () => (await jobs.list()).every(({ running }) => !running));
    for (const { next_run_at } of await jobs.list())
      expect(Date.parse(next_run_at ?? '')).to.be.greaterThan(Date.now() + 3_500_000);
  });

  it('plans a cron job in UTC, and a repeating job earlier when its interval became shorter', async () => {
    const none = async (): Promise<void> => undefined;
    const cron = { name: 'a.cron', cron: '30 4 * * *', run: none };
    const first = make([cron, { name: 'a.long', everyMs: 3_600_000, run: none }]);
    await first.jobs.start();
    await waitUntil('the first run', async () => (await first.jobs.list())[1]?.last_finished_at);
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
    await waitUntil('the run', async () => seen.length === 1);
    expect(await two.jobs.runNow('a.tick')).to.equal(false);
    expect((await two.jobs.list())[0]).to.include({ running: true });
    release();
    expect(await run).to.equal(true);
    expect((await two.jobs.list())[0]).to.include({ running: false });
    expect(await two.jobs.runNow('a.tick')).to.equal(true);
    expect(seen).to.deep.equal(['x', null]);
  });

  it('throws from runNow what the job threw, and records it', async () => {
    const failure = new Error('broken');
    const { jobs } = make([{ name: 'a.once', run: () => Promise.reject(failure) }]);
    const error = await jobs.runNow('a.once').then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).to.equal(failure);
    expect((await jobs.list())[0]).to.include({ running: false, fail_count: 1, fail_reason: 'broken' });
  });

  it('lets a repeating job be advanced, also while it runs', async () => {
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
    await waitUntil('the first run', async () => (await jobs.list())[0]?.last_finished_at);
    await jobs.enqueue('a.tick');
    await waitUntil('the second run', async () => count === 2);
    await jobs.enqueue('a.tick');
    release();
    await waitUntil('the third run', async () => count === 3);
  });
}
