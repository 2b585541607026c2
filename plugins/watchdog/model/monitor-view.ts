import { toIsoString } from '../../../lib/time.js';
import type { MonitorFields, MonitorView } from '../../../ports/domain/watchdog.js';
import type { Ids } from '../../../ports/ids.js';
import type { MonitorDoc } from './documents.js';
import { getMonitorId } from './monitor-id.js';
import { DEFAULT_GRACE_SECONDS } from './timing.js';

export const NO_MAINTENANCE = {
  maintenance_id: null,
  maintenance_until: null,
  maintenance_reason: null,
  held_state: null,
  held_since: null,
} as const satisfies Partial<MonitorDoc>;

export const NO_SILENCE = {
  silence_id: null,
  silence_until: null,
  silence_reason: null,
  silenced: null,
} as const satisfies Partial<MonitorDoc>;

export function createMonitor(fields: MonitorFields, ids: Ids, now: number): MonitorDoc {
  const at = toIsoString(now);
  return {
    id: getMonitorId(fields.source),
    source: fields.source,
    series: ids.uuid(),
    name: fields.name || fields.source,
    parent_source: fields.parent_source ?? null,
    interval_seconds: fields.interval_seconds ?? null,
    schedule: fields.schedule ?? null,
    timezone: fields.schedule ? (fields.timezone ?? 'UTC') : null,
    period_seconds: fields.period_seconds ?? null,
    grace_seconds: fields.schedule || fields.period_seconds ? (fields.grace_seconds ?? DEFAULT_GRACE_SECONDS) : null,
    max_run_seconds: fields.max_run_seconds ?? null,
    tags: fields.tags ?? [],
    group: fields.group === true ? true : null,
    description: fields.description ?? null,
    os: fields.os ?? null,
    project: fields.project ?? null,
    public: fields.public ?? false,
    created_by_token: null,
    ...(fields.managed && { managed: fields.managed }),
    created_at: at,
    updated_at: at,
    deleted_at: null,
    state: 'unknown',
    alarm: 'none',
    alarm_id: null,
    suppressed_by: null,
    released_at: null,
    relook: false,
    reparented_at: null,
    left_down_at: null,
    down_from: null,
    last_state_change_utc: at,
    uptime: null,
    down_since_utc: null,
    ...NO_MAINTENANCE,
    ...NO_SILENCE,
    last_heartbeat_at: null,
    beat_interval: null,
    last_status: null,
    message: null,
    app_version: null,
    starts: null,
    checks: '{}',
    metrics_json: '{}',
    next_check_at: null,
    rev: 0,
    names: [],
    hour: null,
    tail: '',
    tail_base: 0,
    chunk: 0,
    outbox: [],
    outbox_at: null,
  };
}

export function toMaintenanceView(doc: MonitorDoc): MonitorView['maintenance'] {
  const { maintenance_id: id = null, maintenance_until: until = null, maintenance_reason: reason = null } = doc;
  return id === null || until === null ? null : { id, until, reason };
}

export function toSilenceView(doc: MonitorDoc): MonitorView['silence'] {
  const { silence_id: id = null, silence_until: until = null, silence_reason: reason = null } = doc;
  return id === null || until === null ? null : { id, until, reason };
}

type JsonTextField = 'checks' | 'metrics_json';

const toPlainView = (doc: MonitorDoc): Omit<MonitorView, JsonTextField> => ({
  id: doc.id,
  source: doc.source,
  name: doc.name,
  parent_source: doc.parent_source,
  interval_seconds: doc.interval_seconds,
  schedule: doc.schedule ?? null,
  timezone: doc.timezone ?? null,
  period_seconds: doc.period_seconds ?? null,
  grace_seconds: doc.grace_seconds ?? null,
  max_run_seconds: doc.max_run_seconds ?? null,
  tags: doc.tags ?? [],
  group: doc.group === true,
  description: doc.description,
  os: doc.os,
  project: doc.project,
  public: doc.public,
  state: doc.state,
  alarm: doc.alarm,
  alarm_id: doc.alarm_id,
  suppressed_by: doc.suppressed_by,
  last_heartbeat_at: doc.last_heartbeat_at,
  last_status: doc.last_status,
  message: doc.message,
  app_version: doc.app_version,
  last_state_change_utc: doc.last_state_change_utc,
  down_since_utc: doc.down_since_utc,
  maintenance: toMaintenanceView(doc),
  silence: toSilenceView(doc),
  ...(doc.managed === true && { managed: true as const }),
  created_at: doc.created_at,
  // A state change also counts as an update.
  updated_at: doc.updated_at > doc.last_state_change_utc ? doc.updated_at : doc.last_state_change_utc,
});

export const toMonitorView = (doc: MonitorDoc): MonitorView => ({
  ...toPlainView(doc),
  checks: JSON.parse(doc.checks) as MonitorView['checks'],
  metrics_json: JSON.parse(doc.metrics_json) as MonitorView['metrics_json'],
});

export const toMonitorJson = (doc: MonitorDoc): string =>
  `${JSON.stringify(toPlainView(doc)).slice(0, -1)},"checks":${doc.checks},"metrics_json":${doc.metrics_json}}`;
