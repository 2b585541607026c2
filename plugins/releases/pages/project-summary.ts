import type { ProjectLine, ProjectPartProvider } from '../../../ports/domain/projects.js';
import type { ReleaseIndex } from '../update-check/release-index.js';
import type { ReleaseDeps } from '../deps.js';
import type { ReleaseRepository } from '../publishing/release-repository.js';
import { loadAdoption } from './adoption.js';
import { toShownRelease } from './release-display.js';

const MAX_SHOWN_CHANNELS = 8;

/** `12 of 40 machines`; null when the channel has no machines. */
const formatAdoption = (adoption: { updated: number; all: number } | null): string | null =>
  adoption === null || adoption.all === 0
    ? null
    : `${adoption.updated} of ${adoption.all} ${adoption.all === 1 ? 'machine' : 'machines'} (${Math.round((adoption.updated / adoption.all) * 100)} %)`;

export function buildReleasePart(
  index: Pick<ReleaseIndex, 'listChannels' | 'getChannel' | 'ensureCurrent'>,
  docs: Pick<ReleaseRepository, 'get'>,
  deps: Pick<ReleaseDeps, 'machines' | 'clock'>,
): ProjectPartProvider {
  return {
    id: 'releases',
    order: 20,
    loadPart: async ({ slug }) => {
      await index.ensureCurrent();
      const newest = index.listChannels(slug).flatMap((channel) => {
        for (const release of index.getChannel(slug, channel).releases.listAll()) {
          if (release.withdrawn_at === null) return [release];
        }
        return [];
      });
      const found = await Promise.all(newest.slice(0, MAX_SHOWN_CHANNELS).map(({ id }) => docs.get(id)));
      const adoption = await Promise.all(found.map(async (doc) => (doc === null ? null : loadAdoption(deps, doc))));
      const lines = found.flatMap((doc, i): ProjectLine[] => {
        if (doc === null) return [];
        const { href, state, tone } = toShownRelease(doc);
        const adopted = formatAdoption(adoption[i] ?? null);
        return [
          {
            title: `${doc.channel}: ${doc.version}`,
            href,
            detail: [doc.platform, adopted].filter((one) => one !== null).join(' · '),
            badge: { text: state, tone: tone as 'success' },
            at: doc.published_at,
          },
        ];
      });
      return {
        heading: 'Latest releases',
        all: { label: 'View all releases', href: `/releases?product=${encodeURIComponent(slug)}` },
        figures: [],
        lines,
        empty:
          lines.length === 0
            ? { text: 'No releases', label: 'Publish release', href: `/releases/new?product=${slug}` }
            : null,
      };
    },
  };
}
