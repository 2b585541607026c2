/** Which packages an archive lacks, although a release names them: the release store has lost them. */
import type { ReleasePlace } from '../../ports/release-store.js';
import { each } from '../../lib/paging.js';
import type { Doc, DocumentStore } from '../../ports/store.js';

/** The collection of releases (plugins/releases/collections.ts). */
const RELEASES = 'releases_releases';

type Release = Doc & ReleasePlace & { published_at: string; withdrawn_at: string | null };

const pathOf = ({ product, channel, version, platform }: ReleasePlace): string =>
  [product, channel, version, platform].join('/');

/**
 * @param archived places of the packages in the archive
 * @param before RFC 3339; a release that was published later is not expected in it
 * @returns the places as paths below the release store
 */
export async function findMissingPackages(
  store: DocumentStore,
  archived: readonly ReleasePlace[],
  before: string,
): Promise<string[]> {
  const present = new Set(archived.map(pathOf));
  const missing: string[] = [];
  // A release that cannot be read is reported by the check of integrity.
  const damaged = (): void => undefined;
  const query = { filter: { withdrawn_at: null }, limit: 200, damaged };
  for await (const release of each(store.collection<Release>(RELEASES), query))
    if (release.published_at < before && !present.has(pathOf(release))) missing.push(pathOf(release));
  return missing;
}
