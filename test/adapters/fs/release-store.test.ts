/**
 * The release store on the file system: the contract, and what only a file system has: modes,
 * links, room, other processes.
 */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { PRIVATE_ACCESS } from '../../../adapters/fs/access-mode.js';
import { correctModes } from '../../../adapters/fs/file-modes.js';
import { FsReleaseStore } from '../../../adapters/fs/release-store.js';
import { FileReplaced, FolderTaken, DiskFull } from '../../../ports/release-store.js';
import { buildPackage, splitChunks, releaseStoreContract } from '../../kit/contracts/release-store.js';
import { getRejection } from '../../harness.js';

const PLACE = { product: 'shop', channel: 'stable', version: '1.0', platform: 'any' };
const TEXTS = { manifest: '{}', signature: 'eA==' };
const LIMITS = { bytes: 1 << 26, keepFree: 0 };

describe('release store on the file system', function () {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-releases-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });
  const root = (): string => join(folder, 'data', 'releases');
  const modeOf = async (...path: string[]): Promise<string> =>
    ((await stat(join(root(), ...path))).mode & 0o7777).toString(8);
  const filled = async (): Promise<FsReleaseStore> => {
    const store = new FsReleaseStore(root());
    const { id } = await store.packages.stage(splitChunks(buildPackage({ a: 'x' })), LIMITS);
    await store.packages.put(id, PLACE, TEXTS);
    await store.channels.write('shop', 'stable', '{}');
    await store.access.write('shop', '.htpasswd', '# aos-access format=3 product=shop\n');
    return store;
  };

  releaseStoreContract('fs', async () => new FsReleaseStore(root()));

  it('is readable for a web server with any umask, except .incoming', async () => {
    const before = process.umask(0o077);
    try {
      await filled();
    } finally {
      process.umask(before);
    }
    const place = ['shop', 'stable', '1.0', 'any'];
    for (let depth = 0; depth <= place.length; depth++) expect(await modeOf(...place.slice(0, depth))).to.equal('755');
    for (const file of ['package.tar.gz', 'manifest.json', 'manifest.sig'])
      expect(await modeOf(...place, file)).to.equal('644');
    expect(await modeOf('shop', 'stable', 'latest.json')).to.equal('644');
    expect(await modeOf('shop', '.htpasswd')).to.equal('600');
    expect(await modeOf('.incoming')).to.equal('700');
    expect(await readdir(join(root(), '.incoming'))).to.deep.equal([]);
    expect((await readdir(join(root(), 'shop'))).toSorted()).to.deep.equal(['.htpasswd', 'stable']);
  });

  it('corrects the modes of an existing data directory', async () => {
    await filled();
    const data = join(folder, 'data');
    await mkdir(join(data, 'installer'));
    await writeFile(join(data, 'release-key.pem'), 'secret');
    await chmod(data, 0o755);
    await chmod(join(data, 'installer'), 0o777);
    await chmod(join(data, 'release-key.pem'), 0o644);
    await chmod(join(root(), 'shop'), 0o700);
    await chmod(join(root(), 'shop', '.htpasswd'), 0o644);
    await chmod(join(root(), '.incoming'), 0o755);
    expect(await correctModes({ dataDir: data, store: root(), others: [] }, PRIVATE_ACCESS)).to.deep.equal([]);
    expect(await modeOf('..')).to.equal('711');
    expect(await modeOf('..', 'installer')).to.equal('700');
    expect(await modeOf('..', 'release-key.pem')).to.equal('600');
    expect(await modeOf()).to.equal('755');
    expect(await modeOf('shop')).to.equal('755');
    expect(await modeOf('shop', '.htpasswd')).to.equal('600');
    expect(await modeOf('.incoming')).to.equal('700');
  });

  it('makes the parent folders of a nested store readable when they contain nothing else', async () => {
    const data = join(folder, 'data');
    const deep = join(data, 'srv', 'releases');
    const mode = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;
    const correct = (): Promise<string[]> => correctModes({ dataDir: data, store: deep, others: [] }, PRIVATE_ACCESS);
    await mkdir(deep, { recursive: true });
    await chmod(join(data, 'srv'), 0o700);
    expect(await correct()).to.deep.equal([]);
    expect([await mode(join(data, 'srv')), await mode(deep)]).to.deep.equal([0o711, 0o755]);
    await mkdir(join(data, 'srv', 'other'), { mode: 0o755 });
    await chmod(join(data, 'srv'), 0o750);
    expect(await correct()).to.deep.equal([join(data, 'srv')]);
    expect([await mode(join(data, 'srv')), await mode(join(data, 'srv', 'other'))]).to.deep.equal([0o750, 0o755]);
  });

  it('ignores folders of other users, and writes nothing to them', async () => {
    const store = await filled();
    await mkdir(join(root(), 'blog', 'posts', '2026'), { recursive: true });
    await writeFile(join(root(), 'blog', '.htaccess'), 'Require all denied\n');
    await chmod(join(root(), 'blog'), 0o555);
    expect(await store.access.listProducts()).to.deep.equal(['shop']);
    await store.probe(0);
    // Its access files were taken away on purpose: the packages still are the service's.
    await rm(join(root(), 'shop', '.htpasswd'));
    expect(await store.access.listProducts()).to.deep.equal(['shop']);
  });

  it('reports a folder of another user that has the name of a product, and writes nothing to it', async () => {
    const store = await filled();
    const blog = join(root(), 'blog');
    await mkdir(blog);
    const { id } = await store.packages.stage(splitChunks(buildPackage({ a: 'x' })), LIMITS);
    const writes: Record<string, () => Promise<unknown>> = {
      admit: () => store.requireFolder('blog'),
      access: () => store.access.write('blog', '.htaccess', '# aos-access format=3 product=blog\n'),
      channels: () => store.channels.write('blog', 'stable', '{}'),
      packages: () => store.packages.put(id, { ...PLACE, product: 'blog' }, TEXTS),
    };
    // An empty folder, and one that a crash left, is the product's.
    await writeFile(join(blog, '.ht-left'), '# aos');
    await store.requireFolder('blog');
    await writeFile(join(blog, '.htaccess'), 'Require all denied\n');
    for (const [name, write] of Object.entries(writes)) {
      const rejected = await getRejection(write());
      expect(rejected, name).to.be.instanceOf(FolderTaken);
      expect(rejected.message, name).to.equal(
        `${blog} does not belong to this service: it contains ".htaccess". Move it elsewhere, or set releases.path to ` +
          `a separate directory (now ${root()}).`,
      );
    }
    expect((await readdir(blog)).toSorted()).to.deep.equal(['.ht-left', '.htaccess']);
    expect(await readFile(join(blog, '.htaccess'), 'utf8')).to.equal('Require all denied\n');
    await symlink(blog, join(root(), 'linked'));
    expect((await getRejection(store.requireFolder('linked'))).message).to.contain('it is a symbolic link');
    await writeFile(join(root(), 'file'), '');
    expect((await getRejection(store.requireFolder('file'))).message).to.contain('it is not a folder');
    await store.requireFolder('shop');
    await store.requireFolder('new');
  });

  it('does not follow links', async () => {
    const store = await filled();
    await mkdir(join(folder, 'outside', 'stable'), { recursive: true });
    await writeFile(join(folder, 'outside', 'stable', 'latest.json'), 'secret');
    await symlink(join(folder, 'outside'), join(root(), 'linked'));
    await symlink(join(folder, 'outside', 'stable', 'latest.json'), join(root(), 'shop', 'secret'));
    await symlink(join(folder, 'outside', 'stable'), join(root(), 'shop', 'beta'));
    expect(await store.open(['linked', 'stable', 'latest.json'])).to.equal(null);
    expect(await store.open(['shop', 'secret'])).to.equal(null);
    expect(await store.open(['shop', 'beta', 'latest.json'])).to.equal(null);
    expect(await store.access.listProducts()).to.deep.equal(['shop']);
  });

  it('reports a file that was replaced or withdrawn during a request', async () => {
    const store = await filled();
    const path = ['shop', 'stable', '1.0', 'any', 'package.tar.gz'];
    const read = async (file: Awaited<ReturnType<FsReleaseStore['open']>>): Promise<void> => {
      for await (const _ of file?.read(0, 1) ?? []);
    };
    const old = await store.open(path);
    await store.packages.put((await store.packages.stage(splitChunks(randomBytes(9)), LIMITS)).id, PLACE, TEXTS);
    expect(await getRejection(read(old))).to.be.instanceOf(FileReplaced);
    const current = await store.open(path);
    await store.packages.withdraw(PLACE);
    expect(await getRejection(read(current))).to.be.instanceOf(FileReplaced);
  });

  it('rejects packages when the free space is below the required minimum', async () => {
    const store = new FsReleaseStore(root());
    const free = await store.packages.getFreeBytes();
    expect(free).to.be.above(0);
    const limits = { bytes: 1 << 20, keepFree: Number.MAX_SAFE_INTEGER };
    expect(await getRejection(store.packages.stage(splitChunks(randomBytes(10)), limits))).to.be.instanceOf(DiskFull);
    expect(await store.packages.listStaged()).to.deep.equal([]);
  });

  it('finds all packages with the same ETags after a restart', async () => {
    const before = await filled();
    const path = ['shop', 'stable', '1.0', 'any', 'package.tar.gz'];
    const after = new FsReleaseStore(root());
    expect((await after.open(path))?.tag).to.equal((await before.open(path))?.tag);
    expect(await after.access.listProducts()).to.deep.equal(['shop']);
    const { id } = await before.packages.stage(splitChunks(Buffer.from('left behind')), LIMITS);
    expect((await after.packages.listStaged()).map((one) => one.id)).to.deep.equal([id]);
    await after.packages.discard(id);
    expect(await before.packages.listStaged()).to.deep.equal([]);
  });
});
