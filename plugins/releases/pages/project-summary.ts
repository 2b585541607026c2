import type { ProjectLine, ProjectPartProvider } from '../../../ports/domain/projects.js';
import type { VersionAdoption } from '../../../ports/domain/watchdog.js';
import { isVersion, isSameVersion } from '../../../lib/versions.js';
import type { ReleaseIndex } from '../update-check/release-index.js';
import type { ReleaseDeps } from '../deps.js';
import type { ReleaseRepository } from '../publishing/release-repository.js';
import { toShownRelease } from './release-display.js';

const MAX_SHOWN_CHANNELS = 8;

/** `12 of 40 machines`; null when no machine has reported its version. */
export function formatAdoption(adoption: readonly VersionAdoption[], version: string): string | null {
  const all = adoption.reduce((sum, { monitors }) => sum + monitors, 0);
  if (all === 0) return null;
  const own = adoption
    .filter((one) => one.version !== null && isVersion(one.version) && isSameVersion(one.version, version))
    .reduce((sum, { monitors }) => sum + monitors, 0);
  return `${own} of ${all} ${all === 1 ? 'machine' : 'machines'} (${Math.round((own / all) * 100)} %)`;
}

export function buildReleasePart(
  index: Pick<ReleaseIndex, 'listChannels' | 'getChannel' | 'ensureCurrent'>,
  docs: Pick<ReleaseRepository, 'get'>,
  { watchdog }: Pick<ReleaseDeps, 'watchdog'>,
): ProjectPartProvider {
  return {
    id: 'releases',
    order: 20,
    loadPart: async ({ slug }) => {
      const adoption = (await watchdog()?.listVersionAdoption(slug)) ?? [];
      await index.ensureCurrent();
      const newest = index.listChannels(slug).flatMap((channel) => {
        for (const release of index.getChannel(slug, channel).releases.listAll()) {
          if (release.withdrawn_at === null) return [release];
        }
        return [];
      });
      const found = await Promise.all(newest.slice(0, MAX_SHOWN_CHANNELS).map(({ id }) => docs.get(id)));
      const lines = found.flatMap((doc): ProjectLine[] => {
        if (doc === null) return [];
        const { href, state, tone } = toShownRelease(doc);
        const adopted = formatAdoption(adoption, doc.version);
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
