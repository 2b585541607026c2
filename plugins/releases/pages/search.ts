import type { SearchProvider } from '../../../ports/domain/search.js';
import type { ReleaseDeps } from '../deps.js';
import { toShownRelease } from './release-display.js';

const MAX_CANDIDATES = 500;

export const createReleaseSearch = ({ releases }: Pick<ReleaseDeps, 'releases'>): SearchProvider => ({
  label: 'Releases',
  icon: 'release',
  order: 30,
  role: 'member',
  find: async ({ words, limit }) => {
    const [first = '', ...rest] = words;
    const filter = { or: [{ product: { contains: first } }, { version: { contains: first } }] };
    const most = rest.length === 0 ? limit : MAX_CANDIDATES;
    const page = await releases.find({ filter, sort: [['published_at', 'desc']], limit: most });
    const fits = page.items.filter(({ product, version, channel, platform }) => {
      const fields = [product, version, channel, platform].map((field) => field.toLowerCase());
      return rest.every((word) => fields.some((field) => field.includes(word)));
    });
    return fits.slice(0, limit).map((doc) => {
      const { href, state } = toShownRelease(doc);
      return { title: `${doc.product} ${doc.version}`, href, detail: `${doc.channel} · ${doc.platform}`, state };
    });
  },
});
