/** Files of releases on the disk, once per content (contract 97, files of a release). */
import { randomBytes } from 'node:crypto';
import { cp, link, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { PRIVATE_ACCESS } from '../../../adapters/fs/access-mode.js';
import { getErrorCode } from '../../../adapters/fs/durable-writes.js';
import { correctModes } from '../../../adapters/fs/file-modes.js';
import { FsReleaseStore } from '../../../adapters/fs/release-store.js';
import { DiskFull } from '../../../ports/release-store.js';
import { getRejection } from '../../harness.js';
import {
  buildFilesManifest,
  hashContent,
  listHashes,
  putRelease,
  releaseFilesContract,
  toPlace,
  updateAllFiles,
  type ReleaseFiles,
} from '../../kit/contracts/release-files.js';
import { buildPackage, splitChunks } from '../../kit/contracts/release-store.js';
import { scaleRepeats } from '../../support/repeat-budget.js';

const LIMITS = { bytes: 1 << 26, keepFree: 0 };

describe('files of releases on the disk', () => {
  const big = randomBytes(300_000);
  const first: ReleaseFiles = { 'a.txt': 'same', 'copy.txt': 'same', 'b.txt': 'one', 'big.bin': big, empty: '' };
  const second: ReleaseFiles = { ...first, 'b.txt': 'two' };
  let root: string;
  let store: FsReleaseStore;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'aos-files-'));
    store = openStore(true);
    await store.access.write('shop', '.htpasswd', '# aos-access format=3 product=shop\n');
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const openStore = (enabled: boolean, keepFree = 0): FsReleaseStore =>
    new FsReleaseStore(root, PRIVATE_ACCESS, undefined, { enabled, keepFree });
  const put = async (version: string, files: ReleaseFiles, to = store): Promise<void> => {
    await putRelease(to, toPlace(version), files);
    await to.packages.updateFiles(toPlace(version));
  };
  const getFolder = (version: string): string => join(root, 'shop', 'stable', version, 'any');
  const listFiles = async (version: string): Promise<string[]> =>
    (await readdir(join(getFolder(version), 'files')).catch((): string[] => [])).toSorted();
  const listPool = async (): Promise<string[]> =>
    (await readdir(join(root, '.files'), { recursive: true }).catch((): string[] => []))
      .filter((name) => name.length > 60)
      .map((name) => name.slice(3))
      .toSorted();

  it('has each content once, shared by the releases that list it', async () => {
    await put('1.0', first);
    await put('2.0', second);
    expect(await listFiles('1.0')).to.deep.equal(listHashes(first));
    expect(await listFiles('2.0')).to.deep.equal(listHashes(second));
    const inode = async (version: string): Promise<number> =>
      (await stat(join(getFolder(version), 'files', hashContent(big)))).ino;
    expect(await inode('1.0')).to.equal(await inode('2.0'));
    expect((await readFile(join(getFolder('2.0'), 'files', hashContent(big)))).equals(big)).to.equal(true);
    expect((await readdir(join(root, '.files'))).every((name) => name.length === 2)).to.equal(true);
    expect((await stat(join(getFolder('2.0'), 'files'))).mode & 0o777).to.equal(0o755);
    expect((await stat(join(getFolder('2.0'), 'files', hashContent(big)))).mode & 0o777).to.equal(0o644);
    expect((await stat(join(root, '.files'))).mode & 0o777).to.equal(0o700);
    expect(await store.open(['.files'])).to.equal(null);
    await correctModes({ dataDir: root, store: root, others: [] }, PRIVATE_ACCESS);
    expect((await stat(join(root, '.files'))).mode & 0o777).to.equal(0o700);
  });

  it('unpacks at a sweep what a crash or an earlier version left out, and removes unfinished work', async () => {
    await put('1.0', first, openStore(false));
    expect(await listFiles('1.0')).to.deep.equal([]);
    const old = new Date(0);
    for (const folder of [join(getFolder('1.0'), '.files-old'), join(getFolder('0.9'), 'files')])
      await mkdir(folder, { recursive: true });
    await mkdir(join(root, '.files'), { recursive: true });
    await writeFile(join(root, '.files', 'new-old'), 'half');
    for (const path of [join(getFolder('1.0'), '.files-old'), join(root, '.files', 'new-old')])
      await utimes(path, old, old);
    await updateAllFiles(store);
    expect(await listFiles('1.0')).to.deep.equal(listHashes(first));
    expect(await readdir(getFolder('1.0'))).to.have.members(['.unpacked', 'files', 'manifest.json', 'package.tar.gz']);
    expect(await readdir(getFolder('0.9'))).to.deep.equal([]);
    expect((await readdir(join(root, '.files'))).every((name) => name.length === 2)).to.equal(true);
  });

  it('removes with a withdrawn release the unfinished work of a killed process', async () => {
    await put('1.0', first);
    await mkdir(join(getFolder('1.0'), '.files-killed'));
    const sha256 = hashContent('one');
    await link(join(getFolder('1.0'), 'files', sha256), join(getFolder('1.0'), '.files-killed', sha256));
    await store.packages.withdraw(toPlace('1.0'));
    await store.packages.updateFiles(toPlace('1.0'));
    expect(await listPool()).to.deep.equal([]);
    expect(await readdir(join(root, 'shop', 'stable'))).to.deep.equal([]);
  });

  it('never gives a content the name of another, when a manifest is that of another package', async () => {
    await put('1.0', first);
    const { id } = await store.packages.stage(splitChunks(buildPackage(second)), LIMITS);
    const manifest = buildFilesManifest({ ...second, 'b.txt': 'three' });
    await store.packages.put(id, toPlace('2.0'), { manifest, signature: null });
    const error = await getRejection(store.packages.updateFiles(toPlace('2.0')));
    expect(error.message).to.include('the manifest has another hash of b.txt');
    expect(await listFiles('2.0')).to.deep.equal([]);
    expect(await listPool()).not.to.include(hashContent('three'));
  });

  it('removes everything when it is switched off', async () => {
    await put('1.0', first);
    await updateAllFiles(openStore(false));
    expect(await readdir(getFolder('1.0'))).to.have.members(['manifest.json', 'package.tar.gz']);
    expect(await readdir(root)).not.to.include('.files');
  });

  it('publishes a release whose files cannot be unpacked', async () => {
    await writeFile(join(root, '.files'), 'not a folder');
    expect(await getRejection(put('1.0', first))).to.include({ code: 'ENOTDIR' });
    expect(await store.packages.readPackageInfo(toPlace('1.0'))).not.to.equal(null);
    expect(await readdir(getFolder('1.0'))).to.have.members(['manifest.json', 'package.tar.gz']);
  });

  it('stays complete during publishes, withdrawals and sweeps at the same time', async () => {
    const contents = Array.from({ length: 12 }, (_, n) => `content ${n}`);
    const pick = (n: number): ReleaseFiles =>
      Object.fromEntries(contents.map((text, at) => [`f${at}`, (at + n) % 3 === 0 ? `${text} of ${n}` : text]));
    const other = openStore(true);
    const publish = async (lane: number): Promise<void> => {
      for (let n = 0; n < 8; n++) {
        await put(`${lane}.${n}`, pick(n), lane % 2 === 0 ? store : other);
        if (n % 3 === 0) await store.packages.withdraw(toPlace(`${lane}.${n}`));
      }
    };
    let ended = false;
    const sweepUntilEnded = async (): Promise<void> => {
      while (await Promise.resolve(!ended)) await updateAllFiles(other);
    };
    const sweeping = sweepUntilEnded();
    await Promise.all([publish(0), publish(1), publish(2)]).finally(() => (ended = true));
    await sweeping;
    await updateAllFiles(store);
    const listed = new Set<string>();
    for (let lane = 0; lane < 3; lane++)
      for (let n = 0; n < 8; n++) {
        const files = n % 3 === 0 ? [] : listHashes(pick(n));
        expect(await listFiles(`${lane}.${n}`), `${lane}.${n}`).to.deep.equal(files);
        for (const sha256 of files) listed.add(sha256);
        for (const sha256 of files)
          expect(hashContent(await readFile(join(getFolder(`${lane}.${n}`), 'files', sha256)))).to.equal(sha256);
      }
    expect(await listPool()).to.deep.equal([...listed].toSorted());
  });

  it('shares the files again after a copy of the store without hard links', async () => {
    await put('1.0', first);
    await put('2.0', second);
    const copy = await mkdtemp(join(tmpdir(), 'aos-files-'));
    try {
      await cp(root, copy, { recursive: true });
      const countLinks = async (): Promise<number> =>
        (await stat(join(copy, 'shop', 'stable', '2.0', 'any', 'files', hashContent(big)))).nlink;
      expect(await countLinks()).to.equal(1);
      await truncate(join(copy, '.files', hashContent('same').slice(0, 2), hashContent('same')), 2);
      await updateAllFiles(new FsReleaseStore(copy, PRIVATE_ACCESS, undefined, { enabled: true, keepFree: 0 }));
      expect(await countLinks()).to.equal(3);
      for (const version of ['1.0', '2.0'])
        for (const sha256 of await listFiles(version))
          expect(hashContent(await readFile(join(copy, 'shop', 'stable', version, 'any', 'files', sha256)))).to.equal(
            sha256,
          );
      expect((await readdir(join(copy, '.files'))).every((name) => name.length === 2)).to.equal(true);
    } finally {
      await rm(copy, { recursive: true });
    }
  });

  it('stores no new file while the disk is low, but links those that are there', async () => {
    await put('1.0', first);
    const full = openStore(true, Number.MAX_SAFE_INTEGER);
    expect(await getRejection(put('2.0', second, full))).to.be.instanceOf(DiskFull);
    expect(await readdir(getFolder('2.0'))).to.have.members(['manifest.json', 'package.tar.gz']);
    expect(await listPool()).to.deep.equal(listHashes(first));
    await put('1.1', first, full);
    expect(await listFiles('1.1')).to.deep.equal(listHashes(first));
  });
});

describe('files of releases on the disk: contract', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'aos-files-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const ignoreMissing = (error: unknown): string[] => {
    if (getErrorCode(error) === 'ENOENT') return [];
    throw error;
  };
  releaseFilesContract(
    'directory',
    async () => {
      const store = new FsReleaseStore(root, PRIVATE_ACCESS, undefined, { enabled: true, keepFree: 0 });
      await store.access.write('shop', '.htpasswd', '# aos-access format=3 product=shop\n');
      return store;
    },
    async () =>
      // The folder is created with the first release.
      (await readdir(join(root, '.files'), { recursive: true }).catch(ignoreMissing))
        .map((name) => name.slice(3))
        .filter((name) => name !== ''),
    scaleRepeats(5),
  );
});
