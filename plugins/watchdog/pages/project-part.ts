import { KeyedCoalescedCache } from '../../../lib/caching/coalesced-cache.js';
import type { ProjectFigure, ProjectPartProvider } from '../../../ports/domain/projects.js';
import type { MonitorState } from '../../../ports/domain/watchdog.js';
import type { Scalar } from '../../../ports/store/index.js';
import type { WatchdogDeps } from '../deps.js';
import { STATES } from '../model/documents.js';
import type { MonitorFigureService } from '../monitors/monitor-figures.js';
import type { MonitorStatusService } from '../monitors/monitor-status-service.js';
import { buildUptimeView } from './uptime-view.js';

const MAX_SHOWN_MONITORS = 6;
const MAX_CACHED_PROJECTS = 500;
const MAX_UNCACHED_MONITORS = 500;
const MAX_CACHE_AGE_MS = 5_000;
const SYSTEM_CALLER = { name: 'projects', token: null, project: null, source: null };
const STATE_TONES: Readonly<Partial<Record<MonitorState, 'danger' | 'warning' | 'success'>>> = {
  down: 'danger',
  warning: 'warning',
  up: 'success',
};
const STATE_ORDER: readonly MonitorState[] = ['down', 'warning', 'up', 'unknown', 'maintenance', 'stopped'];

export function createMonitorProjectPart(
  status: Pick<MonitorStatusService, 'listWorstFirst'>,
  uptimes: Pick<MonitorFigureService, 'getUptime'>,
  { monitors, clock }: Pick<WatchdogDeps, 'monitors' | 'clock'>,
): ProjectPartProvider {
  const counted = new KeyedCoalescedCache<readonly { n: number; key: Scalar }[]>(MAX_CACHED_PROJECTS, {
    maxAgeMs: MAX_CACHE_AGE_MS,
    isSmall: (counts) => counts.reduce((sum, { n }) => sum + n, 0) <= MAX_UNCACHED_MONITORS,
    monotonic: () => clock.monotonic(),
  });
  return {
    id: 'monitors',
    order: 40,
    loadPart: async ({ slug }) => {
      const address = `/monitors?project=${encodeURIComponent(slug)}`;
      const [{ worst }, counts, page] = await Promise.all([
        uptimes.getUptime(slug),
        counted.get(slug, () => monitors.groupCount('state', { project: slug, deleted_at: null })),
        status.listWorstFirst({ project: slug, limit: MAX_SHOWN_MONITORS }, SYSTEM_CALLER),
      ]);
      const figures = STATE_ORDER.filter((state) => STATES.includes(state)).flatMap((state): ProjectFigure[] => {
        const value = counts.find(({ key }) => key === state)?.n ?? 0;
        return value === 0
          ? []
          : [{ label: state, value, href: `${address}&state=${state}`, tone: STATE_TONES[state] ?? null }];
      });
      return {
        heading: 'Monitors',
        all: { label: 'View all monitors', href: address },
        figures,
        strips: worst.slice(0, MAX_SHOWN_MONITORS).map((doc) => {
          const { hours, day } = buildUptimeView(doc, clock.now());
          return { title: doc.name, href: `/monitors/${encodeURIComponent(doc.source)}`, hours, value: day };
        }),
        lines: page.docs.map(({ source, name, state, last_heartbeat_at }) => ({
          title: name ?? source,
          href: `/monitors/${encodeURIComponent(source)}`,
          detail: null,
          badge: { text: state, tone: STATE_TONES[state] ?? 'neutral' },
          at: last_heartbeat_at,
        })),
        empty:
          page.docs.length === 0
            ? { text: 'No monitors', label: 'New monitor', href: `/monitors/new?project=${encodeURIComponent(slug)}` }
            : null,
      };
    },
  };
}
