import { expect } from 'chai';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFirstMissing, makeFolders, removeEmptyFolders } from '../../lib/folders.js';

const codeOf = (work: Promise<void>): Promise<unknown> =>
  work.then(
    () => 'made',
    (error: NodeJS.ErrnoException) => error.code,
  );

describe('lib: creating folders', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'aos-folders-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  it('creates parent folders with the same mode, and leaves existing folders unchanged', async () => {
    const inner = join(dir, 'a/b/c');
    await makeFolders(inner, 0o700);
    for (const made of ['a', 'a/b', 'a/b/c']) expect((await stat(join(dir, made))).mode & 0o777).to.equal(0o700);
    await makeFolders(inner, 0o755);
    expect((await stat(inner)).mode & 0o777).to.equal(0o700);
  });

  it('rejects a path that contains a file', async () => {
    await writeFile(join(dir, 'file'), '');
    expect(await codeOf(makeFolders(join(dir, 'file'), 0o700))).to.equal('EEXIST');
    expect(await codeOf(makeFolders(join(dir, 'file/below'), 0o700))).to.equal('ENOTDIR');
  });

  it('returns the outermost missing folder, and deletes created empty folders again', async () => {
    const inner = join(dir, 'a/b/c');
    expect(await findFirstMissing(inner)).to.equal(join(dir, 'a'));
    await makeFolders(inner, 0o700);
    expect(await findFirstMissing(inner)).to.equal(null);
    await makeFolders(join(dir, 'a/d'), 0o700);
    await writeFile(join(dir, 'a/d/file'), '');
    await removeEmptyFolders(join(dir, 'a'));
    expect(await findFirstMissing(inner)).to.equal(join(dir, 'a/b'));
    await rm(join(dir, 'a/d/file'));
    await removeEmptyFolders(join(dir, 'a'));
    expect(await findFirstMissing(inner)).to.equal(join(dir, 'a'));
  });

  it('fails when the file system does not support the name and creates no folder', async function () {
    if (process.platform !== 'linux') this.skip();
    for (const path of ['/proc/none', '/proc/none/below'])
      expect(await codeOf(makeFolders(path, 0o700))).to.equal('ENOENT');
  });
});
