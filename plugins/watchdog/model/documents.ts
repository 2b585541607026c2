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
 * Welford statistics of one metric in one hour: n, mean, M2, min, max, first and last (ms after the
 * hour began).
 */
export type MetricStats = [n: number, mean: number, m2: number, min: number, max: number, first: number, last: number];

/**
 * Samples of one heartbeat: ms after the chunk's `base`, then alternately index of the name and
 * value.
 */
export type SampleRow = number[];

export interface HourStats {
  hour: number;
  /** By index of the name; null without a sample in this hour. */
  rows: (MetricStats | null)[];
}

export interface MonitorDoc extends Doc {
  source: string;
  /** Generation of this source, so that samples of a deleted monitor never reappear. */
  series: string;
  name: string;
  parent_source: string | null;
  interval_seconds: number | null;
  /** Cron expression of expected heartbeats instead of an interval. Absent in older documents. */
  schedule?: string | null;
  timezone?: string | null;
  grace_seconds?: number | null;
  /** Allowed silence before the grace, instead of an interval or schedule. */
  period_seconds?: number | null;
  /** Maximum duration of a run; null or absent means the grace. */
  max_run_seconds?: number | null;
  tags?: string[];
  /** Its state follows its children and no heartbeats are expected. Null or absent: false. */
  group?: true | null;
  description: string | null;
  os: string | null;
  project: string | null;
  public: boolean;
  /**
   * Token whose heartbeat created it, for `limits.monitors_per_token`; `intake <project>` for
   * public keys; null for a user.
   */
  created_by_token: string | null;
  /** Created by an apply. */
  managed?: true | null;
  created_at: string;
  updated_at: string;
  /** Set when deleted; the document is stored until its last event is published. */
  deleted_at: string | null;

  state: MonitorState;
  alarm: MonitorAlarm;
  alarm_id: string | null;
  suppressed_by: string | null;
  /** Since when no ancestor is down, while still suppressed. */
  released_at: string | null;
  /** Its parent changed: alarms in its subtree must be reevaluated. */
  relook: boolean;
  reparented_at: string | null;
  left_down_at: string | null;
  down_from: MonitorState | null;
  last_state_change_utc: string;
  /**
   * Time in each state by hour and day until the last change (uptime.ts): JSON text; absent before
   * the first change.
   */
  uptime?: string | null;
  down_since_utc: string | null;
  incident_id?: string | null;

  /** The current maintenance window; when null or absent, the fields below have no meaning. */
  maintenance_id?: string | null;
  /** End of the window; until then the state is `maintenance`, whatever heartbeats report. */
  maintenance_until?: string | null;
  maintenance_reason?: string | null;
  /** State to restore after the window: the previous one, or that of the latest heartbeat. */
  held_state?: MonitorState | null;
  /** Since when it is down, while `held_state` is `down`. */
  held_since?: string | null;

  /** The current silence; when null or absent, the fields below have no meaning. */
  silence_id?: string | null;
  silence_until?: string | null;
  silence_reason?: string | null;
  /** The deferred warning or alarm as one sentence, or null. */
  silenced?: string | null;

  last_heartbeat_at: string | null;
  /**
   * Created by a ping URL: without a given interval it has none until five pings arrived. Absent in
   * older documents.
   */
  learns_interval?: boolean;
  interval_learned?: boolean;
  /** `interval_seconds` came with a ping; a later ping's schedule or period replaces it. */
  interval_by_ping?: boolean;
  /** Gaps between pings in ms, from which the interval is learned. */
  ping_gaps?: number[];
  beat_interval: number | null;
  last_status: string | null;
  message: string | null;
  exit_code?: number | null;
  app_version: string | null;
  /**
   * The last heartbeat came from a probe of the service; its absence says nothing about the target.
   */
  probed?: boolean;
  /** Number of certificate limits reported so far (certificate-expiry.ts). */
  certificate_level?: number;
  starts: string | null;
  /** JSON text, so that external names never become document fields. */
  checks: string;
  metrics_json: string;

  /** When the evaluator must check it next, or null (contract 30, evaluator). */
  next_check_at: string | null;
  /** Incremented by every write and compared by compare-and-set. */
  rev: number;

  /** Metric names in the order of their first sample. */
  names: string[];
  /** Statistics of the current hour from tails that became chunks: JSON text of `HourStats`. */
  hour: string | null;
  /**
   * Newest samples, all of one hour, until they fill a chunk: rows as JSON text, separated by
   * commas.
   */
  tail: string;
  tail_base: number;
  chunk: number;

  outbox: TimelineOutboxEntry[];
  outbox_at: string | null;
}

export type EventData =
  Omit<MonitorEvent, 'source'> | Omit<MonitorWarning, 'source'> | Omit<MonitorCertificateExpiring, 'source'>;

/**
 * An entry of the timeline; `alarm` entries are also events. Empty fields are omitted, because a
 * run writes thousands.
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
  incident?: string;
  /** Start of the down state that this transition enters or leaves. */
  since?: string;
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

/** A full tail: about 20 heartbeats of one series within one hour. */
export interface ChunkDoc extends Doc {
  series: string;
  /** Of the first and the last sample, in ms since 1970. */
  from: number;
  to: number;
  base: number;
  rows: string;
  /** Of two versions with one id, the larger one is newer. */
  size: number;
}

export interface RollupDoc extends Doc {
  series: string;
  hour: number;
  rows: (MetricStats | null)[];
  /** Number of samples; of two versions with one id, the larger one is newer. */
  size: number;
}

export interface RunDoc extends Doc, Omit<RunRecord, 'run_id'> {
  fence: number;
}

export type LeaseDoc = LeaseRow<ProcessOwner>;

export interface OutageDoc extends Doc {
  from: string;
  to: string;
}

/** Ping URL of an imported monitor; its id is a hash. */
export interface AddressDoc extends Doc {
  source: string;
  created_at: string;
}

export interface ChangeDoc extends Doc {
  at: string;
  project: string | null;
  text: string;
}

/** `alive`: the last liveness record; `cleanup`: the last complete cleanup. */
export interface TimeMarkDoc extends Doc {
  at: string;
}
