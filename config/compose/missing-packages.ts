import type { ReleasePlace } from '../../ports/release-store.js';
import { each } from '../../lib/paging.js';
import type { Doc, DocumentStore } from '../../ports/store.js';

const RELEASES = 'releases_releases';

type Release = Doc & ReleasePlace & { published_at: string; withdrawn_at: string | null };

const pathOf = ({ product, channel, version, platform }: ReleasePlace): string =>
  [product, channel, version, platform].join('/');

/**
 * Returns the paths of packages that releases name but an archive lacks.
 * @param archived locations of the packages in the archive
 * @param before RFC 3339; releases published later are not expected in it
 */
export async function findMissingPackages(
  store: DocumentStore,
  archived: readonly ReleasePlace[],
  before: string,
): Promise<string[]> {
  const present = new Set(archived.map(pathOf));
  const missing: string[] = [];
  const damaged = (): void => undefined;
  const query = { filter: { withdrawn_at: null }, limit: 200, damaged };
  for await (const release of each(store.collection<Release>(RELEASES), query))
    if (release.published_at < before && !present.has(pathOf(release))) missing.push(pathOf(release));
  return missing;
}
