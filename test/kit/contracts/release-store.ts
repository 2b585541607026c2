/**
 * Contract suite of ReleaseStore (ports/release-store.ts), given a function that opens an empty
 * one.
 */
import { createHash, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import {
  PackageRejected,
  PackageTooLarge,
  type ReleaseLocation,
  type ReleaseStore,
  type StoredFile,
} from '../../../ports/release-store.js';

const LIMITS = { bytes: 64 * 1024 * 1024, keepFree: 0 };
const RELEASE_PLACE: ReleaseLocation = { product: 'shop', channel: 'stable', version: '1.2.0', platform: 'any' };
const TEXTS = { manifest: '{"schema":1}', signature: 'c2ln' };
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

function buildTarEntry(path: string, content: Uint8Array, mode = 0o644): Buffer {
  const header = Buffer.alloc(512);
  header.write(path, 0);
  header.write(`${mode.toString(8).padStart(7, '0')}\0`, 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
}

export function buildPackage(files: Readonly<Record<string, string | Uint8Array>>): Buffer {
  const entries = Object.entries(files).map(([path, content]) => buildTarEntry(path, Buffer.from(content)));
  return gzipSync(Buffer.concat([...entries, Buffer.alloc(1024)]));
}

export async function* splitChunks(bytes: Uint8Array, size = 65_536): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function readAll(file: StoredFile, start = 0, end = file.size): Promise<{ bytes: Buffer; pieces: number[] }> {
  const pieces: Uint8Array[] = [];
  for await (const piece of file.read(start, end)) pieces.push(piece);
  return { bytes: Buffer.concat(pieces), pieces: pieces.map(({ length }) => length) };
}

async function getRejection(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

export function releaseStoreContract(name: string, open: () => Promise<ReleaseStore>): void {
  describe(`ReleaseStore contract: ${name}`, () => {
    let store: ReleaseStore;
    beforeEach(async () => {
      store = await open();
    });
    const stage = async (bytes: Uint8Array): Promise<string> =>
      (await store.packages.stage(splitChunks(bytes), LIMITS)).id;
    const put = async (place: ReleaseLocation, bytes: Uint8Array): Promise<void> =>
      store.packages.put(await stage(bytes), place, TEXTS);
    const at = (place: ReleaseLocation, file: string): string[] => [
      place.product,
      place.channel,
      place.version,
      place.platform,
      file,
    ];
    const served = async (place: ReleaseLocation, file: string): Promise<string | null> => {
      const found = await store.open(at(place, file));
      return found === null ? null : (await readAll(found)).bytes.toString('utf8');
    };

    it('stages a package, with size and SHA-256, and serves nothing of it', async () => {
      const bytes = randomBytes(300_000);
      const staged = await store.packages.stage(splitChunks(bytes), LIMITS);
      expect(staged).to.include({ size: 300_000, sha256: sha256(bytes) });
      expect((await store.packages.listStaged()).map(({ id }) => id)).to.deep.equal([staged.id]);
      expect(await store.access.listProducts()).to.deep.equal([]);
      expect(await store.open(['.incoming', staged.id])).to.equal(null);
      await store.packages.discard(staged.id);
      await store.packages.discard(staged.id);
      expect(await store.packages.listStaged()).to.deep.equal([]);
    });

    it('stores nothing of a package that is too large, or whose sender disconnects', async () => {
      const limits = { bytes: 100_000, keepFree: 0 };
      expect(await getRejection(store.packages.stage(splitChunks(randomBytes(100_001)), limits))).to.be.instanceOf(
        PackageTooLarge,
      );
      await store.packages
        .stage(splitChunks(randomBytes(100_000)), limits)
        .then(({ id }) => store.packages.discard(id));
      const gone = new Error('the sender went away');
      const cut = (async function* () {
        yield randomBytes(70_000);
        throw gone;
      })();
      expect(await getRejection(store.packages.stage(cut, LIMITS))).to.equal(gone);
      expect(await store.packages.listStaged()).to.deep.equal([]);
    });

    it('reads a staged package: its files by path, hashed, with their modes, and setup.json', async () => {
      const id = await stage(
        buildPackage({ 'b.txt': 'b', 'a/start': 'x', 'run.sh': '#!/bin/sh', 'setup.json': '{"schema":1}' }),
      );
      const { files, unpacked, setup } = await store.packages.inspect(id, { platform: 'linux-x64', entry: 'a/start' });
      expect(files).to.deep.equal([
        { path: 'a/start', size: 1, sha256: sha256(Buffer.from('x')), mode: '0755' },
        { path: 'b.txt', size: 1, sha256: sha256(Buffer.from('b')), mode: '0644' },
        { path: 'run.sh', size: 9, sha256: sha256(Buffer.from('#!/bin/sh')), mode: '0755' },
        { path: 'setup.json', size: 12, sha256: sha256(Buffer.from('{"schema":1}')), mode: '0644' },
      ]);
      expect({ unpacked, setup }).to.deep.equal({ unpacked: 23, setup: '{"schema":1}' });
    });

    it('rejects a package that breaks a rule, and names the entry', async () => {
      const rules = { platform: 'any', entry: null };
      const hostile = await stage(buildPackage({ 'ok.txt': 'x', '../out': 'x' }));
      const error = await getRejection(store.packages.inspect(hostile, rules));
      expect(error).to.be.instanceOf(PackageRejected);
      expect((error as PackageRejected).entry).to.equal('../out');
      const noise = await getRejection(store.packages.inspect(await stage(Buffer.from('no gzip at all')), rules));
      expect(noise).to.be.instanceOf(PackageRejected);
      expect((noise as PackageRejected).entry).to.equal('');
      const large = await stage(buildPackage({ 'setup.json': Buffer.alloc(1_048_577, 120) }));
      expect(((await getRejection(store.packages.inspect(large, rules))) as PackageRejected).entry).to.equal(
        'setup.json',
      );
    });

    it('publishes a package with its texts, and replaces it', async () => {
      const first = randomBytes(2_000);
      await put(RELEASE_PLACE, first);
      expect(await store.packages.listStaged()).to.deep.equal([]);
      expect(await store.packages.readPackageInfo(RELEASE_PLACE)).to.deep.equal({
        size: 2_000,
        sha256: sha256(first),
        texts: TEXTS,
      });
      expect(await served(RELEASE_PLACE, 'manifest.json')).to.equal(TEXTS.manifest);
      expect(await served(RELEASE_PLACE, 'manifest.sig')).to.equal(TEXTS.signature);
      const second = randomBytes(3_000);
      await store.packages.put(await stage(second), RELEASE_PLACE, { manifest: '{"schema":1,"n":2}', signature: null });
      const texts = { manifest: '{"schema":1,"n":2}', signature: null };
      expect(await store.packages.readPackageInfo(RELEASE_PLACE)).to.deep.equal({
        size: 3_000,
        sha256: sha256(second),
        texts,
      });
      expect(await served(RELEASE_PLACE, 'manifest.sig')).to.equal(null);
    });

    it('updates the texts of a release and leaves its package unchanged', async () => {
      await put(RELEASE_PLACE, Buffer.from('package'));
      const before = await store.open(at(RELEASE_PLACE, 'package.tar.gz'));
      await store.packages.writeTexts(RELEASE_PLACE, { manifest: TEXTS.manifest, signature: 'bmV3' });
      expect(await served(RELEASE_PLACE, 'manifest.sig')).to.equal('bmV3');
      expect((await store.open(at(RELEASE_PLACE, 'package.tar.gz')))?.tag).to.equal(before?.tag);
    });

    it('promotes the package of one release to another, also when it has the same one already', async () => {
      const to = { ...RELEASE_PLACE, channel: 'beta' };
      expect(await store.packages.link(RELEASE_PLACE, to, TEXTS)).to.equal(false);
      expect(await store.packages.readPackageInfo(to)).to.equal(null);
      await put(RELEASE_PLACE, Buffer.from('package'));
      for (const signature of ['YQ==', 'Yg==']) {
        expect(await store.packages.link(RELEASE_PLACE, to, { manifest: '{}', signature })).to.equal(true);
        expect((await store.packages.readPackageInfo(to))?.texts).to.deep.equal({ manifest: '{}', signature });
      }
      expect(await store.packages.listStaged()).to.deep.equal([]);
      expect(await store.packages.withdraw(RELEASE_PLACE)).to.equal(true);
      expect(await served(to, 'package.tar.gz')).to.equal('package');
    });

    it('withdraws a package, and stores nothing of it', async () => {
      const other = { ...RELEASE_PLACE, platform: 'linux-x64' };
      await put(RELEASE_PLACE, Buffer.from('one'));
      await put(other, Buffer.from('two'));
      expect(await store.packages.withdraw(RELEASE_PLACE)).to.equal(true);
      expect(await store.packages.withdraw(RELEASE_PLACE)).to.equal(false);
      expect(await store.packages.readPackageInfo(RELEASE_PLACE)).to.equal(null);
      for (const file of ['package.tar.gz', 'manifest.json', 'manifest.sig'])
        expect(await served(RELEASE_PLACE, file)).to.equal(null);
      expect(await served(other, 'package.tar.gz')).to.equal('two');
      await put(RELEASE_PLACE, Buffer.from('again'));
      expect(await served(RELEASE_PLACE, 'package.tar.gz')).to.equal('again');
    });

    it('lists its products and releases', async () => {
      const places = [
        RELEASE_PLACE,
        { ...RELEASE_PLACE, platform: 'win-x64' },
        { ...RELEASE_PLACE, product: 'app', version: '2-rc.1' },
      ];
      for (const place of places) await put(place, Buffer.from('x'));
      await store.access.write('new', '.htaccess', '# aos-access format=3 product=new\n');
      const found: ReleaseLocation[] = [];
      for await (const place of store.packages.iterateLocations()) found.push(place);
      expect(found).to.have.deep.members(places);
      expect(await store.access.listProducts()).to.deep.equal(['app', 'new', 'shop']);
    });

    it('writes latest.json of channels and products', async () => {
      await store.channels.write('shop', 'stable', '{"n":1}');
      await store.channels.write('shop', 'stable', '{"n":2}');
      await store.channels.write('shop', null, '{"n":3}');
      const text = async (...path: string[]): Promise<string> =>
        (await readAll((await store.open(path)) as StoredFile)).bytes.toString();
      expect(await text('shop', 'stable', 'latest.json')).to.equal('{"n":2}');
      expect(await text('shop', 'latest.json')).to.equal('{"n":3}');
    });

    it('writes access files once, reports their changes, and serves none of them', async () => {
      const text = (line: string): string => `# aos-access format=3 product=shop\n${line}\n`;
      expect(await store.access.read('shop', '.htpasswd')).to.equal(null);
      expect(await store.access.getTag('shop', '.htpasswd')).to.equal(null);
      expect(await store.access.write('shop', '.htpasswd', text('a:b'))).to.equal(true);
      const tag = await store.access.getTag('shop', '.htpasswd');
      expect(await store.access.write('shop', '.htpasswd', text('a:b'))).to.equal(false);
      expect(await store.access.getTag('shop', '.htpasswd')).to.equal(tag);
      expect(await store.access.write('shop', '.htpasswd', text('a:c'))).to.equal(true);
      expect(await store.access.getTag('shop', '.htpasswd')).to.not.equal(tag);
      expect(await store.access.read('shop', '.htpasswd')).to.equal(text('a:c'));
      expect(await store.open(['shop', '.htpasswd'])).to.equal(null);
    });

    it('can be probed, which leaves nothing', async () => {
      await store.probe(0);
      expect(await store.packages.listStaged()).to.deep.equal([]);
      expect(await store.access.listProducts()).to.deep.equal([]);
      expect(await store.packages.sweep()).to.deep.equal({ removed: 0, damaged: [] });
    });

    it('opens nothing outside of the store, no folder, and no invalid name', async () => {
      await put(RELEASE_PLACE, Buffer.from('x'));
      const paths = [
        [],
        ['shop'],
        ['shop', 'stable'],
        ['..', 'etc', 'passwd'],
        ['shop', '..', 'shop', 'latest.json'],
        ['shop/stable/1.2.0/any', 'package.tar.gz'],
        ['', ...at(RELEASE_PLACE, 'package.tar.gz')],
        [...at(RELEASE_PLACE, 'package.tar.gz'), ''],
        [...at(RELEASE_PLACE, 'package.tar.gz'), 'more'],
        ['shop', 'stable', '1.2.0', 'any', 'package.tar.gz\0'],
        ['x'.repeat(5_000)],
        ['nobody', 'package.tar.gz'],
      ];
      for (const path of paths) expect(await store.open(path), JSON.stringify(path)).to.equal(null);
    });

    it('reads any range, in chunks of 256 KiB or more, with a tag that changes with the bytes', async () => {
      const bytes = randomBytes(1_200_000);
      await put(RELEASE_PLACE, bytes);
      const file = (await store.open(at(RELEASE_PLACE, 'package.tar.gz'))) as StoredFile;
      expect(file.size).to.equal(bytes.length);
      expect(Math.abs(Date.now() - file.modifiedAt.getTime())).to.be.below(60_000);
      const whole = await readAll(file);
      expect(whole.bytes.equals(bytes)).to.equal(true);
      for (const piece of whole.pieces.slice(0, -1)) expect(piece).to.be.at.least(256 * 1024);
      expect((await readAll(file, 5, 9)).bytes.equals(bytes.subarray(5, 9))).to.equal(true);
      expect((await readAll(file, 1_199_999)).bytes.equals(bytes.subarray(1_199_999))).to.equal(true);
      expect((await store.open(at(RELEASE_PLACE, 'package.tar.gz')))?.tag).to.equal(file.tag);
      await put(RELEASE_PLACE, randomBytes(1_200_000));
      expect((await store.open(at(RELEASE_PLACE, 'package.tar.gz')))?.tag).to.not.equal(file.tag);
    });

    it('continues a read when the package is replaced and withdrawn', async () => {
      const bytes = randomBytes(1_500_000);
      await put(RELEASE_PLACE, bytes);
      const file = (await store.open(at(RELEASE_PLACE, 'package.tar.gz'))) as StoredFile;
      const pieces: Uint8Array[] = [];
      for await (const piece of file.read(0, file.size)) {
        if (pieces.length === 0) {
          await put(RELEASE_PLACE, randomBytes(10));
          await store.packages.withdraw(RELEASE_PLACE);
        }
        pieces.push(piece);
      }
      expect(Buffer.concat(pieces).equals(bytes)).to.equal(true);
    });
  });
}
