/** Files of releases after kill -9: each file is whole, and a sweep completes what is missing. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { FsReleaseStore } from '../../../../adapters/fs/release-store.js';
import { updateAllFiles } from '../../../kit/contracts/release-files.js';
import { scaleRepeats } from '../../../support/repeat-budget.js';
import { runUntilKilled } from './unpacking-runs.js';

const KILLS = scaleRepeats(3);
const MAX_DELAY_MS = 40;

describe('files of releases after kill -9', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'aos-unpacking-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const listReleases = async (): Promise<string[]> =>
    (await readdir(join(root, 'shop', 'stable')).catch((): string[] => []))
      .map((version) => join(root, 'shop', 'stable', version, 'any'))
      .filter((folder) => existsSync(folder));

  const expectWholeFiles = async (): Promise<void> => {
    for (const release of await listReleases())
      for (const name of await readdir(join(release, 'files')).catch((): string[] => []))
        expect(
          createHash('sha256')
            .update(await readFile(join(release, 'files', name)))
            .digest('hex'),
        ).to.equal(name);
  };

  const moments = ['put 2', 'put 3', 'withdraw 3', 'put 4'].flatMap((line) =>
    Array.from({ length: KILLS }, () => [line, Math.floor(Math.random() * (MAX_DELAY_MS + 1))] as const),
  );
  for (const [line, ms] of moments)
    it(`are whole, and complete after a sweep, when killed ${ms} ms after "${line}"`, async () => {
      await runUntilKilled(root, line, ms);
      await expectWholeFiles();
      for (const folder of [join(root, '.files'), ...(await listReleases())])
        for (const name of await readdir(folder).catch((): string[] => []))
          if (/^(new-|\.files-)/.test(name)) await utimes(join(folder, name), 0, 0);
      await updateAllFiles(new FsReleaseStore(root, undefined, undefined, { enabled: true }));
      await expectWholeFiles();
      const wanted = new Set<string>();
      for (const release of await listReleases()) {
        const names = await readdir(release);
        expect(names.filter((name) => name.startsWith('.') && name !== '.unpacked')).to.deep.equal([]);
        if (!names.includes('package.tar.gz') || !names.includes('manifest.json')) continue;
        const { files } = JSON.parse(await readFile(join(release, 'manifest.json'), 'utf8')) as {
          files: { sha256: string }[];
        };
        for (const { sha256 } of files) wanted.add(sha256);
        expect(await readdir(join(release, 'files'))).to.have.members(files.map(({ sha256 }) => sha256));
      }
      const pool = await readdir(join(root, '.files'), { recursive: true });
      expect(pool.filter((name) => name.length > 2).map((name) => name.slice(3))).to.have.members([...wanted]);
    });
});
