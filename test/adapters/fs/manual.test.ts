/** The guides as files of the program. */
import { expect } from 'chai';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FsManual } from '../../../adapters/fs/manual.js';

describe('fs: guides', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-manual-'));
    await mkdir(join(folder, 'docs', 'images'), { recursive: true });
    await mkdir(join(folder, 'docs', 'decisions'));
    await writeFile(join(folder, 'docs', 'b.md'), '# B');
    await writeFile(join(folder, 'docs', 'decisions', '001-a.md'), '# A');
    await writeFile(join(folder, 'docs', 'images', 'a.png'), Buffer.from([1, 2]));
    await writeFile(join(folder, 'secret.png'), 'x');
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('returns pages by name, and images by path', async () => {
    const manual = new FsManual(join(folder, 'docs'));
    expect(await manual.listPages()).to.deep.equal([
      { name: 'b', text: '# B' },
      { name: 'decisions/001-a', text: '# A' },
    ]);
    const picture = await manual.readPicture('images/a.png');
    expect([picture?.type, [...(picture?.bytes ?? [])]]).to.deep.equal(['image/png', [1, 2]]);
  });

  it('returns nothing from outside its folder', async () => {
    const manual = new FsManual(join(folder, 'docs'));
    for (const path of [
      '../secret.png',
      'images/../../secret.png',
      '/etc/a.png',
      'images/b.png',
      'b.md',
      '.png',
      'a\0.png',
    ]) {
      expect(await manual.readPicture(path), path).to.equal(null);
    }
  });

  it('returns no guides when the program was installed without them', async () => {
    expect(await new FsManual(join(folder, 'no')).listPages()).to.deep.equal([]);
  });
});
