/**
 * The strict reader of packages (contract 40, refused packages): every hostile archive by hand, and
 * ordinary ones by foreign tools.
 */
import { expect } from 'chai';
import { PACKAGE_LIMITS, UnsafePackage, readPackage, type PackageLimits } from '../../../lib/formats/archive.js';
import { buildArchive } from '../../support/release-server.js';
import { HOSTILE_ARCHIVES } from '../../support/hostile-archives.js';

const PLATFORMS = ['any', 'win-x64', 'linux-x64', 'linux-arm64'];

async function* pieces(bytes: Buffer, size = 64 * 1024): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function refusal(
  bytes: Buffer,
  platform: string,
  limits?: Partial<PackageLimits>,
): Promise<UnsafePackage | null> {
  try {
    await readPackage(pieces(bytes), { platform, ...(limits && { limits }) });
    return null;
  } catch (error) {
    if (error instanceof UnsafePackage) return error;
    throw error;
  }
}

describe('strict reading of packages', () => {
  it('accepts at most 8 GiB and 200,000 entries', () =>
    expect(PACKAGE_LIMITS).to.include({ unpackedBytes: 8 * 1024 ** 3, entries: 200_000 }));

  describe('entries', () => {
    for (const { what, entry, why, only, slow, limits, bytes } of HOSTILE_ARCHIVES) {
      it(`rejects, and names, ${what}`, async function () {
        const archive = bytes();
        const bound = only ?? (slow === true ? ['any'] : PLATFORMS);
        for (const platform of bound) {
          const rejected = await refusal(archive, platform, limits);
          expect(rejected, platform).to.not.equal(null);
          expect(rejected?.why, platform).to.match(why);
          if (entry.endsWith('…')) expect(rejected?.entry).to.contain(entry.slice(0, -1));
          else expect(rejected?.entry, platform).to.equal(entry);
        }
        if (only === undefined) return;
        for (const platform of PLATFORMS.filter((name) => !only.includes(name)))
          expect(await refusal(archive, platform, limits), platform).to.equal(null);
      });
    }
  });

  describe('compression ratio limit of 200', () => {
    const MIB = 1024 ** 2;
    const zeros = (mib: number): Buffer =>
      buildArchive([
        { path: 'app.txt', content: 'x' },
        { path: 'zeros.bin', content: Buffer.alloc(mib * MIB) },
      ]);

    for (const mib of [0.1, 4, 60])
      it(`accepts a package that unpacks to ${mib} MiB`, async () =>
        expect(await refusal(zeros(mib), 'any')).to.equal(null));

    it('rejects a package that unpacks to 70 MiB, and names its largest file', async () => {
      const rejected = await refusal(zeros(70), 'any');
      expect(rejected).to.include({ entry: 'zeros.bin' });
      expect(rejected?.message).to.include('more than 200 times its size');
    });
  });
});
