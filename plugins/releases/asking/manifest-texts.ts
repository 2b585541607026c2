/**
 * The texts of manifests, in parts: a manifest of 200,000 files is larger than a document may be. They are written
 * before the release that names them by its hash, so whoever reads a release finds its text.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { all } from '../../../lib/paging.js';
import { textPieces } from '../../../lib/text/pieces.js';
import { DEPS, type ReleaseDeps } from '../deps.js';
import { hashOf } from '../manifest-bytes.js';

/** UTF-16 units; at most three times as many bytes, below every store's limit. */
const PART_UNITS = 2 * 1024 * 1024;
/** Parts that one read may bring at once. */
const PAGE = 2;

@injectable()
export class StoredManifests {
  constructor(@inject(DEPS) private readonly deps: Pick<ReleaseDeps, 'manifests'>) {}

  /** The same text twice is once. @param manifest_sha256 its SHA-256, hex */
  async write(releaseId: string, text: string, manifest_sha256: string): Promise<void> {
    let n = 0;
    for (const piece of textPieces(text, PART_UNITS)) {
      const part = { release_id: releaseId, manifest_sha256, text: piece };
      const id = partId(releaseId, manifest_sha256, n++);
      await this.deps.manifests.change({ id }, { set: part }, { upsert: true });
    }
  }

  /** Null: it is not there, or not whole. */
  async read(releaseId: string, manifestSha256: string): Promise<string | null> {
    const filter = { release_id: releaseId, manifest_sha256: manifestSha256 };
    const parts = await all(this.deps.manifests, { filter, limit: PAGE });
    const text = parts.map((part) => part.text).join('');
    return (await hashOf(text)) === manifestSha256 ? text : null;
  }

  /** Removes the texts of a release but those named. */
  async keepOnly(releaseId: string, manifestSha256: readonly string[]): Promise<void> {
    const parts = await all(this.deps.manifests, { filter: { release_id: releaseId }, limit: PAGE });
    const gone = parts.filter((part) => !manifestSha256.includes(part.manifest_sha256)).map(({ id }) => id);
    if (gone.length > 0) await this.deps.manifests.remove({ id: { in: gone } });
  }
}

/** In the order of the parts. */
const partId = (releaseId: string, manifestSha256: string, n: number): string =>
  `${releaseId}:${manifestSha256}:${String(n).padStart(6, '0')}`;
