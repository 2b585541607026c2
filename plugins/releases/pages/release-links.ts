import { DAY_MS, toIsoString } from '../../../lib/time.js';
import type { ReleaseLinkProvider } from '../../../ports/domain/item-facts.js';
import type { ReleaseDeps } from '../deps.js';

/** Links of an issue to the release that it started with. */
export const createReleaseLinks = ({ releases }: Pick<ReleaseDeps, 'releases'>): ReleaseLinkProvider => ({
  findLinks: async (product, version, published_at) => {
    const at = Date.parse(published_at);
    // The bound keeps the read short where a product has thousands of releases.
    const published = { gte: toIsoString(at - DAY_MS), lte: toIsoString(at + DAY_MS) };
    const filter = { product, version, published_at: published, withdrawn_at: null };
    const page = await releases.find({ filter, sort: [['published_at', 'desc']], limit: 1 });
    const [release] = page.items;
    if (release === undefined) return null;
    const href = `/releases/${release.id}`;
    return { href, halt_href: release.halted_at === null ? `${href}#reason-halt` : null };
  },
});
