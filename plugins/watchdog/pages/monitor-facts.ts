import { toLocalTime } from '../../../kernel/contract/index.js';
import { toIsoString } from '../../../lib/time.js';
import { getNextDue } from '../model/cron.js';
import type { MonitorDoc } from '../model/documents.js';
import { getIntervalSeconds, getLimits, isLearning } from '../model/timing.js';
import { formatMetricValue } from './metric-format.js';
import { getMonitorPageHref } from './monitor-form.js';

const MAX_DUE_TIMES = 5;

export function listDueTimes({ schedule, timezone }: MonitorDoc, now: number): { at: string; local: string }[] {
  const zone = timezone ?? 'UTC';
  const found: { at: string; local: string }[] = [];
  let at = schedule ? getNextDue(schedule, zone, now) : null;
  while (at !== null && found.length < MAX_DUE_TIMES) {
    found.push({ at: toIsoString(at), local: `${toLocalTime(at, zone).slice(0, 16).replace('T', ' ')} ${zone}` });
    at = getNextDue(schedule ?? '', zone, at);
  }
  return found;
}

/** @param project its name */
export function listFacts(doc: MonitorDoc, project: string | null): object[] {
  const interval = getIntervalSeconds(doc);
  const origin =
    doc.beat_interval !== null ? 'from its heartbeat' : doc.interval_seconds !== null ? 'configured' : 'default';
  const last = doc.last_heartbeat_at === null ? null : Date.parse(doc.last_heartbeat_at);
  const running = doc.state === 'up' || doc.state === 'warning';
  const learning = isLearning(doc);
  const times = last === null || !running || learning ? null : getLimits(doc, last);
  return [
    { label: 'Last heartbeat', at: doc.last_heartbeat_at },
    doc.schedule
      ? { label: 'Schedule', value: `${doc.schedule} (${doc.timezone ?? 'UTC'})`, mono: true }
      : doc.period_seconds
        ? { label: 'Period', value: `${formatMetricValue(doc.period_seconds)} s` }
        : {
            label: 'Interval',
            value: learning ? 'none until its fifth ping' : `${formatMetricValue(interval)} s (${origin})`,
          },
    ...(doc.schedule || doc.period_seconds
      ? [{ label: 'Grace period', value: `${formatMetricValue(doc.grace_seconds ?? 0)} s` }]
      : []),
    ...(doc.max_run_seconds
      ? [{ label: 'Maximum run time', value: `${formatMetricValue(doc.max_run_seconds)} s` }]
      : []),
    ...(times === null
      ? []
      : [
          { label: 'Warning after', at: toIsoString(times.warn) },
          { label: 'Down after', at: toIsoString(times.down) },
        ]),
    // "ok" contradicts a failed check or a late heartbeat.
    ...(doc.state !== 'up' && doc.last_status === 'ok' ? [] : [{ label: 'Last status', value: doc.last_status }]),
    { label: 'Version', value: doc.app_version },
    { label: 'System', value: doc.os },
    ...(doc.parent_source === null
      ? []
      : [{ label: 'Parent', value: doc.parent_source, href: getMonitorPageHref(doc.parent_source) }]),
    { label: 'Project', value: project },
    { label: 'Created', at: doc.created_at },
    { label: 'ID', value: doc.id, mono: true },
  ];
}
