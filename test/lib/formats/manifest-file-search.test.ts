import { expect } from 'chai';
import fc from 'fast-check';
import { findManifestFile } from '../../../lib/formats/manifest-file-search.js';
import { formatManifest, InvalidManifest } from '../../../lib/formats/manifest.js';

const toHash = (n: number): string => n.toString(16).padStart(64, '0');

const PACKAGE_HASH = toHash(0xffff);

const format = (paths: readonly string[], setup: Record<string, unknown> | null = null): string =>
  formatManifest({
    product: 'shop',
    version: '1.0',
    channel: 'stable',
    platform: 'any',
    published_at: '2026-11-29T00:00:00Z',
    package: { sha256: PACKAGE_HASH, size: 7 },
    files: [...paths].map((path, at) => ({ path, size: at, sha256: toHash(at), mode: '0644' })),
    preserve_patterns: [],
    min_version: null,
    setup,
    entry: null,
    runtime: null,
  });

async function* split(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe('file search in manifests', () => {
  it('finds each file at any chunk size', async () => {
    const path = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(path, { maxLength: 20 }),
        fc.integer({ min: 1, max: 300 }),
        async (paths, size) => {
          const text = format(paths);
          for (const [at, one] of paths.entries())
            expect(await findManifestFile(split(text, size), toHash(at))).to.deep.equal({ path: one, size: at });
          expect(await findManifestFile(split(text, size), toHash(paths.length))).to.equal(null);
        },
      ),
    );
  });

  it('ignores the hash of the package, and hashes in other members', async () => {
    const setup = { path: 'x', size: 1, sha256: toHash(77), mode: '0644' };
    const text = format(['a', `,"sha256":"${toHash(78)}","mode":"`], setup);
    for (const hash of [PACKAGE_HASH, toHash(77), toHash(78)])
      expect(await findManifestFile(split(text, 64), hash), hash).to.equal(null);
  });

  it('finds a path of the maximum length', async () => {
    const path = '\u{1f600}'.repeat(1_024);
    expect(await findManifestFile(split(format(['a', path]), 1_000), toHash(1))).to.deep.equal({ path, size: 1 });
  });

  it('rejects an entry without a path', async () => {
    const text = `{"files":[{"x":1,"sha256":"${toHash(1)}","mode":"0644"}`;
    const error: unknown = await findManifestFile(split(text, 10), toHash(1)).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(InvalidManifest);
  });
});
