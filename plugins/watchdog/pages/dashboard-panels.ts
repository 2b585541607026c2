/** Home: monitors that are up, their uptime, what is down, and the worst ones (contract 80). */
import { View, type PanelSpec } from '../../../kernel/contract/index.js';
import { formatShare, toShareChange } from '../../../lib/figures/count-change.js';
import type { MonitorState } from '../../../ports/domain/watchdog.js';
import type { WatchdogServices } from '../services.js';
import { toListedMonitor } from './listed-monitor.js';

const MAX_SHOWN_MONITORS = 6;
const MAX_WORST_MONITORS = 8;
const UNWATCHED_STATES: ReadonlySet<MonitorState> = new Set(['unknown', 'stopped', 'maintenance']);

const toPath = (project: string | null | undefined, state?: MonitorState): string => {
  const query = new URLSearchParams({ ...(state && { state }), ...(project && { project }) }).toString();
  return query === '' ? '/monitors' : `/monitors?${query}`;
};

export function buildDashboardPanels({ status, runs, incidents, figures, clock }: WatchdogServices): PanelSpec[] {
  return [
    {
      id: 'watchdog.state',
      kind: 'state',
      order: 10,
      load: async (_session, project) => {
        const counts = await status.getCounts(project);
        const all = Object.values(counts).reduce((sum, n) => sum + n, 0);
        if (all === 0) return null;
        const watched = Object.entries(counts).reduce(
          (sum, [state, n]) => (UNWATCHED_STATES.has(state as MonitorState) ? sum : sum + n),
          0,
        );
        return new View('panel-state', { ...counts, watched, all, href: toPath(project) });
      },
    },
    {
      id: 'watchdog.uptime',
      kind: 'stat',
      order: 30,
      load: async (_session, project) => {
        const { day, week } = await figures.getUptime(project ?? null);
        if (day === null) return new View('panel-uptime', { value: null, href: toPath(project) });
        return new View('panel-uptime', {
          value: formatShare(day),
          change: toShareChange(day, week),
          href: toPath(project),
        });
      },
    },
    {
      id: 'watchdog.down',
      kind: 'attention',
      order: 5,
      load: async (_session, project) => {
        const [down, health] = await Promise.all([status.countDown(project), runs.getHealth()]);
        if (down === 0 && health.ok) return null;
        const { roots, below } = await figures.getDownTree(project ?? null, MAX_SHOWN_MONITORS);
        const open = await incidents.findOpen(roots.flatMap(({ incident_id }) => incident_id ?? []));
        const items = roots.map((doc) =>
          Object.assign(toListedMonitor(doc, clock.now()), {
            incident: open.get(doc.incident_id ?? '') ?? null,
            below: below.get(doc.source) ?? 0,
          }),
        );
        const shown = items.reduce((sum, item) => sum + 1 + item.below, 0);
        return new View('panel-down', {
          items,
          more: Math.max(0, down - shown),
          all_href: toPath(project, 'down'),
          late: !health.ok,
          last_run_at: health.last_run_at,
          count: items.length + (health.ok ? 0 : 1),
        });
      },
    },
    {
      id: 'watchdog.worst',
      kind: 'side',
      order: 20,
      load: async (_session, project) => {
        const { worst } = await figures.getUptime(project ?? null);
        if (worst.length === 0) return null;
        const items = worst.slice(0, MAX_WORST_MONITORS).map((doc) => toListedMonitor(doc, clock.now()));
        return new View('panel-worst', { items, href: toPath(project) });
      },
    },
  ];
}
