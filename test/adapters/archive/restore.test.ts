/** `aos restore` puts nothing in place before everything is right (contract 95, command line). */
import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeBackup } from '../../../adapters/archive/backup/backup.js';
import { finishRestore, isRestoreReady, restoreBackup } from '../../../adapters/archive/backup/restore.js';
import { ArchiveRejectedError } from '../../../adapters/archive/container/archive-rejected-error.js';
import { FsReleaseStore } from '../../../adapters/fs/release-store.js';
import { getRejection } from '../../harness.js';
import { buildGzip, buildPackage, buildTar } from '../../support/archives.js';
import { HOSTILE_ARCHIVES } from '../../support/hostile-archives.js';

const ABOUT = {
  version: '1.0.0',
  created_at: '2026-11-24T10:00:00.000Z',
  engine: 'sqlite',
  keys: {},
  migrations: null,
};
const STORE = `SQLite format 3\0${'s'.repeat(5_000)}`;
const PLACE = { product: 'shop', channel: 'beta', version: '1.0', platform: 'any' };

describe('archive restore', function () {
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'aos-restore-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const at = (...names: string[]): string => join(folder, ...names);
  const targetAt = (name: string) => ({
    dataDir: at(name),
    store: at(name, 'aos.db'),
    keyFiles: ['data-key'],
    releases: new FsReleaseStore(at(name, 'releases')),
  });
  /** Everything below a folder; what a package store keeps for itself is left out. */
  const files = async (name: string): Promise<string[]> =>
    (await readdir(at(name), { recursive: true, withFileTypes: true }).catch(() => []))
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name)
      .toSorted();

  async function backup(): Promise<string> {
    await mkdir(at('from'));
    await writeFile(at('from', 'data-key'), 'the key');
    const releases = new FsReleaseStore(at('from', 'releases'));
    const bytes = buildPackage({ name: 'app.js', content: 'ok' });
    const staged = await releases.packages.stage(
      (async function* () {
        yield bytes;
      })(),
      { bytes: 1e6, keepFree: 0 },
    );
    await releases.packages.put(staged.id, PLACE, { manifest: '{"a":1}', signature: 'c2ln' });
    await releases.packages.link(PLACE, { ...PLACE, channel: 'stable' }, { manifest: '{"a":2}', signature: null });
    await writeBackup(at('b.tar.gz'), ABOUT, {
      dataDir: at('from'),
      keyFiles: ['data-key', 'license-key'],
      releases,
      copyStore: (to) => writeFile(to, STORE),
    });
    return at('b.tar.gz');
  }

  it('restores the store, the keys, and both copies of a package that the backup contains once', async () => {
    const restored = await restoreBackup(await backup(), targetAt('to'), () => null);
    expect(restored).to.deep.include({ keys: ['data-key'], packages: 2 });
    expect(await readFile(at('to', 'aos.db'), 'utf8')).to.equal(STORE);
    expect(await readFile(at('to', 'data-key'), 'utf8')).to.equal('the key');
    const { packages, access } = targetAt('to').releases;
    // A web server on the folder denies everyone until a start writes the access files.
    expect(await access.read('shop', '.htaccess')).to.match(/^# aos-access closed\nRequire all denied\n$/);
    expect(await access.listProducts()).to.deep.equal(['shop']);
    expect((await packages.readPackageInfo(PLACE))?.texts).to.deep.equal({ manifest: '{"a":1}', signature: 'c2ln' });
    const promoted = await packages.readPackageInfo({ ...PLACE, channel: 'stable' });
    expect(promoted?.texts).to.deep.equal({ manifest: '{"a":2}', signature: null });
    expect(await packages.listStaged()).to.deep.equal([]);
    expect(await isRestoreReady(at('to'))).to.equal(false);
    expect(await files('to')).to.not.include('ready.json');
  });

  it('deletes the write-ahead log that a first start left behind', async () => {
    await mkdir(at('to'));
    for (const name of ['aos.db', 'aos.db-wal', 'aos.db-shm']) await writeFile(at('to', name), 'of before');
    await restoreBackup(await backup(), targetAt('to'), () => null);
    expect(await files('to')).to.not.include.members(['aos.db-wal']);
    expect(await readFile(at('to', 'aos.db'), 'utf8')).to.equal(STORE);
  });

  it('completes a restore that was interrupted after validation, even repeatedly', async () => {
    const file = await backup();
    const target = targetAt('to');
    // The run that dies: the store does not take its place.
    await mkdir(at('to', 'aos.db', 'in the way'), { recursive: true });
    await getRejection(restoreBackup(file, target, () => null));
    expect(await isRestoreReady(at('to'))).to.equal(true);
    await getRejection(finishRestore(target));
    await rm(at('to', 'aos.db'), { recursive: true });
    expect(await finishRestore(target)).to.deep.include({ keys: ['data-key'], packages: 2 });
    expect(await finishRestore(target)).to.equal(null);
    expect(await readFile(at('to', 'aos.db'), 'utf8')).to.equal(STORE);
    expect((await target.releases.packages.readPackageInfo({ ...PLACE, channel: 'stable' }))?.texts?.manifest).to.equal(
      '{"a":2}',
    );
  });

  it('writes nothing for malicious or damaged archives', async () => {
    const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
    const head = {
      name: 'archive.json',
      content: JSON.stringify({ format: 'aos-archive', format_version: 1, kind: 'backup', releases: false, ...ABOUT }),
    };
    const whole = (...entries: { name: string; content: string }[]): Buffer => {
      const all = [head, ...entries].map(({ name, content }) => ({
        path: name,
        size: Buffer.byteLength(content),
        sha256: hash(content),
      }));
      return buildGzip(buildTar(head, ...entries, { name: 'hashes.json', content: JSON.stringify({ entries: all }) }));
    };
    const place = (of: object): string =>
      JSON.stringify({ place: PLACE, sha256: hash('x'), texts: { manifest: '', signature: null }, ...of });
    const store = { name: 'store.db', content: STORE };
    const pack = { name: `releases/${hash('x')}.tar.gz`, content: 'x' };
    const cases: [string, Buffer, RegExp][] = [
      ['no store', whole(), /does not contain store\.db/],
      ['another kind of file', whole({ name: 'store.db', content: 'no database' }), /is not a store/],
      [
        'a key of a name that nobody knows',
        whole(store, { name: 'keys/authorized_keys', content: 'x' }),
        /does not belong in it/,
      ],
      ['a package with another content', whole(store, { ...pack, content: 'y' }), /different content/],
      [
        'a place that leads out',
        whole(store, pack, {
          name: 'releases/places/000001.json',
          content: place({ place: { ...PLACE, product: '..' } }),
        }),
        /without a valid location/,
      ],
      [
        'a place of no package',
        whole(store, { name: 'releases/places/000001.json', content: place({}) }),
        /before it contains it/,
      ],
      ...HOSTILE_ARCHIVES.filter(
        ({ slow, only, limits }) => slow !== true && only === undefined && limits === undefined,
      ).map(({ what, bytes }): [string, Buffer, RegExp] => [what, bytes(), /x\.tar\.gz/]),
    ];
    for (const [what, bytes, why] of cases) {
      await writeFile(at('x.tar.gz'), bytes);
      const error = await getRejection(restoreBackup(at('x.tar.gz'), targetAt('to'), () => null));
      expect(error, what).to.be.instanceOf(ArchiveRejectedError);
      expect(error.message, what).to.match(why);
      expect(await files('to'), what).to.deep.equal([]);
    }
  });
});
