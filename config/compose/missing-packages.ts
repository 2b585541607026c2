import type { ReleaseLocation } from '../../ports/release-store.js';
import { iterateItems } from '../../lib/paging.js';
import type { Doc, DocumentStore } from '../../ports/store/index.js';

const RELEASES_COLLECTION = 'releases_releases';

type Release = Doc & ReleaseLocation & { published_at: string; withdrawn_at: string | null };

const toPath = ({ product, channel, version, platform }: ReleaseLocation): string =>
  [product, channel, version, platform].join('/');

/** @param before RFC 3339; later releases are not expected */
export async function findMissingPackages(
  store: DocumentStore,
  archived: readonly ReleaseLocation[],
  before: string,
): Promise<string[]> {
  const present = new Set(archived.map(toPath));
  const missing: string[] = [];
  const damaged = (): void => undefined;
  const query = { filter: { withdrawn_at: null }, limit: 200, damaged };
  for await (const release of iterateItems(store.collection<Release>(RELEASES_COLLECTION), query))
    if (release.published_at < before && !present.has(toPath(release))) missing.push(toPath(release));
  return missing;
}
