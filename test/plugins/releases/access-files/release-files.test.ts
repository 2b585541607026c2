/** Single files of a release (contract 97, files of a release). */
import { createHash, randomBytes } from 'node:crypto';
import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { buildPackage } from '../../../kit/contracts/release-store.js';
import { MemoryReleaseStore } from '../../../../adapters/memory/release-store.js';
import { readPackagedFile } from '../../../../lib/formats/packaged-file.js';
import { basic, get, KEY, nameOf, PASSWORD, StoreFixture, type Asked } from '../store-fixture.js';

const hashOf = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');
const LARGE = randomBytes(5 * 1024 * 1024).toString('base64');
const FILES: Record<string, string> = {
  'a.txt': 'first '.repeat(1_000),
  'dir/large.bin': LARGE,
  'empty.txt': '',
  'z.txt': 'last',
};
const AS_ADMIN = { authorization: basic('admin', PASSWORD) };

for (const unpack_files of [false, true])
  describe(`release store: single files, ${unpack_files ? 'from the disk' : 'unpacked at each request'}`, function () {
    let fixture: StoreFixture;
    const ask = (hash: string, headers: Record<string, string> = AS_ADMIN, method = 'GET'): Promise<Asked> =>
      get(fixture.base, `/releases/shop/stable/1.0/any/files/${hash}`, { headers, method });

    before(async () => {
      fixture = await StoreFixture.open({ section: { unpack_files } });
      await fixture.publish({}, buildPackage(FILES));
      await fixture.publish({ version: '0.9' }, buildPackage({ 'other.txt': 'of another release' }));
    });
    after(() => fixture.stop());

    it('serves the bytes of each file, to be cached for ever', async () => {
      for (const [path, content] of Object.entries(FILES)) {
        const answer = await ask(hashOf(content));
        expect(answer.status, path).to.equal(200);
        expect(hashOf(answer.body), path).to.equal(hashOf(content));
        expect(answer.headers).to.include({
          'content-length': String(Buffer.byteLength(content)),
          'cache-control': 'private, max-age=31536000, immutable',
          etag: `"${hashOf(content)}"`,
          vary: 'accept-encoding',
        });
        expect(answer.headers).not.to.have.property('content-encoding');
      }
    });

    it('serves ranges, HEAD and 304', async () => {
      for (const [content, from] of [
        [FILES['a.txt'] ?? '', 5_990],
        [LARGE, LARGE.length - 700_000],
      ] as const) {
        const part = await ask(hashOf(content), { ...AS_ADMIN, range: `bytes=${from}-`, 'accept-encoding': 'gzip' });
        expect(part.status).to.equal(206);
        expect(part.body.toString()).to.equal(content.slice(from));
        expect(part.headers['content-range']).to.equal(`bytes ${from}-${content.length - 1}/${content.length}`);
        const middle = await ask(hashOf(content), { ...AS_ADMIN, range: 'bytes=100-199' });
        expect(middle.body.toString()).to.equal(content.slice(100, 200));
        const head = await ask(hashOf(content), AS_ADMIN, 'HEAD');
        expect([head.status, head.headers['content-length'], head.body.length]).to.deep.equal([
          200,
          String(content.length),
          0,
        ]);
        const same = await ask(hashOf(content), { ...AS_ADMIN, 'if-none-match': `"${hashOf(content)}"` });
        expect(same.status).to.equal(304);
      }
      expect((await ask(hashOf('last'), { ...AS_ADMIN, range: 'bytes=4-' })).status).to.equal(416);
    });

    it('compresses a file on request', async () => {
      const content = FILES['a.txt'] ?? '';
      for (const accepted of ['gzip', 'br, gzip;q=0.8', '*']) {
        const answer = await ask(hashOf(content), { ...AS_ADMIN, 'accept-encoding': accepted });
        expect(answer.headers['content-encoding'], accepted).to.equal('gzip');
        expect(gunzipSync(answer.body).toString()).to.equal(content);
        expect(answer.headers['etag']).to.equal(`"${hashOf(content)}-gzip"`);
      }
      for (const accepted of ['identity', 'gzip;q=0', 'br'])
        expect(
          (await ask(hashOf(content), { ...AS_ADMIN, 'accept-encoding': accepted })).headers,
          accepted,
        ).not.to.have.property('content-encoding');
    });

    it('answers 404 to what the manifest does not list', async () => {
      const others = [hashOf('of another release'), '0'.repeat(64), hashOf('last').toUpperCase(), 'x', ''];
      for (const name of others) expect((await ask(name)).status, name).to.equal(404);
      for (const path of ['2.0/any', '1.0/win-x64'])
        expect(
          (await get(fixture.base, `/releases/shop/stable/${path}/files/${hashOf('last')}`, { headers: AS_ADMIN }))
            .status,
          path,
        ).to.equal(404);
    });

    it('requires the credentials of the package', async () => {
      for (const headers of [
        {},
        { authorization: basic('admin', 'wrong') },
        { authorization: basic(nameOf(KEY), KEY) },
      ])
        expect((await ask(hashOf('last'), headers as Record<string, string>)).status).to.equal(401);
      await fixture.licenses.set('shop', [await fixture.license(KEY)]);
      await fixture.care.run(true);
      expect((await ask(hashOf('last'), { authorization: basic(nameOf(KEY), KEY) })).status).to.equal(200);
    });

    it('names the address in check', async () => {
      const answer = await get(fixture.base, '/api/updateservice/v1/check?product=shop&version=0.1');
      const { release } = JSON.parse(answer.body.toString()) as { release: Record<string, unknown> };
      expect(release['files_url']).to.equal('/releases/shop/stable/1.0/any/files');
    });

    it('serves no file of a withdrawn release', async () => {
      await fixture.withdrawn();
      expect((await ask(hashOf('last'))).status).to.equal(404);
    });

    it(`${unpack_files ? 'does not need' : 'reads'} the package's bytes`, async () => {
      await fixture.publish({ version: '3.0' }, buildPackage(FILES));
      const file = join(fixture.folder, 'releases', 'shop', 'stable', '3.0', 'any', 'package.tar.gz');
      await truncate(file, 10);
      const path = `/releases/shop/stable/3.0/any/files/${hashOf('last')}`;
      const answer = await get(fixture.base, path, { headers: AS_ADMIN });
      expect(answer.status).to.equal(unpack_files ? 200 : 500);
    });
  });

describe('release store: reading a file of a package', () => {
  async function* stored(): AsyncGenerator<Uint8Array> {
    const store = new MemoryReleaseStore();
    const bytes = buildPackage(FILES);
    const staged = await store.packages.stage(
      (async function* () {
        yield bytes;
      })(),
      { bytes: 1e9, keepFree: 0 },
    );
    const place = { product: 'shop', channel: 'stable', version: '1.0', platform: 'any' };
    await store.packages.put(staged.id, place, { manifest: '{}', signature: null });
    const file = await store.open(['shop', 'stable', '1.0', 'any', 'package.tar.gz']);
    if (file !== null) yield* file.read(0, file.size);
  }
  const read = async (path: string, start: number, end: number): Promise<string> => {
    const parts: Uint8Array[] = [];
    for await (const part of readPackagedFile(stored(), { platform: 'any', path, start, end })) parts.push(part);
    return Buffer.concat(parts).toString();
  };

  it('returns any range, and ends when the reader does', async () => {
    expect(await read('dir/large.bin', 0, LARGE.length)).to.equal(LARGE);
    expect(await read('dir/large.bin', 1_000_000, 1_000_010)).to.equal(LARGE.slice(1_000_000, 1_000_010));
    expect(await read('z.txt', 1, 3)).to.equal('as');
    for await (const part of readPackagedFile(stored(), {
      platform: 'any',
      path: 'dir/large.bin',
      start: 0,
      end: 9e6,
    })) {
      expect(part.length).to.be.greaterThan(0);
      break;
    }
  });

  it('rejects when the package lacks the file, or is damaged', async () => {
    const getMessage = (work: Promise<unknown>): Promise<string> =>
      work.then(
        () => 'nothing',
        (error: Error) => error.message,
      );
    expect(await getMessage(read('missing', 0, 1))).to.match(/has no file missing/);
    const damaged = (async function* () {
      yield Buffer.from('not a package');
    })();
    const all = readPackagedFile(damaged, { platform: 'any', path: 'a', start: 0, end: 1 });
    expect(await getMessage(all.next())).not.to.equal('nothing');
  });
});
