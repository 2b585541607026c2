import { readPackage, type PackageLimits } from '../../lib/formats/archive.js';
import { PackageTextReader } from '../../lib/formats/package-text-reader.js';
import { MAX_SETUP_BYTES, type PackageContents } from '../../ports/release-store.js';

export interface PackageRules {
  platform: string;
  entry: string | null;
}

/**
 * @param limits stricter than the general ones
 * @throws UnsafePackage, and errors of `bytes`
 */
export async function readPackageContents(
  bytes: AsyncIterable<Uint8Array>,
  { platform, entry }: PackageRules,
  limits: Partial<PackageLimits> = {},
): Promise<PackageContents> {
  const setup = new PackageTextReader('setup.json', MAX_SETUP_BYTES);
  const { files, unpackedBytes } = await readPackage(bytes, { platform, entry, limits, onFile: setup.onFile });
  return { files, unpacked: unpackedBytes, setup: setup.text };
}
