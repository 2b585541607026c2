/** The stored documents of the watchdog (contract 30). */
import type { LeaseRow } from '../../../lib/lease.js';
import type {
  MonitorAlarm,
  MonitorCertificateExpiring,
  MonitorEvent,
  MonitorState,
  MonitorWarning,
  RunRecord,
} from '../../../ports/domain/watchdog.js';
import type { ProcessOwner } from '../../../ports/processes.js';
import type { Doc } from '../../../ports/store.js';

export const STATES = ['up', 'warning', 'down', 'unknown', 'stopped', 'maintenance'] as const;

export type Level = 'info' | 'warning' | 'error';

/**
 * Statistics of one metric within one hour, Welford's: n, mean, M2, min, max, first and last (ms after the hour began).
 */
export type MetricStats = [n: number, mean: number, m2: number, min: number, max: number, first: number, last: number];

/** Samples of one heartbeat: ms after the chunk's `base`, then index of the name and value in turn. */
export type SampleRow = number[];

export interface HourStats {
  /** Hours since 1970. */
  hour: number;
  /** By index of the name; null where this hour has no sample. */
  rows: (MetricStats | null)[];
}

export interface MonitorDoc extends Doc {
  source: string;
  /** Which life of this source: samples belong to it, so that those of a deleted monitor never come back. */
  series: string;
  name: string;
  parent_source: string | null;
  interval_seconds: number | null;
  /** When heartbeats are expected, in place of an interval: a cron expression. Absent in older documents. */
  schedule?: string | null;
  /** Of the schedule, IANA. */
  timezone?: string | null;
  grace_seconds?: number | null;
  /** In place of both: how long silence is in order; the grace follows it. */
  period_seconds?: number | null;
  /** How long a run may take; null or absent: the grace. */
  max_run_seconds?: number | null;
  /** Absent in older documents. */
  tags?: string[];
  /** Its state follows its children, and heartbeats are not expected. Null or absent: false. */
  group?: true | null;
  description: string | null;
  os: string | null;
  project: string | null;
  public: boolean;
  /**
   * The token whose heartbeat created it, for `limits.monitors_per_token`; `intake <project>` for public keys; null: a
   * person.
   */
  created_by_token: string | null;
  created_at: string;
  updated_at: string;
  /** Deleted; stored only until its last event is published. */
  deleted_at: string | null;

  state: MonitorState;
  alarm: MonitorAlarm;
  alarm_id: string | null;
  /** The down ancestor that holds the alarm back. */
  suppressed_by: string | null;
  /** Suppressed, but no ancestor is down any more since then. */
  released_at: string | null;
  /** Its parent changed: alarms in its subtree want another look. */
  relook: boolean;
  reparented_at: string | null;
  left_down_at: string | null;
  /** The state before `down`. */
  down_from: MonitorState | null;
  last_state_change_utc: string;
  /**
   * Time in each state by hour and by day (uptime.ts), until the last change: JSON text; absent until the first one.
   */
  uptime?: string | null;
  down_since_utc: string | null;
  /** The incident that goes on; null or absent: none. */
  incident_id?: string | null;

  /** The maintenance window that it is in; null or absent: none. The members below mean nothing then. */
  maintenance_id?: string | null;
  /** When the window ends. The state is `maintenance` until then, whatever heartbeats say. */
  maintenance_until?: string | null;
  maintenance_reason?: string | null;
  /** The state to restore after the window: the earlier one, or that of the newest heartbeat. */
  held_state?: MonitorState | null;
  /** Since when it is down, while `held_state` is `down`. */
  held_since?: string | null;

  /** The silence that it is in; null or absent: none. The members below mean nothing then. */
  silence_id?: string | null;
  /** When the silence ends: alarms wait until then. */
  silence_until?: string | null;
  silence_reason?: string | null;
  /** A warning or an alarm that the silence has held back, as one sentence; null or absent: none. */
  silenced?: string | null;

  last_heartbeat_at: string | null;
  /** A ping address made it: without an interval it has none until five pings have come. Absent in older documents. */
  learns_interval?: boolean;
  /** `interval_seconds` was learned from pings. */
  interval_learned?: boolean;
  /** `interval_seconds` was given by a ping, so that a schedule or a period of a later ping replaces it. */
  interval_by_ping?: boolean;
  /** Milliseconds between the pings that teach it. */
  ping_gaps?: number[];
  /** `interval` of the last heartbeat. */
  beat_interval: number | null;
  last_status: string | null;
  message: string | null;
  /** Exit code that the last heartbeat reported; absent or null: none. */
  exit_code?: number | null;
  app_version: string | null;
  /** The last heartbeat was a probe of the service: its absence says nothing about the target. */
  probed?: boolean;
  /** How many of the certificate's limits (certificate.ts) have been reported. */
  certificate_level?: number;
  /** Runs that have begun and not ended (run-times.ts). */
  starts: string | null;
  /** JSON text: names from outside never become fields of a document. */
  checks: string;
  metrics_json: string;

  /** When the evaluator has something to do here; null: nothing (contract 30, evaluator). */
  next_check_at: string | null;
  /** Rises with every write: what compare-and-set compares. */
  rev: number;

  /** Names of metrics, in the order of their first sample. */
  names: string[];
  /** The hour that is being filled, from the tails that became chunks: JSON text of `HourStats`. */
  hour: string | null;
  /** The newest samples, all of one hour, until they fill a chunk: rows as JSON text, with commas between. */
  tail: string;
  tail_base: number;
  /** Number of the chunk that the tail will become. */
  chunk: number;

  outbox: TimelineOutboxEntry[];
  outbox_at: string | null;
}

/** Data of an event; the source is the monitor's. */
export type EventData =
  Omit<MonitorEvent, 'source'> | Omit<MonitorWarning, 'source'> | Omit<MonitorCertificateExpiring, 'source'>;

/**
 * An entry of the timeline; `alarm` entries are events as well. Members that do not apply are left out: a run writes
 * thousands.
 */
export interface TimelineOutboxEntry {
  id: string;
  at: string;
  kind: 'transition' | 'alarm' | 'suppression';
  type: string;
  level: Level;
  from?: MonitorState;
  to?: MonitorState;
  message: string;
  data?: EventData;
  suppressed_by?: string;
  /** The incident that it belongs to. */
  incident?: string;
  /** Of a transition to `down`, and of one from it: since when it is or was down. */
  since?: string;
  /** What its heartbeat said of that. */
  note?: string;
}

export interface TimelineDoc extends Doc {
  source: string;
  project: string | null;
  kind: TimelineOutboxEntry['kind'] | 'annotation';
  type: string;
  level: Level;
  from: MonitorState | null;
  to: MonitorState | null;
  message: string | null;
  /** JSON text. */
  data: string | null;
  alarm_id: string | null;
  suppressed_by: string | null;
  at: string;
}

/** A full tail: some 20 heartbeats of one series within one hour. */
export interface ChunkDoc extends Doc {
  series: string;
  /** Milliseconds since 1970: of the first and the last sample. */
  from: number;
  to: number;
  base: number;
  /** As in the tail: rows as JSON text. */
  rows: string;
  /** Of two with one id the larger is the later. */
  size: number;
}

/** One hour of one series, all metrics. */
export interface RollupDoc extends Doc {
  series: string;
  hour: number;
  rows: (MetricStats | null)[];
  /** Samples in it; of two with one id the larger is the later. */
  size: number;
}

export interface RunDoc extends Doc, Omit<RunRecord, 'run_id'> {
  /** Of the lease it ran under. */
  fence: number;
}

export type LeaseDoc = LeaseRow<ProcessOwner>;

/** A time in which the service did not run. */
export interface OutageDoc extends Doc {
  from: string;
  to: string;
}

/** A ping address that an imported monitor brought with it; its id is a hash. */
export interface AddressDoc extends Doc {
  source: string;
  created_at: string;
}

/** Something that changed for a whole project: a release. */
export interface ChangeDoc extends Doc {
  at: string;
  project: string | null;
  text: string;
}

/** `alive`: the last sign of life; `cleanup`: the last complete cleanup. */
export interface TimeMarkDoc extends Doc {
  at: string;
}
