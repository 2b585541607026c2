/** The watchdog for other plugins (contract 30). */
import type { Json } from '../store/index.js';
import { event, extensionPoint, token } from '../token.js';

/** Case-sensitive, no `.` or `..` segment (contract 30, heartbeat). */
export const MONITOR_SOURCE_PATTERN = /^(?!(?:.*\/)?\.{1,2}(?:\/|$))[A-Za-z0-9._:@/-]{1,128}$/;

export type MonitorState = 'unknown' | 'up' | 'warning' | 'down' | 'stopped' | 'maintenance';
export type MonitorAlarm = 'none' | 'open' | 'suppressed';
export type RunTrigger = 'http' | 'cli' | 'scheduler';

/**
 * Data of `monitor.down`, `monitor.recovered` and `monitor.alarm_closed` (contract 70, payload).
 */
export interface MonitorEvent {
  source: string;
  state: MonitorState;
  previous_state: MonitorState | null;
  alarm_id: string;
  /** Delayed by a down ancestor or a silence. */
  deferred: boolean;
  resolution: string | null;
  down_since_utc: string | null;
  name: string;
  tags: string[];
  /** Without a final period. */
  reason: string | null;
  /** Message of the last heartbeat, ping or probe. */
  message: string | null;
  /** From a ping. */
  exit_code: number | null;
  last_heartbeat_at: string | null;
}

/** Data of `monitor.warning`. */
export interface MonitorWarning {
  source: string;
  name: string;
  tags: string[];
  state: MonitorState;
  previous_state: MonitorState | null;
  reason: string | null;
  message: string | null;
  last_heartbeat_at: string | null;
}

/** Data of `monitor.certificate_expiring`, once per threshold. */
export interface MonitorCertificateExpiring {
  source: string;
  name: string;
  tags: string[];
  /** Whole days until expiry; negative afterwards. */
  days_left: number;
  /** RFC 3339; null: not reported by the probe. */
  expires_at: string | null;
}

export const MONITOR_DOWN = event<MonitorEvent>('monitor.down');
export const MONITOR_RECOVERED = event<MonitorEvent>('monitor.recovered');
/** An alarm ended without recovery: its monitor was deleted. */
export const MONITOR_ALARM_CLOSED = event<MonitorEvent>('monitor.alarm_closed');
export const MONITOR_WARNING = event<MonitorWarning>('monitor.warning');
export const MONITOR_CERTIFICATE_EXPIRING = event<MonitorCertificateExpiring>('monitor.certificate_expiring');

export interface RunChange {
  source: string;
  from: MonitorState;
  to: MonitorState;
  suppressed_by: string | null;
}

export interface RunCleanup {
  ran: boolean;
  complete: boolean;
  samples: number;
  rollups: number;
  runs: number;
  events: number;
  duration_ms: number;
}

/** A run of the evaluator (contract 30, runs). */
export interface RunRecord {
  run_id: string;
  trigger: RunTrigger;
  host: string;
  started_at: string;
  finished_at: string | null;
  duration_ms: number | null;
  result: 'ok' | 'error' | 'aborted' | null;
  evaluated: number;
  to_warning: number;
  to_down: number;
  alarms_emitted: number;
  alarms_suppressed: number;
  errors: number;
  cleanup: RunCleanup;
  /** At most 200. */
  changes: RunChange[];
}

/** A monitor in the API (contract 30, endpoints). */
export interface MonitorView {
  id: string;
  source: string;
  name: string;
  parent_source: string | null;
  interval_seconds: number | null;
  schedule: string | null;
  timezone: string | null;
  /** Allowed silence: warning afterwards, down after the grace period too. */
  period_seconds: number | null;
  grace_seconds: number | null;
  /** Null for the grace period. */
  max_run_seconds: number | null;
  tags: string[];
  group: boolean;
  description: string | null;
  os: string | null;
  project: string | null;
  public: boolean;
  state: MonitorState;
  alarm: MonitorAlarm;
  alarm_id: string | null;
  suppressed_by: string | null;
  last_heartbeat_at: string | null;
  last_status: string | null;
  message: string | null;
  checks: Record<string, { ok: boolean | null; message: string | null }>;
  metrics_json: Record<string, unknown>;
  app_version: string | null;
  last_state_change_utc: string;
  down_since_utc: string | null;
  maintenance: { id: string; until: string; reason: string | null } | null;
  /** Delays alarms, not states. */
  silence: { id: string; until: string; reason: string | null } | null;
  /** Created by an apply. */
  managed?: true;
  created_at: string;
  updated_at: string;
}

export interface MonitorFields {
  source: string;
  name?: string | null;
  parent_source?: string | null;
  interval_seconds?: number | null;
  schedule?: string | null;
  timezone?: string | null;
  period_seconds?: number | null;
  grace_seconds?: number | null;
  max_run_seconds?: number | null;
  tags?: string[];
  group?: boolean;
  description?: string | null;
  os?: string | null;
  project?: string | null;
  public?: boolean;
  /** Created by an apply. */
  managed?: true;
}

/** Filters; all given fields must match. */
export interface MonitorQuery {
  project?: string;
  state?: MonitorState;
  /** As heartbeats spell it; true: any. */
  app_version?: string | true;
  /** Source of the direct parent. */
  parent_source?: string;
  limit?: number;
  /** `next` of the previous page. */
  after?: string | null;
}

/** Machines of a project by reported version. */
export interface VersionAdoption {
  /** Most frequent spelling; null: none reported. */
  version: string | null;
  monitors: number;
  up: number;
}

/** A scheduled job's run, reported by its program (contract 21, Sentry SDK intake). */
export interface CheckIn {
  source: string;
  phase: 'start' | 'ok' | 'error';
  /** Empty for one run at a time. */
  run: string;
  /** Seconds between runs, or null. */
  interval: number | null;
  cron: string | null;
  timezone: string | null;
  /** Tolerated delay in seconds. */
  margin: number | null;
  max_run: number | null;
  duration_ms: number | null;
}

export interface CheckInSender {
  name: string;
  project: string;
  /** Token with the right to report heartbeats. */
  token: string | null;
}

/** Result of probing a monitor's machine. */
export interface Observation {
  source: string;
  /** `warning`: a failure below the threshold; never ends a down state. */
  status: 'ok' | 'warning' | 'error';
  /** Seconds until the next probe. */
  interval: number;
  message: string;
  checks: Record<string, { ok: boolean; message: string }>;
  metrics: Record<string, number>;
  /** `warn_days`: reports fewer remaining days, 0: never. */
  certificate?: { days_left: number; expires_at: string; warn_days: number };
}

/** Probes machines for monitors. */
export interface MonitorProbes {
  /**
   * Null removes the probe; absent secrets keep their values.
   * @returns input of `save`
   * @throws ServiceError validation_failed, with fields below `probe`
   */
  validate(given: unknown, source: string): Promise<unknown>;
  /** Sentences for `warnings` (contract 00, envelope). */
  listUnknownFields(given: unknown): string[];
  /**
   * Resolves after the commit.
   * @param checked result of `validate`
   */
  save(source: string, checked: unknown): Promise<void>;
  /** Without secrets; null: not probed. */
  find(source: string): Promise<Record<string, Json> | null>;
  /**
   * Returns a configuration as given, with defaults.
   * @throws ServiceError validation_failed, with fields below `probe`
   */
  normalize(given: unknown): Record<string, unknown>;
  /** Returns the stored configuration with its secrets; null: not probed. */
  findWithSecrets(source: string): Promise<Record<string, unknown> | null>;
  formatSummary(probe: Record<string, Json>): string;
  /** Null for the page that creates a probed monitor. */
  getHref(source: string | null): string;
  /** Links to the page that creates a probed monitor of a kind, the most usual first. */
  listKinds(): readonly { value: string; label: string; href: string }[];
}

/** At most one. */
export const MONITOR_PROBES = extensionPoint<MonitorProbes>('watchdog.probes');

export interface ConditionQuery {
  sources: readonly string[];
  /** Monitors with all their descendants. */
  subtrees: readonly string[];
  project: string | null;
  days: number;
  /** Including monitors of other projects in between. */
  limit: number;
}

/** State and history of a monitor for public pages; the caller decides what visitors see. */
export interface MonitorCondition {
  source: string;
  name: string;
  parent_source: string | null;
  project: string | null;
  public: boolean;
  state: MonitorState;
  /** Days since 1970, UTC. */
  first_day: number | null;
  /** Days since then that were not fully up: day, then seconds watched, in warning and down. */
  days: [day: number, watched: number, warning: number, down: number][];
}

export interface MonitorConditionList {
  monitors: MonitorCondition[];
  complete: boolean;
}

export interface WatchdogApi {
  listConditions(query: ConditionQuery): Promise<MonitorConditionList>;
  /**
   * Runs the evaluator under its lease, then `also` under the same lease.
   * @throws the store's error; the run's record then says `error`
   */
  evaluate<T = void>(
    trigger: RunTrigger,
    also?: (signal: AbortSignal) => Promise<T>,
  ): Promise<{ run: RunRecord; also: T | undefined } | null>;
  /**
   * An error means down immediately. Resolves after the commit.
   * @throws ServiceError insufficient_scope (monitor of another project, or not created by a public
   *   key), validation_failed
   */
  recordCheckIn(checkIn: CheckIn, sender: CheckInSender): Promise<void>;
  /**
   * An error means down immediately. Resolves after the commit.
   * @returns false for an unknown monitor
   */
  recordObservation(observation: Observation): Promise<boolean>;
  /** @throws ServiceError conflict (existing source), validation_failed, unknown_project */
  create(fields: MonitorFields, actor: string): Promise<MonitorView>;
  listRuns(limit: number): Promise<RunRecord[]>;
  find(source: string): Promise<MonitorView | null>;
  /**
   * Lists by source. Callers check permissions.
   * @throws InvalidCursor
   */
  listMonitors(query?: MonitorQuery): Promise<{ items: MonitorView[]; next: string | null }>;
  /** Most frequent first; `1.2` equals `1.2.0`. */
  listVersionAdoption(project: string): Promise<VersionAdoption[]>;
}

export const WATCHDOG = token<WatchdogApi>('watchdog.api');
