/**
 * The texts of manifests, in parts: a manifest of 200,000 files is larger than a document may be. They are written before
 * the release that names them by its hash, so whoever reads a release finds its text.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { all } from '../../../lib/paging.js';
import { DEPS, type Deps } from '../deps.js';
import { sha256 } from '../place.js';

/** UTF-16 units; at most three times as many bytes, below every store's limit. */
const PART_UNITS = 2 * 1024 * 1024;
/** Parts that one read may bring at once. */
const PAGE = 2;

@injectable()
export class ManifestTexts {
  constructor(@inject(DEPS) private readonly deps: Pick<Deps, 'manifests'>) {}

  /** Answers its SHA-256, hex. The same text twice is once. */
  async write(releaseId: string, text: string): Promise<string> {
    const manifest_sha256 = sha256(text);
    for (let n = 0, at = 0; at < text.length; n++) {
      // A pair of surrogates stays together.
      const end = isHigh(text.charCodeAt(at + PART_UNITS - 1)) ? at + PART_UNITS + 1 : at + PART_UNITS;
      const part = { release_id: releaseId, manifest_sha256, text: text.slice(at, end) };
      await this.deps.manifests.change({ id: partId(releaseId, manifest_sha256, n) }, { set: part }, { upsert: true });
      at = end;
    }
    return manifest_sha256;
  }

  /** Null: it is not there, or not whole. */
  async read(releaseId: string, manifestSha256: string): Promise<string | null> {
    const filter = { release_id: releaseId, manifest_sha256: manifestSha256 };
    const parts = await all(this.deps.manifests, { filter, limit: PAGE });
    const text = parts.map((part) => part.text).join('');
    return sha256(text) === manifestSha256 ? text : null;
  }

  /** Removes the texts of a release but those named. */
  async keepOnly(releaseId: string, manifestSha256: readonly string[]): Promise<void> {
    const parts = await all(this.deps.manifests, { filter: { release_id: releaseId }, limit: PAGE });
    const gone = parts.filter((part) => !manifestSha256.includes(part.manifest_sha256)).map(({ id }) => id);
    if (gone.length > 0) await this.deps.manifests.remove({ id: { in: gone } });
  }
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;

/** In the order of the parts. */
const partId = (releaseId: string, manifestSha256: string, n: number): string =>
  `${releaseId}:${manifestSha256}:${String(n).padStart(6, '0')}`;
