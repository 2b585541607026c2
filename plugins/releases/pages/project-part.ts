import type { ProjectLine, ProjectParts } from '../../../ports/domain/projects.js';
import type { VersionAdoption } from '../../../ports/domain/watchdog.js';
import { isVersion, sameVersion } from '../../../lib/versions.js';
import type { ReleaseIndex } from '../asking/release-index.js';
import type { ReleaseDeps } from '../deps.js';
import type { ReleaseDocs } from '../publishing/release-docs.js';
import { toShownRelease } from './shown.js';

const SHOWN = 8;

/** Formats adoption such as `12 of 40 machines`; null when no machine has reported its version. */
export function summarizeAdoption(adoption: readonly VersionAdoption[], version: string): string | null {
  const all = adoption.reduce((sum, { monitors }) => sum + monitors, 0);
  if (all === 0) return null;
  const own = adoption
    .filter((one) => one.version !== null && isVersion(one.version) && sameVersion(one.version, version))
    .reduce((sum, { monitors }) => sum + monitors, 0);
  return `${own} of ${all} ${all === 1 ? 'machine' : 'machines'} (${Math.round((own / all) * 100)} %)`;
}

export function buildReleasePart(
  index: Pick<ReleaseIndex, 'channelsOf' | 'channel' | 'current'>,
  docs: Pick<ReleaseDocs, 'get'>,
  { watchdog }: Pick<ReleaseDeps, 'watchdog'>,
): ProjectParts {
  return {
    id: 'releases',
    order: 20,
    of: async ({ slug }) => {
      const adoption = (await watchdog()?.adoption(slug)) ?? [];
      await index.current();
      const newest = index.channelsOf(slug).flatMap((channel) => {
        for (const release of index.channel(slug, channel).releases.all()) {
          if (release.withdrawn_at === null) return [release];
        }
        return [];
      });
      const found = await Promise.all(newest.slice(0, SHOWN).map(({ id }) => docs.get(id)));
      const lines = found.flatMap((doc): ProjectLine[] => {
        if (doc === null) return [];
        const { href, state, tone } = toShownRelease(doc);
        const adopted = summarizeAdoption(adoption, doc.version);
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
        heading: 'Newest versions',
        all: { label: 'All releases', href: `/releases?product=${encodeURIComponent(slug)}` },
        figures: [],
        lines,
        empty:
          lines.length === 0
            ? { text: 'Nothing was published.', label: 'Publish a release', href: `/releases/new?product=${slug}` }
            : null,
      };
    },
  };
}
