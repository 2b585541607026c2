import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { InstanceLock, InstanceRunning } from '../../../../adapters/node/instance-lock.js';
import { getFreeBytes } from '../../../../adapters/node/free-bytes.js';

const MODULE = new URL('../../../../adapters/node/instance-lock.js', import.meta.url).href;

describe('InstanceLock', () => {
  let folder: string;
  const held: InstanceLock[] = [];
  const children: ChildProcess[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-lock-'));
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    for (const lock of held.splice(0)) await lock.release();
    await rm(folder, { recursive: true, force: true });
  });

  async function acquire(): Promise<InstanceLock> {
    const lock = await InstanceLock.acquire(folder, join(folder, 'aos.db'));
    held.push(lock);
    return lock;
  }
  async function refusal(work: Promise<InstanceLock>): Promise<InstanceRunning> {
    try {
      await work;
    } catch (error) {
      expect(error).to.be.instanceOf(InstanceRunning);
      return error as InstanceRunning;
    }
    throw new Error('the lock was given twice');
  }
  /** Another process that takes the lock, says so, and keeps it until it is killed. */
  async function holder(): Promise<ChildProcess> {
    const script = `const { InstanceLock } = await import(${JSON.stringify(MODULE)});
      const lock = await InstanceLock.acquire(${JSON.stringify(folder)}, ${JSON.stringify(join(folder, 'aos.db'))});
      await lock.writeServerUrl('http://127.0.0.1:1234');
      console.log('held'); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    if (child.stdout) await once(child.stdout, 'data');
    return child;
  }

  it('is acquired once, and again after its release', async () => {
    const lock = await acquire();
    expect((await refusal(InstanceLock.acquire(folder, join(folder, 'aos.db')))).message).to.equal(
      `another server (pid ${process.pid}) is running on ${folder}`,
    );
    await lock.writeServerUrl('http://127.0.0.1:8080');
    expect(await InstanceLock.readRunningServer(folder)).to.deep.equal({
      pid: process.pid,
      url: 'http://127.0.0.1:8080',
    });
    expect((await stat(join(folder, 'server.json'))).mode & 0o777).to.equal(0o600);
    await lock.release();
    expect(await readdir(folder)).to.deep.equal([]);
    await acquire();
  });

  it('is acquired once per store, for any data directory and any link of a second server', async () => {
    const lock = await acquire();
    await lock.writeServerUrl('http://127.0.0.1:8080');
    const other = await mkdtemp(join(tmpdir(), 'aos-lock-'));
    try {
      await writeFile(join(folder, 'aos.db'), '');
      await symlink(join(folder, 'aos.db'), join(other, 'link.db'));
      for (const store of [join(folder, 'aos.db'), join(other, 'link.db')]) {
        expect((await refusal(InstanceLock.acquire(other, store))).message).to.equal(
          `another server (pid ${process.pid}, http://127.0.0.1:8080) is running on ${store}`,
        );
        expect(await readdir(other)).to.deep.equal(['link.db']);
      }
      held.push(await InstanceLock.acquire(other, join(folder, 'second.db')));
    } finally {
      await Promise.all(held.splice(0).map((each) => each.release()));
      await rm(other, { recursive: true, force: true });
    }
  });

  it('names the process that holds the lock and its address, and is acquired when that process is killed', async () => {
    const child = await holder();
    expect((await refusal(InstanceLock.acquire(folder, join(folder, 'aos.db')))).message).to.equal(
      `another server (pid ${child.pid}, http://127.0.0.1:1234) is running on ${folder}`,
    );
    child.kill('SIGKILL');
    await once(child, 'exit');
    await acquire();
    expect(JSON.parse(await readFile(join(folder, 'server.lock'), 'utf8'))).to.include({ pid: process.pid });
    expect(await InstanceLock.readRunningServer(folder)).to.equal(null);
  });

  it('is acquired by only one of many processes that find a dead owner', async () => {
    const dead = { pid: 2 ** 22 + 1, started: null, host: (await import('node:os')).hostname(), nonce: 'dead' };
    await writeFile(join(folder, 'server.lock'), JSON.stringify(dead));
    const results = await Promise.allSettled(Array.from({ length: 12 }, () => acquire()));
    expect(results.filter(({ status }) => status === 'fulfilled')).to.have.lengthOf(1);
    expect((await readdir(folder)).toSorted()).to.deep.equal(['aos.db.lock', 'server.lock']);
  });

  it('is not held by another process that has the pid of the dead owner', async function () {
    if (process.platform !== 'linux') this.skip();
    const { hostname } = await import('node:os');
    const reused = { pid: process.pid, started: 'another boot:1', host: hostname(), nonce: 'reused' };
    await writeFile(join(folder, 'server.lock'), JSON.stringify(reused));
    await acquire();
  });

  it('stays valid on another host while it is renewed', async () => {
    const path = join(folder, 'server.lock');
    await writeFile(path, JSON.stringify({ pid: 1, started: null, host: 'another-container', nonce: 'other' }));
    expect((await refusal(InstanceLock.acquire(folder, join(folder, 'aos.db')))).pid).to.equal(1);
    const before = new Date(Date.now() - 60_000);
    await utimes(path, before, before);
    await acquire();
  });

  it('is replaced when its file is not readable', async () => {
    await writeFile(join(folder, 'server.lock'), '{"pid":');
    await acquire();
  });

  it('reports the free disk space in bytes', async () => {
    expect(await getFreeBytes(folder)).to.be.greaterThan(0);
  });
});
