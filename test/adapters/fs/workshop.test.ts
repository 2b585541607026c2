/**
 * Small packages are hashed and read without the start of a thread; the answers are the same on
 * both sides of the limit.
 */
import { expect } from 'chai';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHook } from 'node:async_hooks';
import { gzipSync } from 'node:zlib';
import { PackageRejected } from '../../../ports/release-store.js';
import { buildTarEntry } from '../../support/archives.js';
import { MAX_SMALL_PACKAGE_BYTES, ThreadPackageReader } from '../../../adapters/fs/package-reader.js';

describe('fs: package workers', () => {
  let dir: string;
  let threads = 0;
  const hook = createHook({ init: (_id, type) => void (threads += type === 'WORKER' ? 1 : 0) });
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'aos-workshop-'));
    hook.enable();
  });
  after(async () => {
    hook.disable();
    await rm(dir, { recursive: true, force: true });
  });

  for (const [size, wanted] of [
    [0, 0],
    [MAX_SMALL_PACKAGE_BYTES, 0],
    [MAX_SMALL_PACKAGE_BYTES + 1, 1],
  ] as const)
    it(`hashes ${size} bytes with ${wanted} threads`, async () => {
      const bytes = Buffer.alloc(size, 'x');
      const path = join(dir, String(size));
      await writeFile(path, bytes);
      threads = 0;
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      expect(await new ThreadPackageReader().hash(path)).to.deep.equal({ sha256, size });
      expect(threads).to.equal(wanted);
    });

  const RULES = { platform: 'any', entry: null };
  const packed = (...files: [name: string, content: string][]): Buffer =>
    gzipSync(Buffer.concat([...files.map(([name, content]) => buildTarEntry({ name, content })), Buffer.alloc(1024)]));
  const inspected = async (bytes: Buffer): Promise<[object, threads: number]> => {
    const path = join(dir, 'package');
    await writeFile(path, bytes);
    async function* pieces(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < bytes.length; at += 100) yield bytes.subarray(at, at + 100);
    }
    threads = 0;
    const requested = [path, pieces()].map((source) => new ThreadPackageReader().inspect(source, RULES));
    const [byPath, byPieces] = await Promise.all(requested.map((one) => one.catch((error: Error) => ({ error }))));
    expect(byPieces).to.deep.equal(byPath);
    return [byPath ?? {}, threads];
  };

  it('reads a small package without a worker thread', async () => {
    const [contents, started] = await inspected(packed(['b/app.txt', 'hello'], ['setup.json', '{}']));
    const sha256 = createHash('sha256').update('hello').digest('hex');
    expect(contents).to.deep.include({ unpacked: 7, setup: '{}' });
    expect((contents as { files: object[] }).files[0]).to.deep.include({ path: 'b/app.txt', size: 5, sha256 });
    expect(started).to.equal(0);
  });

  it('unpacks a small package with large contents in a worker thread, with the same result', async () => {
    // Compressed a hundredfold: twice as much is refused.
    const much = Array.from({ length: 600 }, () => randomBytes(100).toString('hex') + 'x'.repeat(10_000)).join('');
    const [one, started] = await inspected(packed(['much.txt', much]));
    expect(one).to.deep.include({ unpacked: much.length });
    expect(started).to.equal(2);
    const many = Array.from({ length: 501 }, (_, n): [string, string] => [`${1000 + n}.txt`, `${n}`]);
    const [contents] = await inspected(packed(...many));
    expect((contents as { files: { path: string }[] }).files.map(({ path }) => path)).to.deep.equal(
      many.map(([name]) => name),
    );
  });

  it('rejects contents that are not allowed in any package', async () => {
    const [{ error }] = (await inspected(packed(['../app.txt', 'x']))) as [{ error: Error }, number];
    expect(error).to.be.instanceOf(PackageRejected).and.to.have.property('entry', '../app.txt');
    const cut = packed(['app.txt', 'hello']).subarray(0, -6);
    expect(((await inspected(cut)) as [{ error: Error }, number])[0].error).to.be.instanceOf(PackageRejected);
  });
});
