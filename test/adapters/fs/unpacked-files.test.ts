/** Files of releases on the disk, once per content (contract 97, files of a release). */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { PRIVATE_ACCESS } from '../../../adapters/fs/access-mode.js';
import { correctModes } from '../../../adapters/fs/file-modes.js';
import { FsReleaseStore } from '../../../adapters/fs/release-store.js';
import type { ReleaseLocation } from '../../../ports/release-store.js';
import { buildPackage, splitChunks } from '../../kit/contracts/release-store.js';

const LIMITS = { bytes: 1 << 26, keepFree: 0 };
type Files = Readonly<Record<string, string | Uint8Array>>;

const hash = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
const buildManifest = (files: Files): string =>
  JSON.stringify({ files: Object.entries(files).map(([path, content]) => ({ path, sha256: hash(content) })) });
const toPlace = (version: string): ReleaseLocation => ({
  product: 'shop',
  channel: 'stable',
  version,
  platform: 'any',
});

describe('files of releases on the disk', () => {
  const big = randomBytes(300_000);
  const first: Files = { 'a.txt': 'same', 'copy.txt': 'same', 'b.txt': 'one', 'big.bin': big, empty: '' };
  const second: Files = { ...first, 'b.txt': 'two' };
  let root: string;
  let errors: unknown[];
  let store: FsReleaseStore;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'aos-files-'));
    errors = [];
    store = openStore(true);
    await store.access.write('shop', '.htpasswd', '# aos-access format=3 product=shop\n');
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const openStore = (unpacks: boolean): FsReleaseStore =>
    new FsReleaseStore(root, PRIVATE_ACCESS, undefined, unpacks ? (error) => errors.push(error) : null);
  const put = async (version: string, files: Files, to = store): Promise<void> => {
    const { id } = await to.packages.stage(splitChunks(buildPackage(files)), LIMITS);
    await to.packages.put(id, toPlace(version), { manifest: buildManifest(files), signature: null });
  };
  const getFolder = (version: string): string => join(root, 'shop', 'stable', version, 'any');
  const listFiles = async (version: string): Promise<string[]> =>
    (await readdir(join(getFolder(version), 'files')).catch((): string[] => [])).toSorted();
  const toHashes = (files: Files): string[] => [...new Set(Object.values(files).map(hash))].toSorted();
  const listPool = async (): Promise<string[]> =>
    (await readdir(join(root, '.files'), { recursive: true }).catch((): string[] => []))
      .filter((name) => name.length > 60)
      .toSorted();

  it('has each content once, shared by the releases that list it', async () => {
    await put('1.0', first);
    await put('2.0', second);
    expect(errors).to.deep.equal([]);
    expect(await listFiles('1.0')).to.deep.equal(toHashes(first));
    expect(await listFiles('2.0')).to.deep.equal(toHashes(second));
    const inode = async (version: string): Promise<number> =>
      (await stat(join(getFolder(version), 'files', hash(big)))).ino;
    expect(await inode('1.0')).to.equal(await inode('2.0'));
    expect((await readFile(join(getFolder('2.0'), 'files', hash(big)))).equals(big)).to.equal(true);
    expect((await readdir(join(root, '.files'))).every((name) => name.length === 2)).to.equal(true);
    expect((await stat(join(getFolder('2.0'), 'files'))).mode & 0o777).to.equal(0o755);
    expect((await stat(join(getFolder('2.0'), 'files', hash(big)))).mode & 0o777).to.equal(0o644);
    expect((await stat(join(root, '.files'))).mode & 0o777).to.equal(0o700);
    expect(await store.open(['.files'])).to.equal(null);
    await correctModes({ dataDir: root, store: root, others: [] }, PRIVATE_ACCESS);
    expect((await stat(join(root, '.files'))).mode & 0o777).to.equal(0o700);
  });

  it('removes a content with the last release that lists it', async () => {
    await put('1.0', first);
    await put('2.0', second);
    await store.packages.withdraw(toPlace('1.0'));
    expect(await readdir(join(root, 'shop', 'stable'))).to.deep.equal(['2.0']);
    await store.packages.sweep();
    expect((await listPool()).map((name) => name.slice(3))).to.deep.equal(toHashes(second));
    await store.packages.withdraw(toPlace('2.0'));
    await store.packages.sweep();
    expect(await listPool()).to.deep.equal([]);
  });

  it('replaces the files of a release with its package', async () => {
    await put('1.0', first);
    await put('1.0', second);
    expect(await listFiles('1.0')).to.deep.equal(toHashes(second));
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
    await store.packages.sweep();
    expect(await listFiles('1.0')).to.deep.equal(toHashes(first));
    expect(await readdir(getFolder('1.0'))).to.have.members(['files', 'manifest.json', 'package.tar.gz']);
    expect(await readdir(getFolder('0.9'))).to.deep.equal([]);
    expect((await readdir(join(root, '.files'))).every((name) => name.length === 2)).to.equal(true);
  });

  it('never gives a content the name of another, when a manifest is that of another package', async () => {
    await put('1.0', first);
    const { id } = await store.packages.stage(splitChunks(buildPackage(second)), LIMITS);
    await store.packages.put(id, toPlace('2.0'), {
      manifest: buildManifest({ ...second, 'b.txt': 'three' }),
      signature: null,
    });
    expect(errors.map(String)).to.deep.equal(['Error: Error: the manifest has another hash of b.txt']);
    expect(await listFiles('2.0')).to.deep.equal([]);
    expect((await listPool()).map((name) => name.slice(3))).not.to.include(hash('three'));
  });

  it('removes everything when it is switched off', async () => {
    await put('1.0', first);
    await openStore(false).packages.sweep();
    expect(await readdir(getFolder('1.0'))).to.have.members(['manifest.json', 'package.tar.gz']);
    expect(await readdir(root)).not.to.include('.files');
  });

  it('publishes a release whose files cannot be unpacked', async () => {
    await writeFile(join(root, '.files'), 'not a folder');
    await put('1.0', first);
    expect(errors).to.have.length(1);
    expect(await store.packages.readPackageInfo(toPlace('1.0'))).not.to.equal(null);
    expect(await readdir(getFolder('1.0'))).to.have.members(['manifest.json', 'package.tar.gz']);
  });

  it('stays complete during publishes, withdrawals and sweeps at the same time', async () => {
    const contents = Array.from({ length: 12 }, (_, n) => `content ${n}`);
    const pick = (n: number): Files =>
      Object.fromEntries(contents.map((text, at) => [`f${at}`, (at + n) % 3 === 0 ? `${text} of ${n}` : text]));
    const other = openStore(true);
    const publish = async (lane: number): Promise<void> => {
      for (let n = 0; n < 8; n++) {
        await put(`${lane}.${n}`, pick(n), lane % 2 === 0 ? store : other);
        if (n % 3 === 0) await store.packages.withdraw(toPlace(`${lane}.${n}`));
      }
    };
    let ended = false;
    const sweep = async (): Promise<void> => {
      while (await Promise.resolve(!ended)) await other.packages.sweep();
    };
    const sweeping = sweep();
    await Promise.all([publish(0), publish(1), publish(2)]).finally(() => (ended = true));
    await sweeping;
    expect(errors).to.deep.equal([]);
    for (let lane = 0; lane < 3; lane++)
      for (let n = 0; n < 8; n++) {
        const files = n % 3 === 0 ? [] : toHashes(pick(n));
        expect(await listFiles(`${lane}.${n}`), `${lane}.${n}`).to.deep.equal(files);
        for (const sha256 of files)
          expect(hash(await readFile(join(getFolder(`${lane}.${n}`), 'files', sha256)))).to.equal(sha256);
      }
  });
});
