/**
 * In parts, because large ones exceed the size limit of a document. Parts are written before the
 * release that references them, so every readable release has its text.
 */
import { inject, injectable, type Collection } from '../../../kernel/contract/index.js';
import { collectAll } from '../../../lib/paging.js';
import { splitText } from '../../../lib/text/split-text.js';
import { DEPS } from '../deps.js';
import { hashManifest } from '../manifest-bytes.js';
import type { ManifestPart } from '../model.js';

/** UTF-16 units: at most three times as many bytes, below every store's limit. */
const PART_UNITS = 2 * 1024 * 1024;
const PAGE_SIZE = 2;

@injectable()
export class ManifestRepository {
  constructor(@inject(DEPS.manifests) private readonly manifests: Collection<ManifestPart>) {}

  /**
   * Equal texts are stored once.
   * @param manifest_sha256 hex
   */
  async write(releaseId: string, text: string, manifest_sha256: string): Promise<void> {
    let n = 0;
    for (const piece of splitText(text, PART_UNITS)) {
      const part = { release_id: releaseId, manifest_sha256, text: piece };
      const id = getPartId(releaseId, manifest_sha256, n++);
      await this.manifests.change({ id }, { set: part }, { upsert: true });
    }
  }

  async read(releaseId: string, manifestSha256: string): Promise<string | null> {
    const filter = { release_id: releaseId, manifest_sha256: manifestSha256 };
    const parts = await collectAll(this.manifests, { filter, limit: PAGE_SIZE });
    const text = parts.map((part) => part.text).join('');
    return (await hashManifest(text)) === manifestSha256 ? text : null;
  }

  async deleteExcept(releaseId: string, manifestSha256: readonly string[]): Promise<void> {
    const parts = await collectAll(this.manifests, { filter: { release_id: releaseId }, limit: PAGE_SIZE });
    const gone = parts.filter((part) => !manifestSha256.includes(part.manifest_sha256)).map(({ id }) => id);
    if (gone.length > 0) await this.manifests.remove({ id: { in: gone } });
  }
}

const getPartId = (releaseId: string, manifestSha256: string, n: number): string =>
  `${releaseId}:${manifestSha256}:${String(n).padStart(6, '0')}`;
