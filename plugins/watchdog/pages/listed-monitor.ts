import type { MonitorDoc, SampleRow } from '../model/documents.js';
import { toMaintenanceView, toSilenceView } from '../model/monitor-view.js';
import { getIntervalSeconds, isLearning, getLimits } from '../model/timing.js';
import { getMonitorPageHref } from './monitor-form.js';
import { formatMetricValue } from './metric-format.js';
import { buildUptimeView, type UptimeView } from './uptime-view.js';

const SPARKLINE_HEARTBEATS = 30;

export interface ListedMonitor {
  href: string;
  source: string;
  name: string;
  state: string;
  since: string | null;
  last_heartbeat_at: string | null;
  /** In seconds; null when on time or not evaluated. */
  overdue: number | null;
  alarm: string;
  suppressed_by: string | null;
  announced_since: string | null;
  silenced_until: string | null;
  maintenance_until: string | null;
  message: string | null;
  spark: number[];
  spark_label: string | null;
  spark_value: string | null;
  uptime: UptimeView;
  parent_source: string | null;
  project: string | null;
}

/**
 * @param now in ms since 1970
 * @param rows oldest first
 */
export function toListedMonitor(doc: MonitorDoc, now: number, rows: readonly SampleRow[] = []): ListedMonitor {
  return {
    href: getMonitorPageHref(doc.source),
    source: doc.source,
    name: doc.name,
    state: doc.state,
    since: doc.state === 'down' ? doc.down_since_utc : doc.last_state_change_utc,
    last_heartbeat_at: doc.last_heartbeat_at,
    overdue: getOverdueSeconds(doc, now),
    alarm: doc.alarm,
    suppressed_by: doc.suppressed_by,
    announced_since: doc.state === 'stopped' || doc.state === 'maintenance' ? doc.last_state_change_utc : null,
    silenced_until: toSilenceView(doc)?.until ?? null,
    maintenance_until: toMaintenanceView(doc)?.until ?? null,
    message: doc.message,
    ...buildSparkline(doc, rows),
    uptime: buildUptimeView(doc, now),
    parent_source: doc.parent_source,
    project: doc.project,
  };
}

function getOverdueSeconds(doc: MonitorDoc, now: number): number | null {
  if (doc.last_heartbeat_at === null || !['up', 'warning', 'down'].includes(doc.state)) return null;
  if (isLearning(doc)) return null;
  const last = Date.parse(doc.last_heartbeat_at);
  const { warn } = getLimits(doc, last);
  if (now <= warn) return null;
  if (doc.schedule || doc.period_seconds) return Math.floor((now - warn) / 1000);
  return Math.floor((now - last) / 1000 - getIntervalSeconds(doc));
}

function buildSparkline(
  doc: MonitorDoc,
  rows: readonly SampleRow[],
): Pick<ListedMonitor, 'spark' | 'spark_label' | 'spark_value'> {
  const wanted = rows.at(-1)?.[1];
  const spark = rows.slice(-SPARKLINE_HEARTBEATS).flatMap((row) => {
    for (let i = 1; i < row.length; i += 2) if (row[i] === wanted) return [row[i + 1] as number];
    return [];
  });
  const newest = spark.at(-1);
  const name = wanted === undefined ? null : (doc.names[wanted] ?? null);
  if (newest === undefined || name === null) return { spark: [], spark_label: null, spark_value: null };
  return { spark, spark_label: name, spark_value: formatMetricValue(newest, name) };
}
