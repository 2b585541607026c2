/**
 * The texts of manifests, in parts, because the manifest of 200,000 files is larger than a stored document may be. The
 * parts are written before the release that names them by hash, so whoever reads a release finds its text.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { all } from '../../../lib/paging.js';
import { splitText } from '../../../lib/text/pieces.js';
import { DEPS, type ReleaseDeps } from '../deps.js';
import { hashManifest } from '../manifest-bytes.js';

/** The length of a part in UTF-16 units: at most three times as many bytes, below every store's limit. */
const PART_UNITS = 2 * 1024 * 1024;
/** The number of parts that one read brings. */
const PAGE = 2;

@injectable()
export class StoredManifests {
  constructor(@inject(DEPS) private readonly deps: Pick<ReleaseDeps, 'manifests'>) {}

  /** Stores a text; the same text twice is stored once. @param manifest_sha256 its SHA-256, hex */
  async write(releaseId: string, text: string, manifest_sha256: string): Promise<void> {
    let n = 0;
    for (const piece of splitText(text, PART_UNITS)) {
      const part = { release_id: releaseId, manifest_sha256, text: piece };
      const id = partId(releaseId, manifest_sha256, n++);
      await this.deps.manifests.change({ id }, { set: part }, { upsert: true });
    }
  }

  /** The text; null when parts of it are missing. */
  async read(releaseId: string, manifestSha256: string): Promise<string | null> {
    const filter = { release_id: releaseId, manifest_sha256: manifestSha256 };
    const parts = await all(this.deps.manifests, { filter, limit: PAGE });
    const text = parts.map((part) => part.text).join('');
    return (await hashManifest(text)) === manifestSha256 ? text : null;
  }

  /** Removes all texts of a release except those named. */
  async keepOnly(releaseId: string, manifestSha256: readonly string[]): Promise<void> {
    const parts = await all(this.deps.manifests, { filter: { release_id: releaseId }, limit: PAGE });
    const gone = parts.filter((part) => !manifestSha256.includes(part.manifest_sha256)).map(({ id }) => id);
    if (gone.length > 0) await this.deps.manifests.remove({ id: { in: gone } });
  }
}

/** Ids sort in the order of the parts. */
const partId = (releaseId: string, manifestSha256: string, n: number): string =>
  `${releaseId}:${manifestSha256}:${String(n).padStart(6, '0')}`;
