/**
 * Modes of the data directory at a start: ours are corrected, what others put there keeps its own,
 * and so does a folder that is theirs too.
 */
import { expect } from 'chai';
import { chmod, chown, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PRIVATE_ACCESS } from '../../../adapters/fs/access-mode.js';
import { correctModes } from '../../../adapters/fs/file-modes.js';

const SIGNED = '# aos-access format=3 product=shop\n';

describe('fs: modes of the data directory', () => {
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'aos-modes-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const correct = (store = 'releases'): Promise<string[]> =>
    correctModes({ dataDir: folder, store: join(folder, store), others: [join(folder, 'aos.db')] }, PRIVATE_ACCESS);
  const modeOf = async (...path: string[]): Promise<string> =>
    ((await stat(join(folder, ...path))).mode & 0o7777).toString(8);
  const file = (name: string, mode: number, text = ''): Promise<void> =>
    writeFile(join(folder, name), text).then(() => chmod(join(folder, name), mode));
  const makeFolder = (name: string, mode: number): Promise<void> =>
    mkdir(join(folder, name), { recursive: true }).then(() => chmod(join(folder, name), mode));
  const OWN_FILES = ['data-key', 'license-key', 'release-key.pem', 'plugins.json', 'server.json'];

  it('restricts the mode of the service’s files, and of the folder when it contains nothing else', async () => {
    for (const name of OWN_FILES) await file(name, 0o644);
    for (const name of ['aos.db', 'aos.db-wal', 'aos.db.lock', 'data-key.12.0badcafe.tmp']) await file(name, 0o600);
    const folders = ['installer', 'backups', '.aos.db-litestream'];
    for (const name of [...folders, 'releases', 'lost+found']) await makeFolder(name, 0o750);
    await chmod(folder, 0o777);
    expect(await correct()).to.deep.equal([]);
    for (const name of OWN_FILES) expect(await modeOf(name), name).to.equal('600');
    for (const name of folders) expect(await modeOf(name), name).to.equal('700');
    expect([await modeOf(), await modeOf('releases'), await modeOf('lost+found')]).to.deep.equal(['711', '755', '750']);
  });

  it('restricts the mode of the service’s files in a shared folder, and of nothing else', async () => {
    for (const name of [...OWN_FILES, 'passwd', 'aliases.db', 'monkey.txt']) await file(name, 0o644);
    await makeFolder('somebody', 0o755);
    await makeFolder('.aliases.db-litestream', 0o755);
    await chmod(folder, 0o2775);
    expect(await correct()).to.deep.equal([folder]);
    for (const name of OWN_FILES) expect(await modeOf(name), name).to.equal('600');
    for (const name of ['passwd', 'aliases.db', 'monkey.txt']) expect(await modeOf(name), name).to.equal('644');
    expect([await modeOf(), await modeOf('somebody'), await modeOf('.aliases.db-litestream')]).to.deep.equal([
      '2775',
      '755',
      '755',
    ]);
    await chmod(folder, 0o711);
    expect(await correct()).to.deep.equal([]);
  });

  it('does not change a folder that is world-writable', async () => {
    await chmod(folder, 0o1777);
    await correct();
    expect(await modeOf()).to.equal('1777');
  });

  it('corrects the modes of products in a web server’s directory, and nothing else', async () => {
    await makeFolder('releases/shop/stable', 0o700);
    await makeFolder('releases/blog/private', 0o750);
    for (const [name, text] of [
      ['shop/.htaccess', SIGNED],
      ['shop/.htpasswd', SIGNED],
      ['shop/.ht-crashed', ''],
      ['shop/notes.txt', 'theirs'],
      ['blog/.htaccess', 'Require all denied\n'],
      ['blog/config.php', 'secret'],
    ] as const)
      await file(`releases/${name}`, 0o640, text);
    await chmod(join(folder, 'releases'), 0o2770);
    expect(await correct()).to.deep.equal([join(folder, 'releases')]);
    const modes: Record<string, string> = {
      releases: '2770',
      'releases/shop/stable': '755',
      'releases/shop/.htaccess': '644',
      'releases/shop/.htpasswd': '600',
      'releases/shop/.ht-crashed': '600',
      'releases/shop/notes.txt': '640',
      'releases/blog/private': '750',
      'releases/blog/.htaccess': '640',
      'releases/blog/config.php': '640',
    };
    for (const [path, mode] of Object.entries(modes)) expect(await modeOf(path), path).to.equal(mode);
  });

  it('does not change a store that belongs to another user, but corrects the products in it', async function () {
    if (process.getuid?.() !== 0) this.skip();
    await makeFolder('releases/shop', 0o700);
    await file('releases/shop/.htaccess', 0o600, SIGNED);
    await chmod(join(folder, 'releases'), 0o2775);
    await chown(join(folder, 'releases'), 61_003, 61_003);
    expect(await correct()).to.deep.equal([join(folder, 'releases')]);
    expect([await modeOf('releases'), await modeOf('releases/shop')]).to.deep.equal(['2775', '755']);
    // A command of root on the directory of the service’s user.
    await chown(folder, 61_003, 61_003);
    expect(await correct()).to.deep.equal([]);
    expect(await modeOf('releases')).to.equal('755');
  });
});
