/**
 * Rendered once per release instead of per request, because manifests may have megabytes (contract
 * 40, asking).
 */
import { createHash } from 'node:crypto';
import { SharedBytes } from '../../../kernel/contract/index.js';
import type { CachedRelease } from './channel-releases.js';

/** Below `{base_url}` (contract 40, files). */
export const buildPackageUrl = ({
  product,
  channel,
  version,
  platform,
}: Pick<CachedRelease, 'product' | 'channel' | 'version' | 'platform'>): string =>
  `/releases/${product}/${channel}/${version}/${platform}/package.tar.gz`;

/**
 * Longer manifests are downloaded separately: every checking machine receives this response
 * (contract 40, asking).
 */
const MAX_INLINE_BYTES = 256 * 1024;
const SHARED_BYTES_THRESHOLD = 16 * 1024;

export const buildManifestUrl = (release: Parameters<typeof buildPackageUrl>[0]): string =>
  buildPackageUrl(release).replace(/[^/]+$/, 'manifest.json');

/** Files of the package are below it, by hash (contract 97, files of a release). */
const buildFilesUrl = (release: Parameters<typeof buildPackageUrl>[0]): string =>
  buildPackageUrl(release).replace(/[^/]+$/, 'files');

export class ReleaseJson {
  readonly #open: string | Buffer;
  readonly tag: string;

  constructor(release: CachedRelease, notes: string | null, manifest: string) {
    const { version, channel, platform, published_at, package_size, package_sha256, min_version } = release;
    const inline = Buffer.byteLength(manifest) <= MAX_INLINE_BYTES;
    const shown = {
      version,
      channel,
      platform,
      published_at,
      release_notes: notes,
      package_url: buildPackageUrl(release),
      files_url: buildFilesUrl(release),
      package_size,
      package_sha256,
      min_version,
      signed: release.manifest_signature !== null,
      manifest_json: inline ? manifest : null,
      manifest_url: inline ? null : buildManifestUrl(release),
      manifest_sha256: release.manifest_sha256,
      manifest_signature: release.manifest_signature,
      key_id: release.key_id,
    };
    const text = JSON.stringify(shown).slice(0, -1);
    this.#open = text.length < SHARED_BYTES_THRESHOLD ? text : Buffer.from(text);
    this.tag = createHash('sha256').update(this.#open).digest('base64url').slice(0, 16);
  }

  embed(before: string, mandatory: boolean, behind: string): string | SharedBytes {
    const end = `,"mandatory":${mandatory}}${behind}`;
    return typeof this.#open === 'string'
      ? before + this.#open + end
      : new SharedBytes([Buffer.from(before), this.#open, Buffer.from(end)]);
  }
}
