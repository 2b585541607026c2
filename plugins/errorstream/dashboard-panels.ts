/** Home: errors and users of a day with the change, and errors per ten minutes (contract 80). */
import { View, type Clock, type PanelSpec } from '../../kernel/contract/index.js';
import { toCountChange } from '../../lib/figures/count-change.js';
import { DAY_MS, toIsoString } from '../../lib/time.js';
import type { ErrorGroups, ErrorTraffic } from '../../ports/domain/bugs.js';
import type { PublishedVersions } from '../../ports/domain/releases.js';

const HOURS = 24;
const WEEK_MS = 7 * DAY_MS;

export interface ErrorPanelDeps {
  groups: Pick<ErrorGroups, 'getTraffic'>;
  clock: Pick<Clock, 'now'>;
  /** Undefined without a plugin that provides one. */
  publishes: () => Pick<PublishedVersions, 'listLatestPublishes'> | undefined;
}

export function buildErrorPanels({ groups, clock, publishes }: ErrorPanelDeps): PanelSpec[] {
  const read = (project: string | null | undefined, ago: number): Promise<ErrorTraffic> =>
    groups.getTraffic({ project: project ?? null, until: clock.now() - ago, hours: HOURS });
  const toPath = (project: string | null | undefined, sort: string): string => {
    const query = new URLSearchParams({ ...(project && { project }), sort });
    return `/errors?${query.toString()}`;
  };
  const buildStat = (
    id: string,
    order: number,
    label: string,
    sort: string,
    pick: (traffic: ErrorTraffic) => number,
  ): PanelSpec => ({
    id,
    kind: 'stat',
    order,
    load: async (_session, project) => {
      const [now, before] = await Promise.all([read(project, 0), read(project, DAY_MS)]);
      const value = pick(now);
      return new View('panel-stat', {
        label,
        value,
        href: toPath(project, sort),
        change: toCountChange(value, pick(before)),
      });
    },
  });
  return [
    buildStat('errorstream.errors', 10, 'Errors', 'last_seen_at', ({ total }) => total),
    buildStat('errorstream.users', 20, 'Users affected', 'people', ({ users }) => users),
    {
      id: 'errorstream.traffic',
      kind: 'chart',
      order: 10,
      load: async (_session, project) => {
        const [now, ghost] = await Promise.all([read(project, 0), read(project, WEEK_MS)]);
        const since = toIsoString(now.from);
        const found = (await publishes()?.listLatestPublishes(project ?? null, since)) ?? [];
        const marks = found.map(({ project: slug, version, published_at }) => ({
          at: published_at,
          label: `${slug} ${version}`,
          href: `/releases?product=${encodeURIComponent(slug)}`,
        }));
        return new View('panel-traffic', {
          ...now,
          ghost: ghost.counts,
          has_ghost: ghost.total > 0,
          marks,
          href: toPath(project, 'last_seen_at'),
        });
      },
    },
  ];
}
