/**
 * A disk that is full, that becomes read-only under a running store, and files of somebody else:
 * each is told in a sentence, nothing that was acknowledged is lost, and writes go on as soon as
 * the disk takes them. Real file systems, so only for root.
 */
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readdir, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { SqliteStore } from '../../../../adapters/sqlite/store.js';
import { StoreFull, StoreUnavailable, type Collection, type Doc } from '../../../../ports/store/index.js';
import { getRejection } from '../../../kit/contracts/fixture.js';
import { runCli, buildServiceEnv } from '../../../support/service.js';

const run = promisify(execFile);
const OTHERS = 65_534;

interface Row extends Doc {
  text: string;
}

describe('sqlite: disk faults', function () {
  let folder = '';
  let disk = '';
  before(function () {
    if (process.platform === 'linux' && process.getuid?.() === 0) return;
    process.stdout.write('  sqlite, a bad disk: file systems are mounted by root alone\n');
    this.skip();
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-disk-'));
    disk = join(folder, 'disk');
    await mkdir(disk);
  });
  afterEach(async () => {
    if (folder === '') return;
    await run('umount', ['-l', disk]).catch(() => undefined);
    await rm(folder, { recursive: true });
  });

  /** False, said and skipped, where this machine mounts nothing. */
  const mounted = async (test: Mocha.Context, ...args: string[]): Promise<void> => {
    try {
      await run('mount', [...args, disk]);
    } catch (error) {
      process.stdout.write(`  sqlite, a bad disk: ${(error as Error).message.split('\n')[0] ?? ''}\n`);
      test.skip();
    }
  };
  const opened = async (): Promise<[SqliteStore, Collection<Row>]> => {
    const store = new SqliteStore({ path: join(disk, 'data', 'aos.db') });
    await store.connect();
    await store.ensure([{ name: 'rows', indexes: [{ fields: ['text'] }] }]);
    return [store, store.collection<Row>('rows')];
  };
  const large = (id: string): Row => ({ id, text: 'x'.repeat(300_000) });

  it('full: rejects writes with a disk-full error, still reads, and writes again when space is available', async function () {
    await mounted(this, '-t', 'tmpfs', '-o', 'size=12m', 'tmpfs');
    const [store, rows] = await opened();
    try {
      await rows.insert({ id: 'before', text: 'kept' });
      const { bavail, bsize } = await statfs(disk);
      await writeFile(join(disk, 'ballast'), Buffer.alloc(bavail * bsize - 200_000));
      for (const id of ['one', 'two'])
        expect(await getRejection(rows.insert(large(id))), id).to.be.instanceOf(StoreFull);
      expect(await getRejection(rows.changeMany({}, { set: { text: 'y'.repeat(400_000) } }))).to.be.instanceOf(
        StoreFull,
      );
      expect((await rows.find()).items).to.deep.equal([{ id: 'before', text: 'kept' }]);
      await rm(join(disk, 'ballast'));
      await rows.insert(large('after'));
      expect(await rows.count()).to.equal(2);
    } finally {
      await store.close();
    }
  });

  it('full at startup: reports the path in one line, and leaves nothing behind', async function () {
    await mounted(this, '-t', 'tmpfs', '-o', 'size=12m', 'tmpfs');
    await mkdir(join(disk, 'data'), { mode: 0o700 });
    const { bavail, bsize } = await statfs(disk);
    await writeFile(join(disk, 'ballast'), Buffer.alloc(bavail * bsize));
    for (const dir of ['data', 'new']) {
      const { code, stderr } = await runCli(buildServiceEnv(join(disk, dir)), ['serve']);
      expect(stderr).to.match(
        new RegExp(`^configuration: data_dir ${join(disk, dir)} is on a full disk \\(from [^\\n]*\\)\n$`),
      );
      expect(code).to.equal(1);
      expect(await readdir(join(disk, dir)).catch(() => [])).to.deep.equal([]);
    }
  });

  it('full before a reopen: reports a full disk, and opens when space is available', async function () {
    await mounted(this, '-t', 'tmpfs', '-o', 'size=12m', 'tmpfs');
    const [store] = await opened();
    await store.close();
    const { bavail, bsize } = await statfs(disk);
    await writeFile(join(disk, 'ballast'), Buffer.alloc(bavail * bsize));
    const again = new SqliteStore({ path: join(disk, 'data', 'aos.db') });
    expect(((await getRejection(again.connect())) as Error).message).to.equal(
      `cannot open ${join(disk, 'data', 'aos.db')}: its disk is full; run aos doctor for a fix`,
    );
    await rm(join(disk, 'ballast'));
    const [open] = await opened();
    await open.close();
  });

  it('read-only at run time: rejects writes, still reads, and retains acknowledged writes', async function () {
    const image = join(folder, 'image');
    await writeFile(image, Buffer.alloc(24 * 1024 * 1024));
    await run('mkfs.ext4', ['-q', image]).catch(() => this.skip());
    await mounted(this, '-o', 'loop', image);
    const [store, rows] = await opened();
    for (let n = 0; n < 50; n++) await rows.insert({ id: `row${n}`, text: 'kept' });
    // What a kernel does when a disk fails.
    await run('mount', ['-o', 'remount,abort', disk]);
    for (let n = 0; n < 3; n++) {
      const error = await getRejection(rows.insert({ id: `late${n}`, text: 'refused' }));
      expect(error).to.be.instanceOf(StoreUnavailable);
      expect((error as Error).message).to.match(/^the store does not accept calls: its (disk|file)/);
    }
    expect((await getRejection(store.ping())) instanceof StoreUnavailable, 'a ping tells too').to.equal(true);
    expect((await rows.get('row7'))?.text).to.equal('kept');
    expect(await rows.count({ text: 'kept' })).to.equal(50);
    await store.close();
    // As after a new start of the machine: another mount of the same bytes.
    const copy = join(folder, 'copy');
    await copyFile(image, copy);
    await run('umount', ['-l', disk]);
    await run('mount', ['-o', 'loop', copy, disk]);
    const [again, same] = await opened();
    expect(await same.count()).to.equal(50);
    await same.insert({ id: 'after', text: 'new' });
    await again.close();
  });

  it('read-only from the start: exits with a one-line message', async function () {
    await mounted(this, '-t', 'tmpfs', '-o', 'size=12m', 'tmpfs');
    const [store] = await opened();
    await store.close();
    await run('mount', ['-o', 'remount,ro', disk]);
    const message = String(await getRejection(new SqliteStore({ path: join(disk, 'data', 'aos.db') }).connect()));
    expect(message).to.match(/read-only|EROFS/);
  });

  it('a file of another user: exits with a one-line message', async () => {
    const [store] = await opened();
    await store.close();
    for (const path of [folder, disk, join(disk, 'data')]) await chmod(path, 0o755);
    const script = `
      process.setgid(${OTHERS}); process.setuid(${OTHERS});
      const { SqliteStore } = await import(${JSON.stringify(new URL('../../../../adapters/sqlite/store.js', import.meta.url).href)});
      await new SqliteStore({ path: ${JSON.stringify(join(disk, 'data', 'aos.db'))} }).connect();`;
    const failed = await getRejection(run(process.execPath, ['--input-type=module', '-e', script]));
    expect(String((failed as { stderr?: string }).stderr)).to.match(/EACCES|cannot open its file|cannot be opened/);
  });
});
