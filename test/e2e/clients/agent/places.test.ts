/**
 * Where the agent writes (contract 90, where it writes), what it does without room, and what file
 * systems can do.
 */
import { expect } from 'chai';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  chmod,
  chown,
  cp,
  lchown,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { createKeys, ReleaseServer, sha256, type SourceFile } from '../../../support/release-server.js';
import { FAULTY, install, offlinePackage, remove, runAgent, runAlike, scratch, treeOf, type Ran } from './agent.js';

const keys = createKeys();
const pin = sha256(keys.spki);
const isRoot = process.getuid?.() === 0;
const USER = 12_345;
const OLD: SourceFile[] = [
  { path: 'app.txt', content: 'old' },
  { path: 'lib/core.txt', content: 'old core' },
  { path: 'gone/x.txt', content: 'gone' },
];
const NEW: SourceFile[] = [
  { path: 'app.txt', content: 'new' },
  { path: 'lib/core.txt', content: 'new core' },
];

function ran(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('update-agent: file system paths', function () {
  const server = new ReleaseServer(keys);
  let work: string;
  let dir: string;
  /** Applications that an agent waits for. */
  const applications: ChildProcess[] = [];
  const startApplication = (script = 'setInterval(() => {}, 1000)'): ChildProcess => {
    const application = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
    applications.push(application);
    return application;
  };
  const offline = (): string[] => ['--package', join(work, 'package', 'package.tar.gz'), '--pin', pin, '--dir', dir];
  const go = (args: string[] = [], env: Record<string, string> = {}): Promise<Ran> =>
    runAlike([...offline(), ...args], env);
  const start = (args: string[] = [], options: Parameters<typeof runAgent>[1] = {}): Promise<Ran> =>
    runAgent([...offline(), ...args], options);

  /** Exit code and message, and nothing changed. */
  async function rejected(code: number, message: RegExp, args: string[] = []): Promise<void> {
    const before = await treeOf(dir);
    const found = await go(args);
    expect(found.code, found.stderr).to.equal(code);
    expect(found.stderr).to.match(message);
    expect(await treeOf(dir)).to.deep.equal(before);
  }

  beforeEach(async () => {
    work = await scratch();
    await chmod(work, 0o755);
    dir = join(work, 'app');
    await mkdir(dir, { mode: 0o755 });
    await install(dir, server.publish({ version: '1.0.0', files: OLD }));
    await offlinePackage(join(work, 'package'), server.publish({ version: '1.1.0', files: NEW }), keys);
  });
  afterEach(async () => {
    for (const application of applications.splice(0)) application.kill('SIGKILL');
    await remove(work);
  });

  describe('parent directories', () => {
    it('exits 9 for a symlink with any target', async () => {
      await rename(join(dir, 'lib'), join(work, 'elsewhere'));
      await symlink(join(work, 'elsewhere'), join(dir, 'lib'));
      await rejected(9, /lib is a link; nothing was changed/);
      expect(await readFile(join(work, 'elsewhere', 'core.txt'), 'utf8')).to.equal('old core');
    });

    it('exits 9 for a symlink above a removed file', async () => {
      await rename(join(dir, 'gone'), join(work, 'elsewhere'));
      await symlink(join(work, 'elsewhere'), join(dir, 'gone'));
      await rejected(9, /gone is a link/);
      expect(await readdir(join(work, 'elsewhere'))).to.deep.equal(['x.txt']);
    });

    it('checks .update-agent and its folders as parents', async () => {
      await mkdir(join(work, 'elsewhere'));
      await symlink(join(work, 'elsewhere'), join(dir, '.update-agent'));
      await rejected(9, /\.update-agent is a symbolic link/);
      expect(await readdir(join(work, 'elsewhere'))).to.deep.equal([]);
      await remove(join(dir, '.update-agent'));
      await mkdir(join(dir, '.update-agent'), { mode: 0o700 });
      for (const name of ['lock', 'download', 'staging', 'backup', 'log']) {
        await symlink(join(work, 'elsewhere'), join(dir, '.update-agent', name));
        await rejected(9, /is a link/);
        await remove(join(dir, '.update-agent', name));
      }
      expect(await readdir(join(work, 'elsewhere'))).to.deep.equal([]);
    });

    it('exits 9 for a parent that other users can write to', async () => {
      await chmod(join(dir, 'lib'), 0o777);
      await rejected(9, /lib is writable by others/);
      await chmod(join(dir, 'lib'), 0o755);
      await chmod(dir, 0o757);
      await rejected(9, /is writable by others/);
    });

    it('exits 9 when manifest.json is a symlink', async () => {
      await rename(join(dir, 'manifest.json'), join(work, 'm.json'));
      await symlink(join(work, 'm.json'), join(dir, 'manifest.json'));
      await rejected(9, /manifest\.json is a symbolic link/);
    });

    it('exits 9 for a parent on another device', async function () {
      if (!isRoot) this.skip();
      if (!ran('mount', '-t', 'tmpfs', '-o', 'size=1m,mode=755', 'tmpfs', join(dir, 'lib'))) this.skip();
      try {
        await rejected(9, /lib is on another device/);
      } finally {
        execFileSync('umount', [join(dir, 'lib')]);
      }
    });
  });

  it('validates paths of the local manifest like those of the archive', async () => {
    const text = await readFile(join(dir, 'manifest.json'), 'utf8');
    await writeFile(join(work, 'victim'), 'untouched');
    await writeFile(join(dir, 'manifest.json'), text.replace('gone/x.txt', '../victim1'));
    await rejected(3, /\.\./);
  });

  it('rejects a journal whose paths leave the installation', async () => {
    await start([], { program: FAULTY, env: { FAULT_AT: '14' } });
    const path = join(dir, '.update-agent', 'journal.jsonl');
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll('gone/x.txt', '../../victim'));
    const recovered = await runAlike(['--action', 'recover', '--dir', dir]);
    expect(recovered.code).to.equal(5);
    expect(recovered.stderr).to.include('the backup remains');
  });

  it('writes nothing in recover without an open update, and ignores a truncated last line', async () => {
    const before = await readdir(dir);
    expect(await runAlike(['--action', 'recover', '--dir', dir])).to.include({ code: 0, stdout: '', stderr: '' });
    expect(await readdir(dir)).to.deep.equal(before);
    const tree = await treeOf(dir);
    await start([], { program: FAULTY, env: { FAULT_AT: '14' } });
    const path = join(dir, '.update-agent', 'journal.jsonl');
    await writeFile(path, (await readFile(path, 'utf8')).concat('{"step":"repl'));
    const recovered = await runAlike(['--action', 'recover', '--dir', dir]);
    expect(recovered).to.include({ code: 0, stdout: 'ROLLED_BACK: 1.1.0 -> 1.0.0\n' });
    expect(await treeOf(dir)).to.deep.equal(tree);
  });

  it('exits 5 when a rollback fails, retains the backup, and retries', async () => {
    const tree = await treeOf(dir);
    await start([], { program: FAULTY, env: { FAULT_AT: '12' } });
    expect((await readFile(join(dir, '.update-agent', 'journal.jsonl'), 'utf8')).split('\n').length).to.be.greaterThan(
      2,
    );
    // Somebody put a directory with things of his where a removed file has to come back.
    await remove(join(dir, 'gone'));
    await mkdir(join(dir, 'gone', 'x.txt', 'mine'), { recursive: true });
    const first = await runAlike(['--action', 'recover', '--dir', dir]);
    expect(first.code, first.stderr).to.equal(5);
    expect(first.stderr).to.include('the backup remains in');
    await remove(join(dir, 'gone'));
    await mkdir(join(dir, 'gone'), { mode: 0o755 });
    expect((await runAlike(['--action', 'recover', '--dir', dir])).code).to.equal(0);
    expect(await treeOf(dir)).to.deep.equal(tree);
  });

  it('replaces an open file, and keeps the old content available to its reader', async () => {
    const held = await open(join(dir, 'app.txt'), 'r');
    expect((await go()).code).to.equal(0);
    expect(await held.readFile('utf8')).to.equal('old');
    await held.close();
    expect(await readFile(join(dir, 'app.txt'), 'utf8')).to.equal('new');
  });

  it('replaces the agent’s executable last, and moves the old executable aside until the next start', async () => {
    const own = [...NEW, { path: 'a-agent.js', content: 'new agent' }];
    await offlinePackage(join(work, 'package'), server.publish({ version: '1.1.0', files: own }), keys);
    // A program of one file, as the executable is.
    await writeFile(
      join(dir, 'a-agent.js'),
      `import(${JSON.stringify(FAULTY)}).catch((e) => { console.error(e); process.exit(99); });\n`,
    );
    const log = join(work, 'points');
    const found = await start(['--keep-backups', '0'], { program: join(dir, 'a-agent.js'), env: { FAULT_COUNT: log } });
    expect(found.code, found.stderr).to.equal(0);
    expect(await readFile(join(dir, 'a-agent.js'), 'utf8')).to.equal('new agent');
    const places = (await readFile(log, 'utf8'))
      .split('\n')
      .filter((line) => line.startsWith('before replace') || line.startsWith('before create'));
    expect(places.at(-1)).to.match(/a-agent\.js$/);
    const backups = await readdir(join(dir, '.update-agent', 'backup'), { recursive: true });
    expect(backups.filter((name) => name.endsWith('a-agent.js'))).to.have.length(1);
    expect(await readFile(join(dir, '.update-agent', 'agent'), 'utf8')).to.include('import(');
    await go();
    expect(await readdir(join(dir, '.update-agent', 'backup'))).to.deep.equal([]);
  });

  describe('as root', () => {
    before(function () {
      if (!isRoot) this.skip();
    });

    async function give(path: string): Promise<void> {
      for (const name of await readdir(path, { recursive: true })) await lchown(join(path, name), USER, USER);
      await chown(path, USER, USER);
    }

    it('runs as the owner of the installation', async () => {
      await give(dir);
      const found = await start();
      expect(found.code, found.stderr).to.equal(0);
      expect(found.stdout).to.include('UPDATED: 1.0.0 -> 1.1.0\n');
      const owners = new Set<number>();
      for (const name of await readdir(dir, { recursive: true })) owners.add((await stat(join(dir, name))).uid);
      expect([...owners]).to.deep.equal([USER]);
    });

    it('stops and starts the service only as root', async () => {
      await give(dir);
      const bin = join(work, 'bin');
      await mkdir(bin);
      await writeFile(join(bin, 'systemctl'), `#!/bin/sh\necho "$(id -u) $*" >> ${work}/calls\n`, { mode: 0o755 });
      await writeFile(join(work, 'agent.json'), JSON.stringify({ service: 'shop.service' }), { mode: 0o600 });
      const PATH = `${bin}:${process.env.PATH}`;
      const found = await start(['--restart', '--config', join(work, 'agent.json')], { env: { PATH } });
      expect(found.code, found.stderr).to.equal(0);
      expect(await readFile(join(work, 'calls'), 'utf8')).to.equal('0 stop shop.service\n0 start shop.service\n');
    });

    it('restarts a service after a rollback, and reports the original error when that fails', async function () {
      if (!ran('chattr', '+i', join(dir, 'lib/core.txt'))) this.skip();
      const bin = join(work, 'bin');
      await mkdir(bin);
      const script = `#!/bin/sh\necho "$*" >> ${work}/calls\n[ "$1" != start ] || { echo refused >&2; exit 1; }\n`;
      await writeFile(join(bin, 'systemctl'), script, { mode: 0o755 });
      await writeFile(join(work, 'agent.json'), JSON.stringify({ service: 'shop.service' }), { mode: 0o600 });
      const PATH = `${bin}:${process.env.PATH}`;
      try {
        const found = await start(['--restart', '--config', join(work, 'agent.json')], { env: { PATH } });
        expect(found.code, found.stderr).to.equal(4);
        expect(found.stdout).to.match(/ROLLED_BACK: 1\.1\.0 -> 1\.0\.0\n/);
        expect(found.stdout).to.match(/WARNING: the service shop\.service did not start: refused/);
        expect(await readFile(join(work, 'calls'), 'utf8')).to.equal('stop shop.service\nstart shop.service\n');
      } finally {
        execFileSync('chattr', ['-i', join(dir, 'lib/core.txt')]);
      }
    });

    it('exits 9 for a foreign owner in the directory tree', async () => {
      await chown(join(dir, 'lib'), USER, USER);
      await rejected(9, /lib belongs to another user/);
    });

    it('exits 9 for a foreign owner above the installation', async () => {
      await chown(work, USER, USER);
      await rejected(9, /belongs to another user/);
    });

    it('replaces files of other users in the installation, and restores their owner', async () => {
      await chown(join(dir, 'app.txt'), USER, USER);
      const before = await treeOf(dir);
      await start([], { program: FAULTY, env: { FAULT_AT: '25' } });
      await runAlike(['--action', 'recover', '--dir', dir]);
      const after = await treeOf(dir);
      if (after['manifest.json'] === before['manifest.json']) expect(after).to.deep.equal(before);
      expect((await go()).code).to.be.oneOf([0, 3]);
    });

    it('exits 4 for a file that cannot be replaced, and restores everything', async function () {
      if (!ran('chattr', '+i', join(dir, 'lib/core.txt'))) this.skip();
      const before = await treeOf(dir);
      try {
        const found = await go();
        expect(found.code, found.stderr).to.equal(4);
        expect(found.stdout).to.include('ROLLED_BACK: 1.1.0 -> 1.0.0\n');
        expect(await treeOf(dir)).to.deep.equal(before);
      } finally {
        execFileSync('chattr', ['-i', join(dir, 'lib/core.txt')]);
      }
      expect((await go()).code).to.equal(0);
    });
  });

  describe('a full disk', () => {
    let disk: string;
    before(function () {
      if (!isRoot) this.skip();
    });
    beforeEach(async function () {
      disk = join(work, 'disk');
      await mkdir(disk);
      if (!ran('mount', '-t', 'tmpfs', '-o', 'size=4m,mode=755', 'tmpfs', disk)) this.skip();
      await cp(dir, join(disk, 'app'), { recursive: true });
      dir = join(disk, 'app');
    });
    afterEach(() => {
      ran('umount', disk);
    });

    it('exits 9 before any write, and names the folder (S-space)', async () => {
      await writeFile(join(disk, 'ballast'), Buffer.alloc(3 * 1024 * 1024));
      await rejected(9, /\/disk\S* has [\d.]+ MiB free, and the update needs/);
    });

    it('restores the complete old version when the disk fills up at any point of the update', async () => {
      const before = await treeOf(dir);
      const saved = join(work, 'saved');
      await cp(dir, saved, { recursive: true });
      for (let point = 1; point <= 30; point += 3) {
        await remove(dir);
        await remove(join(disk, 'ballast'));
        await cp(saved, dir, { recursive: true });
        const found = await start([], { program: FAULTY, env: { FAULT_FILL: `${point} ${join(disk, 'ballast')}` } });
        const tree = await treeOf(dir);
        if (found.code === 0) expect(tree['app.txt'], String(point)).to.not.equal(before['app.txt']);
        else {
          expect(found.code, found.stderr).to.be.oneOf([4, 9]);
          expect(tree, String(point)).to.deep.equal(before);
        }
      }
    });
  });

  describe('a case-insensitive file system without links', () => {
    let disk: string;
    beforeEach(async function () {
      disk = join(work, 'disk');
      await mkdir(disk);
      const image = join(work, 'image');
      await writeFile(image, Buffer.alloc(40 * 1024 * 1024));
      if (!isRoot || !ran('mkfs.vfat', image)) this.skip();
      if (ran('mount', '-o', 'loop,umask=022', image, disk)) return;
      // Where the kernel has no vfat, a driver in user space.
      if (!ran('fusefat', '-o', 'rw+', image, disk)) this.skip();
    });
    afterEach(() => {
      if (!ran('umount', disk)) ran('fusermount', '-u', disk);
    });

    it('renames a file to another spelling, and does not treat it as an orphan', async () => {
      dir = join(disk, 'app');
      await mkdir(dir);
      await install(
        dir,
        server.publish({
          version: '1.0.0',
          files: [
            { path: 'Readme.txt', content: 'old' },
            { path: 'b.txt', content: 'b' },
          ],
        }),
      );
      const next = server.publish({ version: '1.1.0', files: [{ path: 'README.txt', content: 'new' }] });
      await offlinePackage(join(work, 'package'), next, keys);
      const found = await go();
      expect(found.code, found.stderr).to.equal(0);
      const names = (await readdir(dir)).filter((name) => !name.startsWith('.'));
      expect(names.sort()).to.deep.equal(['README.txt', 'manifest.json']);
      expect(await readFile(join(dir, 'README.txt'), 'utf8')).to.equal('new');
    });

    it('leaves the old or the new version complete when killed', async () => {
      const [old, next] = [
        server.publish({
          version: '1.0.0',
          files: [
            { path: 'Readme.txt', content: 'old' },
            { path: 'b.txt', content: 'b' },
          ],
        }),
        server.publish({
          version: '1.1.0',
          files: [
            { path: 'README.txt', content: 'new' },
            { path: 'b.txt', content: 'b2' },
          ],
        }),
      ];
      await offlinePackage(join(work, 'package'), next, keys);
      for (const point of [6, 9, 11, 13, 15, 17, 19]) {
        dir = join(disk, `app${point}`);
        await mkdir(dir);
        await install(dir, old);
        await start([], { program: FAULTY, env: { FAULT_AT: String(point) } });
        expect((await runAlike(['--action', 'recover', '--dir', dir])).code).to.equal(0);
        const isNew = (await readFile(join(dir, 'manifest.json'), 'utf8')) === next.manifest;
        const names = (await readdir(dir)).filter((name) => !name.startsWith('.'));
        expect(names.sort()).to.deep.equal([isNew ? 'README.txt' : 'Readme.txt', 'b.txt', 'manifest.json']);
        expect(await readFile(join(dir, 'b.txt'), 'utf8')).to.equal(isNew ? 'b2' : 'b');
      }
    });
  });

  it('does not treat a path that equals a new path after case folding and NFC as an orphan (win-*)', async () => {
    await remove(dir);
    await mkdir(dir);
    await install(
      dir,
      server.publish({
        version: '1.0.0',
        platform: 'win-x64',
        files: [
          { path: 'App.dll', content: '1' },
          { path: 'u\u0308.txt', content: '1' },
        ],
      }),
    );
    const next = server.publish({
      version: '1.1.0',
      platform: 'win-x64',
      files: [
        { path: 'app.DLL', content: '2' },
        { path: '\u00fc.txt', content: '2' },
      ],
    });
    await offlinePackage(join(work, 'package'), next, keys);
    expect((await go(['--platform', 'win-x64'])).code).to.equal(0);
    expect(Object.keys(await treeOf(dir))).to.include.members(['App.dll', 'app.DLL', 'u\u0308.txt', '\u00fc.txt']);
  });

  it('waits for a process, and aborts after the time limit', async () => {
    const child = startApplication();
    const late = await start(['--wait-for-pid', String(child.pid), '--wait-seconds', '1']);
    expect(late.code, late.stderr).to.equal(7);
    expect(await readFile(join(dir, 'app.txt'), 'utf8')).to.equal('old');
    const waiting = start(['--wait-for-pid', String(child.pid)]);
    setTimeout(() => child.kill('SIGKILL'), 300);
    expect((await waiting).code).to.equal(0);
  });

  it('reports busy to a second agent, and takes over the lock of a dead agent', async () => {
    const child = startApplication();
    const first = start(['--wait-for-pid', String(child.pid)]);
    const lock = join(dir, '.update-agent', 'lock', '1');
    while ((await readFile(lock, 'utf8').catch(() => '')) === '')
      await new Promise((resolve) => setTimeout(resolve, 20));
    const second = await go();
    child.kill('SIGKILL');
    const { code, stderr } = await first;
    expect(second.code, `${second.stderr}${second.stdout}`).to.equal(6);
    expect(code, stderr).to.equal(0);
    await writeFile(
      join(dir, '.update-agent', 'lock', '99'),
      JSON.stringify({ pid: 2 ** 22 + 1, began: '1', space: 'gone' }),
    );
    const touched = new Date(Date.now() - 600_000);
    execFileSync('touch', ['-d', touched.toISOString(), join(dir, '.update-agent', 'lock', '99')]);
    const again = await go();
    expect(again.code, again.stderr).to.equal(0);
    expect(again.stdout).to.match(/UP_TO_DATE: 1\.1\.0\n$/);
  });

  it('starts the entry point detached when no service is configured', async () => {
    const entry = { path: 'start.sh', content: `#!/bin/sh\necho started > ${work}/started\n`, mode: '0755' as const };
    await offlinePackage(
      join(work, 'package'),
      server.publish({ version: '1.1.0', files: [...NEW, entry], entry: 'start.sh' }),
      keys,
    );
    const started = async (): Promise<void> => {
      while ((await readFile(join(work, 'started'), 'utf8').catch(() => '')) === '')
        await new Promise((resolve) => setTimeout(resolve, 20));
      await remove(join(work, 'started'));
    };
    expect((await go(['--restart'])).code).to.equal(0);
    await started();
    // The application that started the agent has ended; nothing is newer, and still it comes back.
    const child = startApplication('setTimeout(() => {}, 300)');
    const again = await go(['--restart', '--wait-for-pid', String(child.pid)]);
    expect(again.code, again.stderr).to.equal(0);
    expect(again.stdout).to.match(/UP_TO_DATE: 1\.1\.0\n$/);
    await started();
  });

  it('requires a pin for --package, and rejects other keys', async () => {
    const args = ['--package', join(work, 'package', 'package.tar.gz'), '--dir', dir];
    expect((await runAlike(args)).code).to.equal(64);
    expect((await runAlike([...args, '--pin', sha256('other')])).code).to.equal(3);
    await writeFile(join(work, 'package', 'manifest.sig'), 'AAAA');
    expect((await go()).code).to.equal(3);
    await remove(join(work, 'package', 'manifest.sig'));
    expect((await go()).code).to.equal(3);
    expect((await go(['--allow-unsigned'])).code).to.equal(0);
  });
});
