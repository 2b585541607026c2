/**
 * What stands above the tabs of a monitor: state, reason, who was notified, and what changed
 * before.
 */
import type { HttpRequest } from '../../../kernel/contract/index.js';
import { formatElapsed, toIsoString } from '../../../lib/time.js';
import { toWatchdogCaller } from '../model/caller.js';
import type { MonitorDoc } from '../model/documents.js';
import type { IncidentView } from '../model/incident.js';
import { toMonitorView } from '../model/monitor-view.js';
import { getDeferredAlarmTime, getIntervalSeconds } from '../model/timing.js';
import type { WatchdogServices } from '../services.js';
import { toIncidentRow } from './incident-pages.js';
import { toListedMonitor } from './listed-monitor.js';
import { getMonitorPageHref } from './monitor-form.js';
import { buildWarningReason } from './warning-reason.js';

export const MONITOR_TABS = ['overview', 'metrics', 'events', 'setup', 'settings'] as const;
export type MonitorTab = (typeof MONITOR_TABS)[number];

const TAB_LABELS: Readonly<Record<MonitorTab, string>> = {
  overview: 'Overview',
  metrics: 'Metrics',
  events: 'Events',
  setup: 'Setup',
  settings: 'Settings',
};
const MAX_SHOWN_CHANGES = 3;

const getTabHref = (here: string, tab: MonitorTab): string =>
  tab === 'overview' ? here : tab === 'settings' ? `${here}/edit` : `${here}?tab=${tab}`;

/** @param deferred whether alarms wait after the recovery of a parent */
export async function buildMonitorHead(
  services: WatchdogServices,
  doc: MonitorDoc,
  { principal }: Pick<HttpRequest, 'principal'>,
  { tab, deferred, probed }: { tab: MonitorTab; deferred: boolean; probed: boolean },
): Promise<object> {
  const { incidents, clock } = services;
  const now = clock.now();
  const caller = toWatchdogCaller(principal);
  const here = getMonitorPageHref(doc.source);
  const [down, open] = await Promise.all([services.explanations.explain(doc, probed), findOpenIncident(services, doc)]);
  const receivers =
    open === undefined ? [] : await incidents.listReceivers(await incidents.getIncident(open.id, caller));
  const row = toListedMonitor(doc, now);
  const view = toMonitorView(doc);
  const since = Date.parse(row.since ?? '');
  const isScheduled = Boolean(doc.schedule) || Boolean(doc.period_seconds);
  return {
    monitor: view,
    row,
    here,
    lasted: Number.isNaN(since) ? null : formatElapsed(now - since),
    why: down?.why ?? null,
    reason:
      doc.state === 'warning'
        ? buildWarningReason(view, row.overdue, isScheduled ? null : getIntervalSeconds(doc))
        : null,
    held_down: doc.held_state === 'down',
    alarm_at:
      deferred && doc.released_at !== null
        ? toIsoString(getDeferredAlarmTime(Date.parse(doc.released_at), getIntervalSeconds(doc)))
        : null,
    open_incident: open && Object.assign(toIncidentRow(open), { is_mine: open.acknowledged_by === caller.name }),
    alerted: receivers.filter(({ event }) => event === 'monitor.down'),
    changes: (down?.changes ?? []).slice(0, MAX_SHOWN_CHANGES).map(({ source, at, type, text }) => ({
      type,
      text,
      at,
      source: source === doc.source ? null : source,
      href: source === null || source === doc.source ? null : getMonitorPageHref(source),
      before: Number.isNaN(since) ? null : formatElapsed(since - Date.parse(at)),
    })),
    new_window: `/maintenance/new?source=${encodeURIComponent(doc.source)}`,
    incidents_href: `/incidents?source=${encodeURIComponent(doc.source)}`,
    tabs: MONITOR_TABS.map((one) => ({ label: TAB_LABELS[one], href: getTabHref(here, one), active: one === tab })),
  };
}

async function findOpenIncident(
  { incidents }: WatchdogServices,
  { state, incident_id }: MonitorDoc,
): Promise<IncidentView | undefined> {
  if (state !== 'down' || !incident_id) return undefined;
  return (await incidents.findOpen([incident_id])).get(incident_id);
}
