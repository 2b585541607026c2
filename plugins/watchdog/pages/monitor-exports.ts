import { text, type HttpRequest } from '../../../kernel/contract/index.js';
import { formatCsv } from '../incidents/incident-csv.js';
import { toWatchdogCaller } from '../model/caller.js';
import type { MonitorDoc } from '../model/documents.js';
import { toMaintenanceView, toSilenceView } from '../model/monitor-view.js';
import { getUptime, getUptimeDays, UPTIME_RETENTION_DAYS } from '../model/uptime.js';
import type { MonitorFilter } from '../monitors/monitor-status-service.js';
import type { WatchdogServices } from '../services.js';

type CsvResponse = ReturnType<typeof text>;

const MAX_CSV_ROWS = 10_000;
const PAGE_SIZE = 500;
const MONITOR_COLUMNS = [
  'source',
  'name',
  'project',
  'parent_source',
  'state',
  'alarm',
  'last_heartbeat_at',
  'down_since_utc',
  'silenced_until',
  'maintenance_until',
  'uptime_24h',
  'uptime_30d',
  'uptime_90d',
  'message',
];
const UPTIME_COLUMNS = ['day', 'up_seconds', 'warning_seconds', 'down_seconds', 'share'];

export const toCsvResponse = (csv: string, name: string): CsvResponse =>
  text(csv, 'text/csv; charset=utf-8').header('content-disposition', `attachment; filename="${name}.csv"`);

export async function exportMonitors(
  { status, clock }: WatchdogServices,
  filter: MonitorFilter,
  { principal }: Pick<HttpRequest, 'principal'>,
): Promise<CsvResponse> {
  const caller = toWatchdogCaller(principal);
  const now = clock.now();
  const rows: (string | number | null)[][] = [];
  let cursor: string | null = null;
  do {
    const page = await status.listWorstFirst(
      { ...filter, limit: PAGE_SIZE, ...(cursor !== null && { cursor }) },
      caller,
    );
    rows.push(...page.docs.map((doc) => toMonitorCells(doc, now)));
    cursor = page.next;
  } while (cursor !== null && rows.length < MAX_CSV_ROWS);
  return toCsvResponse(formatCsv([MONITOR_COLUMNS, ...rows]), 'monitors');
}

function toMonitorCells(doc: MonitorDoc, now: number): (string | number | null)[] {
  const { source, name, project, parent_source, state, alarm, last_heartbeat_at, down_since_utc, message } = doc;
  const { day, month, quarter } = getUptime(doc, now);
  const holds = [toSilenceView(doc)?.until ?? null, toMaintenanceView(doc)?.until ?? null];
  const shares = [day, month, quarter];
  return [
    source,
    name,
    project,
    parent_source,
    state,
    alarm,
    last_heartbeat_at,
    down_since_utc,
    ...holds,
    ...shares,
    message,
  ];
}

export function exportUptime(doc: MonitorDoc, now: number): CsvResponse {
  const { days } = getUptimeDays(doc, now, UPTIME_RETENTION_DAYS);
  return toCsvResponse(formatCsv([UPTIME_COLUMNS, ...days.map((day) => Object.values(day))]), 'uptime');
}
