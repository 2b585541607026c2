/**
 * Crash safety, proven: the real program ends at every point of an update and of the recovery that
 * follows, and at random moments of a large one. After the next start the installation is the old
 * or the new version, byte for byte, mode for mode.
 *
 * A killed process leaves the disk alone. So one run copies it at each of its points, and every
 * copy is recovered. At some points the program is killed as well, and what it leaves is what was
 * copied; with SVC_TEST_BUDGET, as in .ci/run, at all.
 */
import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scaleRepeats } from '../../../support/repeat-budget.js';
import { createKeys, ReleaseServer, sha256, type SourceFile } from '../../../support/release-server.js';
import { FAULTY, install, offlinePackage, remove, runAgent, runHere, scratch, treeOf, type Ran } from './agent.js';

const RANDOM_KILLS = scaleRepeats(5);
/** Beside the copies, each so many-th point is one of a kill. */
const KILLED = scaleRepeats(1) > 1 ? 1 : 8;
const keys = createKeys();
const pin = sha256(keys.spki);

const OLD: SourceFile[] = [
  { path: 'app.sh', content: '#!/bin/sh\necho 1\n', mode: '0755' },
  { path: 'core.txt', content: 'core 1' },
  { path: 'lib/gone.txt', content: 'gone' },
  { path: 'dir-to-file/inside', content: 'inside' },
  { path: 'file-to-dir', content: 'file' },
  { path: 'linked.txt', content: 'was a file' },
  { path: 'kept.json', content: '{}' },
];
const NEW: SourceFile[] = [
  { path: 'app.sh', content: '#!/bin/sh\necho 2\n', mode: '0755' },
  { path: 'core.txt', content: 'core 2' },
  { path: 'dir-to-file', content: 'now a file' },
  { path: 'file-to-dir/inside', content: 'now a directory' },
  { path: 'linked.txt', content: 'a file again' },
  { path: 'made/deep/new.txt', content: 'new' },
  { path: 'kept.json', content: '{"new":true}' },
];

const many = (n: number): SourceFile[] =>
  Array.from({ length: 200 }, (_, i) => ({ path: `files/${i % 10}/${i}.txt`, content: `${n} ${i} `.repeat(50) }));

describe('update-agent: kill -9', function () {
  this.timeout(600_000);
  let server: ReleaseServer;
  let work: string;

  before(async () => {
    server = new ReleaseServer(keys);
    await server.start();
  });
  after(() => server.stop());
  beforeEach(async () => {
    work = await scratch();
    server.releases.length = 0;
  });
  afterEach(() => remove(work));

  /** From a file, which takes the same path. */
  const go = (dir: string, env: Record<string, string> = {}): Promise<Ran> =>
    runAgent(['--package', join(work, 'package', 'package.tar.gz'), '--pin', pin, '--dir', dir], {
      env,
      program: FAULTY,
    });
  /**
   * In this process, which knows nothing of the killed one: all that a recovery has is what lies on
   * the disk.
   */
  const recover = (dir: string): Promise<Ran> => runHere(['--action', 'recover', '--dir', dir]);
  const killedRecovery = (dir: string, point: number): Promise<Ran> =>
    runAgent(['--action', 'recover', '--dir', dir], { env: { FAULT_AT: String(point) }, program: FAULTY });

  /**
   * The old version with a user's things in it, and what both trees look like: the new one as an
   * undisturbed update leaves it.
   */
  async function compared(
    from: readonly SourceFile[],
    to: readonly SourceFile[],
    disturb: (old: string) => Promise<void>,
  ) {
    const release = server.publish({ version: '1.0.0', files: [...from], preserve: ['kept.json'] });
    const old = join(work, 'old');
    await mkdir(old, { mode: 0o755 });
    await install(old, release);
    await disturb(old);
    await offlinePackage(
      join(work, 'package'),
      server.publish({ version: '1.1.0', files: [...to], preserve: ['kept.json'] }),
      keys,
    );
    const updated = join(work, 'updated');
    await cp(old, updated, { recursive: true, verbatimSymlinks: true });
    const count = await counted((env) => go(updated, env));
    return { old, updated, count, trees: { old: await treeOf(old), new: await treeOf(updated) } };
  }

  /** How many points a whole run has. */
  async function counted(ran: (env: Record<string, string>) => Promise<Ran>): Promise<number> {
    const points = join(work, 'points');
    await remove(points);
    const { code, stderr } = await ran({ FAULT_COUNT: points });
    expect(code, stderr).to.equal(0);
    return (await readFile(points, 'utf8')).split('\n').length - 1;
  }

  /** The same, and what is in the installation at each: nothing, or a folder. */
  async function copied(dir: string, ran: (env: Record<string, string>) => Promise<Ran>) {
    const to = `${dir}-at`;
    await mkdir(to);
    const count = await counted((env) => ran({ ...env, FAULT_COPY: `${dir} ${to}` }));
    const made = new Set(await readdir(to));
    return { count, left: (point: number) => (made.has(String(point)) ? join(to, String(point)) : null) };
  }

  /** The disk as it is when a run ends at a point, at the place of the run. */
  async function leave(dir: string, state: string | null): Promise<void> {
    await remove(dir);
    if (state !== null) await rename(state, dir);
  }

  const disturb = async (old: string): Promise<void> => {
    await writeFile(join(old, 'mine.txt'), 'mine');
    await remove(join(old, 'linked.txt'));
    await symlink('mine.txt', join(old, 'linked.txt'));
    await writeFile(join(old, 'kept.json'), '{"mine":true}');
  };

  it('leaves the old or the new version complete when killed at any point of an update', async () => {
    const { old, updated, trees } = await compared(OLD, NEW, disturb);
    await remove(updated);
    await cp(old, updated, { recursive: true, verbatimSymlinks: true });
    const { count, left } = await copied(updated, (env) => go(updated, env));
    expect(count).to.be.greaterThan(40);
    const recovered = async (dir: string, point: string): Promise<'old' | 'new'> => {
      const ran = await recover(dir);
      expect(ran.code, `${point}: ${ran.stderr}`).to.equal(0);
      const tree = await treeOf(dir);
      const isNew = tree['manifest.json'] === trees.new['manifest.json'];
      expect(tree, point).to.deep.equal(isNew ? trees.new : trees.old);
      await remove(dir);
      return isNew ? 'new' : 'old';
    };
    const came: string[] = [];
    for (let point = 1; point <= count; point++) {
      const killed = join(work, `at-${point}`);
      if (point % KILLED === 0) {
        await cp(old, killed, { recursive: true, verbatimSymlinks: true });
        expect((await go(killed, { FAULT_AT: String(point) })).signal, `point ${point}`).to.equal('SIGKILL');
        expect(await treeOf(killed), `point ${point}`).to.deep.equal(await treeOf(left(point) ?? ''));
      }
      await leave(updated, left(point));
      came.push(await recovered(updated, `point ${point}`));
      if (point % KILLED === 0) expect(await recovered(killed, `killed at ${point}`)).to.equal(came.at(-1));
    }
    // The commit is one moment: all before it give the old version, all after it the new one.
    expect(came.join(' ')).to.match(/^(old )+(new ?)+$/);
  });

  it('leaves nothing or the whole application when killed during an installation, and completes on retry', async () => {
    await offlinePackage(join(work, 'package'), server.publish({ version: '1.1.0', files: NEW }), keys);
    const dir = join(work, 'whole');
    const installing = (env: Record<string, string> = {}): Promise<Ran> =>
      runAgent(
        ['--action', 'install', '--package', join(work, 'package', 'package.tar.gz'), '--pin', pin, '--dir', dir],
        { env, program: FAULTY },
      );
    const { count, left } = await copied(dir, installing);
    const tree = await treeOf(dir);
    expect(count).to.be.greaterThan(20);
    const came: string[] = [];
    for (let point = 1; point <= count; point++) {
      if (point % KILLED === 0) {
        await remove(dir);
        expect((await installing({ FAULT_AT: String(point) })).signal, `point ${point}`).to.equal('SIGKILL');
        const copy = left(point);
        expect(existsSync(dir)).to.equal(copy !== null);
        if (copy !== null) expect(await treeOf(dir), `point ${point}`).to.deep.equal(await treeOf(copy));
      }
      await leave(dir, left(point));
      expect((await recover(dir)).code, `point ${point}`).to.equal(0);
      const found = await treeOf(dir);
      expect([{}, tree], `point ${point}`).to.deep.include(found);
      came.push(Object.keys(found).length === 0 ? 'nothing' : 'all');
      if (point % 7 !== 0) continue;
      const again = await installing();
      expect(again.code, again.stderr).to.equal(0);
      expect(await treeOf(dir)).to.deep.equal(tree);
    }
    expect(came.join(' ')).to.match(/^(nothing )+(all ?)+$/);
  });

  it('recovers when killed at any point of the recovery', async () => {
    const { old, count, trees } = await compared(OLD, NEW, disturb);
    let points = 0;
    for (const point of [Math.floor(count * 0.7), count - 4]) {
      const dir = join(work, `killed-${point}`);
      await cp(old, dir, { recursive: true, verbatimSymlinks: true });
      expect((await go(dir, { FAULT_AT: String(point) })).signal).to.equal('SIGKILL');
      const recovery = await copied(dir, (env) =>
        runAgent(['--action', 'recover', '--dir', dir], { env, program: FAULTY }),
      );
      points += recovery.count;
      for (let again = 1; again <= recovery.count; again++) {
        await leave(dir, recovery.left(again));
        // A third start, killed two points further on, and the one that ends it.
        if (again % KILLED === 1 % KILLED) await killedRecovery(dir, again + 2);
        expect((await recover(dir)).code).to.equal(0);
        expect([trees.old, trees.new], `${point} ${again}`).to.deep.include(await treeOf(dir));
      }
    }
    expect(points).to.be.greaterThan(20);
  });

  it('completes the next update after a kill', async () => {
    const { old, count, trees } = await compared(OLD, NEW, disturb);
    for (const point of [Math.floor(count * 0.7)]) {
      const dir = join(work, `on-${point}`);
      await cp(old, dir, { recursive: true, verbatimSymlinks: true });
      await go(dir, { FAULT_AT: String(point) });
      const ran = await go(dir);
      expect(ran.code, ran.stderr).to.equal(0);
      expect(ran.stdout).to.match(
        /^(WARNING: .*\n)?(ROLLED_BACK: 1\.1\.0 -> 1\.0\.0\n)?(WARNING: .*\n)?UPDATED: 1\.0\.0 -> 1\.1\.0\n/,
      );
      expect(await treeOf(dir)).to.deep.equal(trees.new);
    }
  });

  it(`recovers from kills at ${RANDOM_KILLS} random moments of an update of 200 files`, async () => {
    const { old, trees } = await compared(many(1), many(2), async () => {});
    const began = Date.now();
    const whole = join(work, 'timed');
    await cp(old, whole, { recursive: true });
    await runAgent(['--server', server.url, '--dir', whole]);
    const took = Date.now() - began;
    const came = { old: 0, new: 0 };
    for (let n = 0; n < RANDOM_KILLS; n++) {
      const dir = join(work, `random-${n}`);
      await cp(old, dir, { recursive: true });
      await runAgent(['--server', server.url, '--dir', dir], {
        started: (_pid, kill) => setTimeout(() => kill('SIGKILL'), took * (0.3 + 0.7 * Math.random())),
      });
      expect((await recover(dir)).code).to.equal(0);
      const tree = await treeOf(dir);
      const isNew = tree['manifest.json'] === trees.new['manifest.json'];
      expect(tree).to.deep.equal(isNew ? trees.new : trees.old);
      came[isNew ? 'new' : 'old']++;
      await remove(dir);
    }
    expect(came.old + came.new).to.equal(RANDOM_KILLS);
  });
});
