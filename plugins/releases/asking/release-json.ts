/**
 * A release as check, latest and the packager show it, written once per release and not once per question: a manifest may
 * have megabytes (contract 40, asking).
 */
import { createHash } from 'node:crypto';
import type { KnownRelease } from './channel-releases.js';

/** Below `{base_url}` (contract 40, files). */
export const packageUrl = ({
  product,
  channel,
  version,
  platform,
}: Pick<KnownRelease, 'product' | 'channel' | 'version' | 'platform'>): string =>
  `/releases/${product}/${channel}/${version}/${platform}/package.tar.gz`;

export class ReleaseJson {
  readonly #open: string;
  /** Differs whenever the text does. */
  readonly tag: string;

  constructor(release: KnownRelease, notes: string | null, manifest: string) {
    const { version, channel, platform, published_at, package_size, package_sha256, min_version } = release;
    const shown = {
      version,
      channel,
      platform,
      published_at,
      release_notes: notes,
      package_url: packageUrl(release),
      package_size,
      package_sha256,
      min_version,
      signed: release.manifest_signature !== null,
      manifest_json: manifest,
      manifest_signature: release.manifest_signature,
      key_id: release.key_id,
    };
    this.#open = JSON.stringify(shown).slice(0, -1);
    this.tag = createHash('sha256').update(this.#open).digest('base64url').slice(0, 16);
  }

  text(mandatory: boolean): string {
    return `${this.#open},"mandatory":${mandatory}}`;
  }
}
