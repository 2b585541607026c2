/** Reads packages off the event loop, wherever their bytes lie: for release stores that are no file system. */
import type { PackageContents } from './release-store.js';

export interface PackageReader {
  /** @throws what the bytes throw */
  hash(bytes: AsyncIterable<Uint8Array>): Promise<{ sha256: string; size: number }>;
  /**
   * Reads a package strictly (contract 40, publishing).
   * @param rules `entry`: path of the file that is started, which is executable whatever its mode
   * @throws PackageRejected, and what the bytes throw
   */
  inspect(
    bytes: AsyncIterable<Uint8Array>,
    rules: { platform: string; entry: string | null },
  ): Promise<PackageContents>;
}
