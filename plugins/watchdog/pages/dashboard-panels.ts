import { View, type PanelSpec } from '../../../kernel/contract/index.js';
import { toShareBarParts } from './monitor-list-view.js';
import { toListedMonitor } from './listed-monitor.js';
import type { WatchdogServices } from '../services.js';

const MAX_SHOWN_MONITORS = 6;
const SYSTEM_CALLER = { name: 'dashboard', token: null, project: null, source: null };

export function buildDashboardPanels({ status, runs, incidents, clock }: WatchdogServices): PanelSpec[] {
  return [
    {
      id: 'watchdog.down',
      kind: 'attention',
      order: 20,
      load: async (_session, project) => {
        const [down, health] = await Promise.all([status.countDown(project), runs.getHealth()]);
        if (down === 0 && health.ok) return null;
        const query = { state: ['down'] as const, limit: MAX_SHOWN_MONITORS, ...(project && { project }) };
        const page = await status.listPage(query, SYSTEM_CALLER);
        const open = await incidents.findOpen(page.docs.flatMap(({ incident_id }) => incident_id ?? []));
        return new View('panel-down', {
          items: page.docs.map((doc) =>
            Object.assign(toListedMonitor(doc, clock.now()), { incident: open.get(doc.incident_id ?? '') ?? null }),
          ),
          total: down,
          more: down - page.docs.length,
          late: !health.ok,
          last_run_at: health.last_run_at,
        });
      },
    },
    {
      id: 'watchdog.states',
      kind: 'trend',
      order: 20,
      load: async () => {
        const counts = await status.getCounts();
        const parts = toShareBarParts(counts);
        return parts.length === 0 ? null : new View('panel-states', { parts });
      },
    },
  ];
}
