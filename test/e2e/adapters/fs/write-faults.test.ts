/**
 * A release store whose disk is full, read-only or another user's, and repaired while the service
 * runs (contract 95, a bad day).
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { FsReleaseStore } from '../../../../adapters/fs/release-store.js';
import { createWriteRunner } from '../../../../adapters/fs/write-faults.js';
import { listHashes, putRelease } from '../../../kit/contracts/release-files.js';
import { buildPackage, splitChunks } from '../../../kit/contracts/release-store.js';
import { getRejection } from '../../../harness.js';

const PLACE = { product: 'shop', channel: 'stable', version: '1.0', platform: 'any' };
const TEXTS = { manifest: '{}', signature: 'eA==' };
const LIMITS = { bytes: 1 << 26, keepFree: 0 };

describe('disk write errors', () => {
  const failing = (code: string, path?: string): Promise<Error> =>
    getRejection(
      createWriteRunner('/releases')(() =>
        Promise.reject(Object.assign(new Error(code), { code, ...(path && { path }) })),
      ),
    );

  it('is reported with the error of the port', async () => {
    for (const code of ['ENOSPC', 'EDQUOT']) {
      const { name, message } = await failing(code);
      expect([name, message]).to.deep.equal(['DiskFull', 'the disk of /releases is full']);
    }
    const readOnly = await failing('EROFS');
    expect([readOnly.name, readOnly.message]).to.deep.equal([
      'DiskUnwritable',
      'the disk of /releases is mounted read-only',
    ]);
    for (const code of ['EACCES', 'EPERM']) {
      const { name, message } = await failing(code, '/releases/shop');
      expect(name).to.equal('DiskUnwritable');
      expect(message).to.equal('/releases/shop belongs to another user, or its mode denies this user access');
    }
    expect((await failing('EIO')).message).to.equal('EIO');
  });

  describe('a separate disk', () => {
    let mounted: string;
    let store: FsReleaseStore;
    let reported: string[];
    const mount = (...options: string[]): void => {
      execFileSync('mount', [...options, mounted], { stdio: 'ignore' });
    };
    before(async function () {
      mounted = await mkdtemp(join(tmpdir(), 'aos-small-disk-'));
      try {
        mount('-t', 'tmpfs', '-o', 'size=2m', 'tmpfs');
      } catch {
        await rm(mounted, { recursive: true });
        // Mounting is for root, in a container that may.
        this.skip();
      }
    });
    after(async () => {
      if (store === undefined) return;
      execFileSync('umount', [mounted], { stdio: 'ignore' });
      await rm(mounted, { recursive: true });
    });
    beforeEach(() => {
      reported = [];
      store = new FsReleaseStore(join(mounted, 'releases'), undefined, ({ message }) => void reported.push(message));
    });
    const publish = async (): Promise<void> => {
      const { id } = await store.packages.stage(splitChunks(buildPackage({ a: 'x' })), LIMITS);
      await store.packages.put(id, PLACE, TEXTS);
      await store.channels.write('shop', 'stable', '{}');
      await store.access.write('shop', '.htpasswd', `x${Math.random()}`);
    };

    it('full: rejects every write, and works again when space is available', async () => {
      await publish();
      const filler = join(mounted, 'filler');
      await getRejection(writeFile(filler, Buffer.alloc(4 << 20)));
      for (const write of [
        () => store.packages.stage(splitChunks(buildPackage({ a: 'y'.repeat(100_000) })), LIMITS),
        () => store.packages.writeTexts(PLACE, { manifest: '{"a":1}'.repeat(1_000), signature: null }),
        () => store.channels.write('shop', 'stable', '{"a":1}'.repeat(1_000)),
        () => store.probe(65_536),
        () => store.access.write('shop', '.htpasswd', 'x'.repeat(10_000)),
      ])
        expect((await getRejection(write())).name).to.equal('DiskFull');
      expect(reported).to.have.length(5);
      expect((await store.packages.readPackageInfo(PLACE))?.texts?.manifest, 'what was there stays').to.equal('{}');
      expect(await store.packages.listStaged()).to.deep.equal([]);
      await truncate(filler, 0);
      await publish();
    });

    it('full while files of a release are stored: leaves nothing, serves the package, and continues later', async () => {
      // It counts on more space than there is, so that a write fails.
      const options = { enabled: true, keepFree: -(16 << 20) };
      const unpacking = new FsReleaseStore(join(mounted, 'releases'), undefined, undefined, options);
      const files = { a: 'same', big: randomBytes(1_200_000).toString('hex').slice(0, 1_200_000) };
      const place = { ...PLACE, version: '3.0' };
      await putRelease(unpacking, place, files);
      const filler = join(mounted, 'filler');
      await writeFile(filler, Buffer.alloc(Math.floor((await unpacking.packages.getFreeBytes()) / 2)));
      expect((await getRejection(unpacking.packages.updateFiles(place))).name).to.equal('DiskFull');
      expect(await readdir(join(mounted, 'releases', 'shop', 'stable', '3.0', 'any'))).to.have.members([
        'manifest.json',
        'package.tar.gz',
      ]);
      expect(await unpacking.open(['shop', 'stable', '3.0', 'any', 'package.tar.gz'])).not.to.equal(null);
      await truncate(filler, 0);
      await unpacking.packages.updateFiles(place);
      expect(await readdir(join(mounted, 'releases', 'shop', 'stable', '3.0', 'any', 'files'))).to.have.members(
        listHashes(files),
      );
      expect(await unpacking.packages.withdraw(place)).to.equal(true);
    });

    it('read-only: rejects every write, still reads, and works again when the disk is writable', async () => {
      await publish();
      mount('-o', 'remount,ro');
      for (const write of [
        () => store.packages.stage(splitChunks(buildPackage({ a: 'y' })), LIMITS),
        () => store.packages.link(PLACE, { ...PLACE, version: '2.0' }, TEXTS),
        () => store.packages.withdraw(PLACE),
        () => store.channels.write('shop', 'stable', '{"a":1}'),
        () => store.probe(0),
        () => store.access.write('shop', '.htpasswd', 'y'),
      ])
        expect((await getRejection(write())).name).to.equal('DiskUnwritable');
      expect((await store.packages.readPackageInfo(PLACE))?.texts?.manifest).to.equal('{}');
      mount('-o', 'remount,rw');
      await store.probe(0);
      await publish();
    });
  });
});
