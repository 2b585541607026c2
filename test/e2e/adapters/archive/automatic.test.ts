/**
 * Copies that the service makes before the migrations of a newer version (contract 95, amendments).
 */
import { expect } from 'chai';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AutomaticBackups } from '../../../../adapters/archive/backup/automatic-backups.js';

const HOUR_MS = 3_600_000;
/** Stands for the process that makes a backup. */
const MODULE = `
import { writeFileSync } from 'node:fs';
const { path } = JSON.parse(process.argv[2]);
writeFileSync(path, 'x');
process.send({ bytes: 1 }, () => process.exit(0));
`;

describe('backup before an upgrade', function () {
  let folder: string;
  let now: number;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-automatic-'));
    await writeFile(join(folder, 'module.mjs'), MODULE);
    now = Date.parse('2026-11-28T12:00:00Z');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** A start of this version. */
  const start = (version: string, keep = 1): AutomaticBackups =>
    new AutomaticBackups({
      folder: join(folder, 'backups'),
      keep,
      version,
      now: () => now,
      module: join(folder, 'module.mjs'),
      job: (path) => ({ path }),
    });
  const copies = async (): Promise<string[]> =>
    (await readdir(join(folder, 'backups'))).filter((name) => name.includes('before')).toSorted();

  it('is created once per version, regardless of the number of failed migrations', async () => {
    const { path } = await start('2.0.0').create({ beforeMigration: true });
    for (let attempt = 0; attempt < 3; attempt++) {
      now += HOUR_MS;
      expect((await start('2.0.0').create({ beforeMigration: true })).path).to.equal(path);
    }
    expect(await copies()).to.deep.equal(['aos-20261128T120000Z-before-2.0.0.tar.gz']);
    await start('2.0.1').create({ beforeMigration: true });
    expect(await copies()).to.include('aos-20261128T150000Z-before-2.0.1.tar.gz');
  });

  it('is retained until the version has run for a day, regardless of other backups', async () => {
    const later = async (service: AutomaticBackups, hours: number): Promise<string[]> => {
      now += hours * HOUR_MS;
      await service.create();
      return copies();
    };
    const name = 'aos-20261128T120000Z-before-2.0.0.tar.gz';
    const first = start('2.0.0', 0);
    await first.create({ beforeMigration: true });
    expect(await later(first, 100)).to.deep.equal([name]);
    await first.recordMigration();
    const restarted = start('2.0.0', 0);
    await restarted.recordMigration();
    expect(await later(restarted, 23)).to.deep.equal([name]);
    // The day begins again where the version did not run.
    const again = start('2.0.0', 0);
    expect(await later(again, 23)).to.deep.equal([name]);
    expect(await later(again, 1)).to.deep.equal([]);
  });

  it('is created again for later migrations of a version that has already succeeded', async () => {
    const service = start('2.0.0', 7);
    await service.create({ beforeMigration: true });
    await service.recordMigration();
    now += HOUR_MS;
    await service.create({ beforeMigration: true });
    expect(await copies()).to.have.length(2);
    now += HOUR_MS;
    await service.create({ beforeMigration: true });
    expect(await copies()).to.have.length(2);
  });

  it('does not depend on an intact marker file', async () => {
    await start('2.0.0').create({ beforeMigration: true });
    await writeFile(join(folder, 'backups', 'migrated.json'), '{"ver');
    now += HOUR_MS;
    await start('2.0.0').create({ beforeMigration: true });
    expect(await copies()).to.have.length(1);
  });
});
