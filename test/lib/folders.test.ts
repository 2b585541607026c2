import { expect } from 'chai';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolders } from '../../lib/folders.js';

const codeOf = (work: Promise<void>): Promise<unknown> =>
  work.then(
    () => 'made',
    (error: NodeJS.ErrnoException) => error.code,
  );

describe('lib: making folders', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'aos-folders-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  it('makes those above it with the same mode, and what is there stays as it is', async () => {
    const inner = join(dir, 'a/b/c');
    await makeFolders(inner, 0o700);
    for (const made of ['a', 'a/b', 'a/b/c']) expect((await stat(join(dir, made))).mode & 0o777).to.equal(0o700);
    await makeFolders(inner, 0o755);
    expect((await stat(inner)).mode & 0o777).to.equal(0o700);
  });

  it('refuses a path with a file in it', async () => {
    await writeFile(join(dir, 'file'), '');
    expect(await codeOf(makeFolders(join(dir, 'file'), 0o700))).to.equal('EEXIST');
    expect(await codeOf(makeFolders(join(dir, 'file/below'), 0o700))).to.equal('ENOTDIR');
  });

  it('ends where the file system has no such name and makes none', async function () {
    if (process.platform !== 'linux') this.skip();
    for (const path of ['/proc/none', '/proc/none/below'])
      expect(await codeOf(makeFolders(path, 0o700))).to.equal('ENOENT');
  });
});
