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
import type { Doc } from '../../../ports/store/index.js';

export const STATES = ['up', 'warning', 'down', 'unknown', 'stopped', 'maintenance'] as const;

export type Level = 'info' | 'warning' | 'error';

/** n, mean, M2, min, max, first and last (ms after the hour began) of one metric and hour. */
export type MetricStats = [n: number, mean: number, m2: number, min: number, max: number, first: number, last: number];

/** Ms after the chunk's `base`, then alternately index of the name and value. */
export type SampleRow = number[];

export interface HourStats {
  hour: number;
  /** By index of the name; null without a sample in this hour. */
  rows: (MetricStats | null)[];
}

export interface MonitorDoc extends Doc {
  source: string;
  /** Generation, so that samples of a deleted monitor never reappear. */
  series: string;
  name: string;
  parent_source: string | null;
  interval_seconds: number | null;
  /** Cron expression instead of an interval; absent in older documents. */
  schedule?: string | null;
  timezone?: string | null;
  grace_seconds?: number | null;
  /** Silence before the grace, instead of an interval or schedule. */
  period_seconds?: number | null;
  /** Null or absent means the grace. */
  max_run_seconds?: number | null;
  tags?: string[];
  /** Its state follows its children; no heartbeats are expected. */
  group?: true | null;
  description: string | null;
  os: string | null;
  project: string | null;
  public: boolean;
  /** For `limits.monitors_per_token`; `intake <project>` for public keys; null for a user. */
  created_by_token: string | null;
  /** Created by an apply. */
  managed?: true | null;
  created_at: string;
  updated_at: string;
  /** The document is stored until its last event is published. */
  deleted_at: string | null;

  state: MonitorState;
  alarm: MonitorAlarm;
  alarm_id: string | null;
  suppressed_by: string | null;
  /** Since when no ancestor is down. */
  released_at: string | null;
  /** Its parent changed: reevaluate its subtree's alarms. */
  relook: boolean;
  reparented_at: string | null;
  left_down_at: string | null;
  down_from: MonitorState | null;
  last_state_change_utc: string;
  /** By hour and day until the last change (uptime.ts): JSON text. */
  uptime?: string | null;
  down_since_utc: string | null;
  incident_id?: string | null;

  /** When null or absent, the fields below have no meaning. */
  maintenance_id?: string | null;
  /** Until then the state is `maintenance`. */
  maintenance_until?: string | null;
  maintenance_reason?: string | null;
  /** Restored after the window: the previous one, or the latest heartbeat's. */
  held_state?: MonitorState | null;
  /** Down since, while `held_state` is `down`. */
  held_since?: string | null;

  /** When null or absent, the fields below have no meaning. */
  silence_id?: string | null;
  silence_until?: string | null;
  silence_reason?: string | null;
  /** The deferred report as one sentence. */
  silenced?: string | null;

  last_heartbeat_at: string | null;
  /** By a ping URL: no interval until five pings arrived. */
  learns_interval?: boolean;
  interval_learned?: boolean;
  /** Came with a ping; a later ping's schedule or period replaces it. */
  interval_by_ping?: boolean;
  /** In ms, to learn the interval. */
  ping_gaps?: number[];
  beat_interval: number | null;
  last_status: string | null;
  message: string | null;
  exit_code?: number | null;
  app_version: string | null;
  /** From a probe of the service; its absence says nothing about the target. */
  probed?: boolean;
  /** Limits reported so far (certificate-expiry.ts). */
  certificate_level?: number;
  starts: string | null;
  /** JSON text: external names never become document fields. */
  checks: string;
  metrics_json: string;

  /** Null for no check (contract 30, evaluator). */
  next_check_at: string | null;
  /** Compared by compare-and-set. */
  rev: number;

  /** In the order of their first sample. */
  names: string[];
  /** Current hour, from tails that became chunks: JSON text of `HourStats`. */
  hour: string | null;
  /** Newest samples, all of one hour: rows as JSON text, separated by commas. */
  tail: string;
  tail_base: number;
  chunk: number;

  outbox: TimelineOutboxEntry[];
  outbox_at: string | null;
}

export type EventData =
  Omit<MonitorEvent, 'source'> | Omit<MonitorWarning, 'source'> | Omit<MonitorCertificateExpiring, 'source'>;

/** `alarm` entries are also events. Empty fields are omitted, because a run writes thousands. */
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
  /** Start of the down state. */
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

/** About 20 heartbeats of one series within one hour. */
export interface ChunkDoc extends Doc {
  series: string;
  /** In ms since 1970. */
  from: number;
  to: number;
  base: number;
  rows: string;
  /** Of two versions with one id, the larger is newer. */
  size: number;
}

export interface RollupDoc extends Doc {
  series: string;
  hour: number;
  rows: (MetricStats | null)[];
  /** Of two versions with one id, the larger is newer. */
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

/** Of an imported monitor; the id is a hash. */
export interface AddressDoc extends Doc {
  source: string;
  created_at: string;
}

export interface ChangeDoc extends Doc {
  at: string;
  project: string | null;
  text: string;
}

/** `alive`: last liveness record; `cleanup`: last complete cleanup. */
export interface TimeMarkDoc extends Doc {
  at: string;
}
