/**
 * No command that copies or moves a store reports success for a part of it (contract 95, command
 * line).
 */
import { expect } from 'chai';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { restoreBackup } from '../../../adapters/archive/backup/restore.js';
import { MOVES_COLLECTION } from '../../../adapters/archive/transfer/contents.js';
import { FsReleaseStore } from '../../../adapters/fs/release-store.js';
import { SqliteStore } from '../../../adapters/sqlite/store.js';
import { createBackup, keyFileNames } from '../../../config/compose/backup-job.js';
import type { Doc } from '../../../ports/store/index.js';
import { getRejection } from '../../harness.js';
import { runCliInProcess, runCliJsonInProcess } from '../../support/in-process-cli.js';
import { PASSWORD_COST, prepareDataDir } from '../../support/prepared-data-dir.js';
import { buildServiceEnv, type CommandOutcome } from '../../support/service.js';

describe('commands that copy and move a store', function () {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-parts-'));
    await prepareDataDir(at('source'), buildServiceEnv, PASSWORD_COST);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const at = (...names: string[]): string => join(folder, ...names);
  const run = (name: string, words: string[]): Promise<CommandOutcome> =>
    runCliInProcess(buildServiceEnv(at(name)), words);
  async function insert(collection: string, doc: Doc): Promise<void> {
    const store = new SqliteStore({ path: at('source', 'aos.db'), durability: 'full' });
    await store.connect();
    await store.collection(collection).insert(doc);
    await store.close();
  }
  const archives = async (): Promise<string[]> => (await readdir(folder)).filter((name) => name.includes('.tar.gz'));

  describe('of a store that an import has filled in part', () => {
    const why = /^the import of \/mnt\/all\.tar\.gz into this store, started at .*, was interrupted: run it again/;
    beforeEach(() =>
      insert(MOVES_COLLECTION, {
        id: 'import',
        archive: '/mnt/all.tar.gz',
        started_at: '2026-11-24T08:00:00.000Z',
      } as Doc),
    );

    for (const name of ['backup', 'export'])
      for (const options of [[], ['--without-releases']])
        it(`fail and leave no file: ${[name, ...options].join(' ')}`, async () => {
          const { code, stderr } = await run('source', [name, at('part.tar.gz'), ...options]);
          expect([code, await archives()]).to.deep.equal([1, []]);
          expect(stderr).to.match(why);
        });

    it('fail and leave no file: the backup that the service makes by itself', async () => {
      const about = { store: at('source', 'aos.db'), dataDir: at('source'), version: '1.0.0', keys: {} };
      const error = await getRejection(createBackup({ ...about, path: at('part.tar.gz'), releases: null }));
      expect(error.message).to.match(why);
      expect(await archives()).to.deep.equal([]);
    });
  });

  for (const name of ['backup', 'export'])
    it(`${name} exits 1 and names the packages that the release store has lost`, async () => {
      const place = { product: 'shop', channel: 'stable', version: '1.0', platform: 'any' };
      const release = { ...place, id: 'r1', published_at: '2026-11-01T00:00:00.000Z', withdrawn_at: null };
      await insert('releases_releases', release);
      await insert('releases_releases', {
        ...release,
        id: 'r2',
        version: '0.9',
        withdrawn_at: release.published_at,
      } as Doc);
      const { code, stdout } = await run('source', [name, at('all.tar.gz'), '--json']);
      expect(code).to.equal(1);
      expect(JSON.parse(stdout)).to.deep.include({ missing_packages: ['shop/stable/1.0/any'] });
      const { code: without } = await run('source', [name, at('rows.tar.gz'), '--without-releases']);
      expect(without).to.equal(0);
      expect((await run('source', [name, at('text.tar.gz')])).stdout).to.match(
        /^INCOMPLETE: .* shop\/stable\/1\.0\/any/,
      );
    });

  it('a restore that was killed late exits 0 when it is repeated, and no copy is made before', async () => {
    await insert('notes_of_a_plugin', { id: 'n1' });
    await runCliJsonInProcess(buildServiceEnv(at('source')), ['backup', at('b.tar.gz')]);
    // The store cannot take its place.
    await mkdir(at('target', 'aos.db', 'in the way'), { recursive: true });
    const releases = new FsReleaseStore(at('target', 'releases'));
    const target = { dataDir: at('target'), store: at('target', 'aos.db'), keyFiles: keyFileNames, releases };
    await getRejection(restoreBackup(at('b.tar.gz'), target, () => null));
    await rm(at('target', 'aos.db'), { recursive: true });
    for (const name of ['backup', 'export']) {
      const { code, stderr } = await run('target', [name, at('part.tar.gz')]);
      expect([code, stderr]).to.deep.equal([
        1,
        `A restore into ${at('target')} was interrupted: start the service to finish it.\n`,
      ]);
    }
    const again = await run('target', ['restore', at('b.tar.gz')]);
    expect([again.code, again.stderr]).to.deep.equal([0, '']);
    expect(again.stdout).to.match(/^Finished the interrupted restore: .*\n$/);
    const twice = await run('target', ['restore', at('b.tar.gz')]);
    expect([twice.code, twice.stdout]).to.deep.equal([1, '']);
    expect(twice.stderr).to.match(/^The target is not empty/);
  });
});
