/**
 * What the watchdog offers the others: its events, one evaluator run for the tick, and monitors for the setup path
 * (contract 30).
 */
import type { Json } from '../store.js';
import { event, extensionPoint, token } from '../token.js';

/**
 * A monitor's source: 1 to 128 characters, without `.` or `..` as a segment; case-sensitive (contract 30, heartbeat).
 */
export const MONITOR_SOURCE = /^(?!(?:.*\/)?\.{1,2}(?:\/|$))[A-Za-z0-9._:@/-]{1,128}$/;

export type MonitorState = 'unknown' | 'up' | 'warning' | 'down' | 'stopped' | 'maintenance';
export type MonitorAlarm = 'none' | 'open' | 'suppressed';
export type RunTrigger = 'http' | 'cli' | 'scheduler';

/** Data of `monitor.down`, `monitor.recovered` and `monitor.alarm_closed` (contract 70, payload). */
export interface MonitorEvent {
  source: string;
  state: MonitorState;
  previous_state: MonitorState | null;
  /** Each recovered names its down's. */
  alarm_id: string;
  /** The alarm was held back, while an ancestor was down or in a silence. */
  deferred: boolean;
  /** Why it ended, other than by a normal heartbeat: `stopped`, `maintenance`, `deleted`. */
  resolution: string | null;
  down_since_utc: string | null;
  name: string;
  tags: string[];
  /** Of `monitor.down`: why, in one sentence without a final stop; null for other events. */
  reason: string | null;
  /** Of `monitor.down`: what the last heartbeat, ping or probe reported. */
  message: string | null;
  /** Of `monitor.down`: the exit code that a ping reported. */
  exit_code: number | null;
  last_heartbeat_at: string | null;
}

/** Data of `monitor.warning`: a monitor that was up reports a warning, a failed check, or is late. */
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

/** Data of `monitor.certificate_expiring`: once per threshold that the remaining days fall below. */
export interface MonitorCertificateExpiring {
  source: string;
  name: string;
  tags: string[];
  /** Whole days until the certificate ends; negative after its end. */
  days_left: number;
  /** RFC 3339; null where the probe does not report it. */
  expires_at: string | null;
}

export const MONITOR_DOWN = event<MonitorEvent>('monitor.down');
export const MONITOR_RECOVERED = event<MonitorEvent>('monitor.recovered');
/** An alarm ended without a recovery: its monitor was deleted. */
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
  /** False: it was not due. */
  ran: boolean;
  /** False: the time was up; the next run goes on. */
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

/** A monitor as the API shows it (contract 30, endpoints). */
export interface MonitorView {
  id: string;
  source: string;
  name: string;
  parent_source: string | null;
  interval_seconds: number | null;
  /** A cron expression, in place of an interval. */
  schedule: string | null;
  timezone: string | null;
  /** How long silence is in order, in place of an interval: warning after it, down after the grace too. */
  period_seconds: number | null;
  grace_seconds: number | null;
  /** How long a run may take after its start; null: the grace. */
  max_run_seconds: number | null;
  tags: string[];
  /** Its state follows its children. */
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
  /** The maintenance window that it is in; null: none. */
  maintenance: { id: string; until: string; reason: string | null } | null;
  /** The silence that it is in: its alarms wait, its state does not; null: none. */
  silence: { id: string; until: string; reason: string | null } | null;
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
}

/** Which monitors; every field that is given must hold. */
export interface MonitorQuery {
  project?: string;
  state?: MonitorState;
  /** As their heartbeats spell it; true: any. */
  app_version?: string | true;
  /** The source of the one directly above. */
  parent_source?: string;
  /** 1 to 1,000; default 50. */
  limit?: number;
  /** `next` of the page before. */
  after?: string | null;
}

/** Machines of a project that report one version. */
export interface VersionAdoption {
  /** In the spelling that most of them use; null: they name none. */
  version: string | null;
  monitors: number;
  /** Those of them that are `up`. */
  up: number;
}

/** A run of a scheduled job, as its program tells it (contract 21, Sentry SDK intake). */
export interface CheckIn {
  source: string;
  phase: 'start' | 'ok' | 'error';
  /** Pairs the start with the end; empty: a job that has one run at a time. */
  run: string;
  /** Seconds between two runs; null: the program does not say. */
  interval: number | null;
  /** The expression of a schedule that says when instead; null: none. */
  cron: string | null;
  /** Of the expression; null: UTC. */
  timezone: string | null;
  /** How late a start may be, in seconds; null: the program does not say. */
  margin: number | null;
  /** How long a run may take, in seconds; null: the program does not say. */
  max_run: number | null;
  duration_ms: number | null;
}

export interface CheckInSender {
  name: string;
  project: string;
  /** Id of a token that may report heartbeats; null: a public key, or a token without this right. */
  token: string | null;
}

/** What the service saw when it asked a monitor's machine itself. */
export interface Observation {
  source: string;
  /** `warning`: a failure that does not count yet; it never ends a down. */
  status: 'ok' | 'warning' | 'error';
  /** Seconds until the next one. */
  interval: number;
  message: string;
  checks: Record<string, { ok: boolean; message: string }>;
  metrics: Record<string, number>;
  /** Of a target that shows one; `warn_days`: fewer days are reported, 0: never. */
  certificate?: { days_left: number; expires_at: string; warn_days: number };
}

/** Who asks machines, for the monitors that it is told of: what it sees comes back by `WatchdogApi.observe`. */
export interface MonitorProbes {
  /**
   * How a monitor is asked, as its caller gave it; null: it is asked no more.
   * @param before how it is asked until now; what `given` leaves out of its secrets stays
   * @returns what `save` takes
   * @throws ServiceError validation_failed, its fields below `probe`
   */
  check(given: unknown, source: string): Promise<unknown>;
  /** Fields of `given` that its kind does not have, in sentences for `warnings` (contract 00, envelope). */
  unknown(given: unknown): string[];
  /** @param checked by `check`. Resolves after the commit. */
  save(source: string, checked: unknown): Promise<void>;
  /** As it is shown, without secrets; null: nobody asks. */
  of(source: string): Promise<Record<string, Json> | null>;
  /** In one line, for the monitor's page. */
  summary(probe: Record<string, Json>): string;
  /** The page on which it is edited; null: the one that makes a monitor with one. */
  href(source: string | null): string;
}

/** Added by the plugin that asks machines; one at most. */
export const MONITOR_PROBES = extensionPoint<MonitorProbes>('watchdog.probes');

export interface ConditionQuery {
  /** Monitors of their own. */
  sources: readonly string[];
  /** Monitors with everything below them. */
  subtrees: readonly string[];
  /** Only monitors of this project; null: of all. */
  project: string | null;
  /** How many days of uptime, 1 to 400. */
  days: number;
  /** No more monitors than these, with those of other projects that stand between them. */
  limit: number;
}

/** A monitor's state and past, for a page that visitors see: what of it they may see is the caller's to decide. */
export interface MonitorCondition {
  source: string;
  name: string;
  parent_source: string | null;
  project: string | null;
  public: boolean;
  state: MonitorState;
  /** Of the asked days the first on which it was watched, in days since 1970, UTC; null: on none. */
  first_day: number | null;
  /**
   * Days since then that were not up from beginning to end, today among them: the day, then for how many seconds it was
   * watched, in warning and down.
   */
  days: [day: number, watched: number, warning: number, down: number][];
}

export interface MonitorConditions {
  /** Each once, in no order; what is unknown is left out. */
  monitors: MonitorCondition[];
  /** False: the limit ended the search, and some are left out. */
  complete: boolean;
}

export interface WatchdogApi {
  conditions(query: ConditionQuery): Promise<MonitorConditions>;
  /**
   * One run under the evaluator's lease. `also` runs under the same lease, after the run. Null: another run holds it.
   * @throws what the store said; the run's record then says `error`
   */
  evaluate<T = void>(
    trigger: RunTrigger,
    also?: (signal: AbortSignal) => Promise<T>,
  ): Promise<{ run: RunRecord; also: T | undefined } | null>;
  /**
   * A heartbeat. An error is down at once. Resolves after the commit.
   * @throws ServiceError insufficient_scope (another project's monitor, or one that no public key made),
   *   validation_failed
   */
  checkIn(checkIn: CheckIn, sender: CheckInSender): Promise<void>;
  /** A heartbeat of a monitor that there is; an error is down at once. False: there is none. After the commit. */
  observe(observation: Observation): Promise<boolean>;
  /** @throws ServiceError conflict (known source), validation_failed, unknown_project */
  create(fields: MonitorFields, actor: string): Promise<MonitorView>;
  /** Ended runs, newest first. */
  runs(limit: number): Promise<RunRecord[]>;
  /** By source or id; null when there is none. */
  find(source: string): Promise<MonitorView | null>;
  /** By source, in pages. Callers check who asks. @throws InvalidCursor */
  monitors(query?: MonitorQuery): Promise<{ items: MonitorView[]; next: string | null }>;
  /**
   * The versions that the machines of a project report (`app_version`), the most frequent first; `1.2` and `1.2.0` are
   * one.
   */
  adoption(project: string): Promise<VersionAdoption[]>;
}

export const WATCHDOG = token<WatchdogApi>('watchdog.api');
