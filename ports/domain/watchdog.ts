/**
 * The watchdog for other plugins: events, evaluator runs for the tick, and monitors for setup
 * (contract 30).
 */
import type { Json } from '../store.js';
import { event, extensionPoint, token } from '../token.js';

/**
 * Source of a monitor: 1 to 128 characters, case-sensitive, no `.` or `..` segment (contract 30,
 * heartbeat).
 */
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
  /** Shared by a `down` and its `recovered`. */
  alarm_id: string;
  /** The alarm was delayed by a down ancestor or a silence. */
  deferred: boolean;
  /** Why it ended without a normal heartbeat: `stopped`, `maintenance`, `deleted`. */
  resolution: string | null;
  down_since_utc: string | null;
  name: string;
  tags: string[];
  /** Of `monitor.down`: reason without a final period; otherwise null. */
  reason: string | null;
  /** Of `monitor.down`: message of the last heartbeat, ping or probe. */
  message: string | null;
  /** Of `monitor.down`: exit code from a ping. */
  exit_code: number | null;
  last_heartbeat_at: string | null;
}

/** Data of `monitor.warning`: an up monitor reported a warning or a failed check, or is late. */
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

/** Data of `monitor.certificate_expiring`, once per threshold of remaining days. */
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
  /** False: not due. */
  ran: boolean;
  /** False: out of time; the next run continues. */
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
  /** Cron expression; replaces the interval. */
  schedule: string | null;
  timezone: string | null;
  /**
   * Allowed silence in place of an interval: warning afterwards, down after the grace period too.
   */
  period_seconds: number | null;
  grace_seconds: number | null;
  /** Maximum duration of a run; null: the grace period. */
  max_run_seconds: number | null;
  tags: string[];
  /** State derived from its children. */
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
  /** Current maintenance window, or null. */
  maintenance: { id: string; until: string; reason: string | null } | null;
  /** Current silence, or null; it delays alarms, not states. */
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
  /** 1 to 1,000; default 50. */
  limit?: number;
  /** `next` of the previous page. */
  after?: string | null;
}

/** Machines of a project by reported version. */
export interface VersionAdoption {
  /** Most frequent spelling; null: none reported. */
  version: string | null;
  monitors: number;
  /** How many of them are `up`. */
  up: number;
}

/** A scheduled job's run, reported by its program (contract 21, Sentry SDK intake). */
export interface CheckIn {
  source: string;
  phase: 'start' | 'ok' | 'error';
  /** Pairs start and end; empty: the job has one run at a time. */
  run: string;
  /** Seconds between runs, or null. */
  interval: number | null;
  /** Cron expression used instead, or null. */
  cron: string | null;
  /** Time zone of `cron`; null: UTC. */
  timezone: string | null;
  /** Tolerated delay of a start in seconds, or null. */
  margin: number | null;
  /** Maximum run time in seconds, or null. */
  max_run: number | null;
  duration_ms: number | null;
}

export interface CheckInSender {
  name: string;
  project: string;
  /** Id of a token with the right to report heartbeats; otherwise null. */
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
  /** Certificate of the target; `warn_days`: reports fewer remaining days, 0: never. */
  certificate?: { days_left: number; expires_at: string; warn_days: number };
}

/** Probes machines for monitors; reports results with `WatchdogApi.recordObservation`. */
export interface MonitorProbes {
  /**
   * Validates a probe configuration; null removes the probe. Secrets absent from `given` keep their
   * values.
   * @returns input of `save`
   * @throws ServiceError validation_failed, with fields below `probe`
   */
  validate(given: unknown, source: string): Promise<unknown>;
  /** Lists unsupported fields of `given` as sentences for `warnings` (contract 00, envelope). */
  listUnknownFields(given: unknown): string[];
  /** Saves a configuration; resolves after the commit. @param checked result of `validate` */
  save(source: string, checked: unknown): Promise<void>;
  /** Returns the configuration without secrets; null: not probed. */
  find(source: string): Promise<Record<string, Json> | null>;
  /**
   * Returns a configuration as given, with defaults.
   * @throws ServiceError validation_failed, with fields below `probe`
   */
  normalize(given: unknown): Record<string, unknown>;
  /** Returns the stored configuration with its secrets; null: not probed. */
  findWithSecrets(source: string): Promise<Record<string, unknown> | null>;
  /** Formats the configuration in one line. */
  formatSummary(probe: Record<string, Json>): string;
  /** Returns the path of the edit page; null: of the page that creates a probed monitor. */
  getHref(source: string | null): string;
}

/** For the plugin that probes machines; at most one. */
export const MONITOR_PROBES = extensionPoint<MonitorProbes>('watchdog.probes');

export interface ConditionQuery {
  /** Individual monitors. */
  sources: readonly string[];
  /** Monitors with all their descendants. */
  subtrees: readonly string[];
  /** Null: all projects. */
  project: string | null;
  /** Days of uptime, 1 to 400. */
  days: number;
  /** Maximum number of monitors, including those of other projects in between. */
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
  /** First requested day with data, in days since 1970, UTC; null: none. */
  first_day: number | null;
  /**
   * Days since then, today included, that were not fully up: day, then seconds watched, in warning
   * and down.
   */
  days: [day: number, watched: number, warning: number, down: number][];
}

export interface MonitorConditionList {
  /** Distinct monitors, unordered; unknown ones are omitted. */
  monitors: MonitorCondition[];
  /** False: truncated by the limit. */
  complete: boolean;
}

export interface WatchdogApi {
  listConditions(query: ConditionQuery): Promise<MonitorConditionList>;
  /**
   * Runs the evaluator under its lease, then `also` under the same lease. Returns null when another
   * run holds it.
   * @throws the store's error; the run's record then says `error`
   */
  evaluate<T = void>(
    trigger: RunTrigger,
    also?: (signal: AbortSignal) => Promise<T>,
  ): Promise<{ run: RunRecord; also: T | undefined } | null>;
  /**
   * Records a heartbeat; an error means down immediately. Resolves after the commit.
   * @throws ServiceError insufficient_scope (monitor of another project, or not created by a public
   *   key), validation_failed
   */
  recordCheckIn(checkIn: CheckIn, sender: CheckInSender): Promise<void>;
  /**
   * Records a heartbeat; an error means down immediately. Resolves after the commit.
   * @returns false for an unknown monitor
   */
  recordObservation(observation: Observation): Promise<boolean>;
  /**
   * Creates a monitor.
   * @throws ServiceError conflict (existing source), validation_failed, unknown_project
   */
  create(fields: MonitorFields, actor: string): Promise<MonitorView>;
  /** Lists ended runs, newest first. */
  listRuns(limit: number): Promise<RunRecord[]>;
  /** Finds a monitor by source or id; null when it does not exist. */
  find(source: string): Promise<MonitorView | null>;
  /** Lists monitors by source in pages. Callers check permissions. @throws InvalidCursor */
  listMonitors(query?: MonitorQuery): Promise<{ items: MonitorView[]; next: string | null }>;
  /**
   * Lists the versions that machines of a project report (`app_version`), most frequent first;
   * `1.2` equals `1.2.0`.
   */
  listVersionAdoption(project: string): Promise<VersionAdoption[]>;
}

export const WATCHDOG = token<WatchdogApi>('watchdog.api');
