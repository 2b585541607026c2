/** Modes of the data directory at a start: ours are corrected, what others put there keeps its own. */
import { expect } from 'chai';
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OWN_ACCESS } from '../../../adapters/fs/access-mode.js';
import { correctModes } from '../../../adapters/fs/modes.js';

describe('fs: modes of the data directory', () => {
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'aos-modes-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const correct = (): Promise<string[]> => correctModes(folder, join(folder, 'releases'), OWN_ACCESS);
  const modeOf = async (...path: string[]): Promise<string> =>
    ((await stat(join(folder, ...path))).mode & 0o7777).toString(8);

  it('closes what the service made, and leaves what is beside it', async () => {
    const own = ['data-key', 'license-key', 'release-key.pem', 'server.json'];
    for (const name of [...own, 'passwd', 'aliases.db', 'monkey.txt'])
      await writeFile(join(folder, name), '', { mode: 0o644 });
    for (const name of ['installer', 'backups', 'releases', 'somebody']) await mkdir(join(folder, name));
    await chmod(folder, 0o777);
    expect(await correct()).to.deep.equal([]);
    for (const name of own) expect(await modeOf(name), name).to.equal('600');
    for (const name of ['installer', 'backups']) expect(await modeOf(name), name).to.equal('700');
    for (const name of ['releases', 'somebody']) expect(await modeOf(name), name).to.equal('755');
    for (const name of ['passwd', 'aliases.db', 'monkey.txt']) expect(await modeOf(name), name).to.equal('644');
    expect(await modeOf()).to.equal('711');
  });

  it('leaves a folder that is everybody’s', async () => {
    await chmod(folder, 0o1777);
    await correct();
    expect(await modeOf()).to.equal('1777');
  });
});
