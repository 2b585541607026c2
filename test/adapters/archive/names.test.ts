/** The folder of backups: which is the newest, and which ones go (contract 95, command line). */
import { expect } from 'chai';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatBackupName, findNewestBackupIn, pruneBackups } from '../../../adapters/archive/backup/backup-files.js';

const NOW = Date.parse('2026-11-24T12:00:00Z');

describe('backup file names', () => {
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'aos-backups-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const put = (name: string): Promise<void> => writeFile(join(folder, name), 'x');

  it('finds the newest backup by its name instead of its mtime, and ignores names in the future', async () => {
    expect(await findNewestBackupIn(join(folder, 'none'), NOW)).to.equal(null);
    await put(formatBackupName('2026-11-24T10:00:00.123Z'));
    await put(formatBackupName('2026-11-23T10:00:00Z'));
    await put(formatBackupName('2026-11-25T10:00:00Z'));
    await put('notes.tar.gz');
    const newest = { path: join(folder, 'aos-20261124T100000Z.tar.gz'), at: '2026-11-24T10:00:00.000Z', bytes: 1 };
    expect(await findNewestBackupIn(folder, NOW)).to.deep.equal(newest);
    await put(formatBackupName('2026-11-24T11:00:00Z', '1.2.0/../x'));
    expect((await findNewestBackupIn(folder, NOW))?.path).to.match(
      /aos-20261124T110000Z-before-1\.2\.0_\.\._x\.tar\.gz$/,
    );
  });

  it('deletes the oldest backups of each kind and day-old partial files, and no other files', async () => {
    for (const day of ['20', '21', '22', '23']) {
      await put(formatBackupName(`2026-11-${day}T10:00:00Z`));
      await put(formatBackupName(`2026-11-${day}T11:00:00Z`, '2.0.0'));
    }
    for (const name of ['mine.tar.gz', '.aos-x.tar.gz.0a1b2c3d.partial', '.aos-y.tar.gz.0a1b2c3e.partial'])
      await put(name);
    const old = new Date(NOW - 25 * 3_600_000);
    await utimes(join(folder, '.aos-x.tar.gz.0a1b2c3d.partial'), old, old);
    const now = new Date(NOW);
    await utimes(join(folder, '.aos-y.tar.gz.0a1b2c3e.partial'), now, now);
    await pruneBackups(folder, 2, NOW);
    expect((await readdir(folder)).toSorted()).to.deep.equal([
      '.aos-y.tar.gz.0a1b2c3e.partial',
      'aos-20261122T100000Z.tar.gz',
      'aos-20261122T110000Z-before-2.0.0.tar.gz',
      'aos-20261123T100000Z.tar.gz',
      'aos-20261123T110000Z-before-2.0.0.tar.gz',
      'mine.tar.gz',
    ]);
  });
});
