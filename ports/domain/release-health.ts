/**
 * Release health (contract 21, release health): crashed sessions by version. Intakes record
 * sessions; pages and rollouts read the figures.
 */
import { token } from '../token.js';

/** How a session ended, or its worst state so far. */
export type SessionOutcome = 'ok' | 'errored' | 'crashed' | 'abnormal';

/** Start or update of a session; updates repeat, the session counts once. */
export interface SessionUpdate {
  /** Session id from the SDK, the same in every update. */
  sid: string;
  /** First update of the session. */
  first: boolean;
  outcome: SessionOutcome;
}

/** Sessions aggregated by the SDK, counted by outcome. */
export interface SessionTotals {
  ok: number;
  errored: number;
  crashed: number;
  abnormal: number;
}

export interface SessionEntry {
  /** Start time, RFC 3339; null: unknown. */
  started_at: string | null;
  /** User as named by the SDK; null: unknown. Only a keyed hash is stored. */
  user: string | null;
  told: SessionUpdate | SessionTotals;
}

/** Sessions of one version in one environment. */
export interface SessionReport {
  project: string;
  version: string;
  environment: string;
  /** Send time by the sender's clock, RFC 3339; absent: unknown. */
  sent_at?: string | null;
  entries: readonly SessionEntry[];
}

export interface SessionSender {
  /** IP address, so that one client with a public key cannot halt a rollout. */
  address: string;
  /** Sent with a public intake key. */
  intake: boolean;
}

export interface SessionIntake {
  /** Counts the sessions; resolves after the commit. */
  record(report: SessionReport, sender: SessionSender): Promise<void>;
}

export const SESSION_INTAKE = token<SessionIntake>('releasehealth.intake');

export interface SessionCounts {
  started: number;
  errored: number;
  crashed: number;
  abnormal: number;
}

/** Figures of one version over some hours. Shares range from 0 to 1; null: no data. */
export interface VersionHealth extends SessionCounts {
  /** Null: versions beyond the hourly limit, counted together. */
  version: string | null;
  crash_free_sessions: number | null;
  /** Estimate; only users named by SDKs. */
  people: number;
  crashed_people: number;
  crash_free_people: number | null;
  /** Share of the project's sessions. */
  adoption: number | null;
  /** Every requested hour, the current one last. */
  hours: readonly ({ hour: string } & SessionCounts)[];
}

/** Sessions of one version since a time. */
export interface SessionWindow {
  started: number;
  crashed: number;
  /**
   * Estimated number of distinct addresses that reported crashes with a public key; never too high.
   */
  crash_addresses: number;
  /** A secret token reported crashes. */
  crashes_by_token: boolean;
}

export interface ReleaseHealthQuery {
  project: string;
  /** 1 to 720, including the current hour. */
  hours: number;
  version?: string;
  environment?: string;
}

export interface ReleaseHealth {
  /** Lists versions, the one with the most sessions first. */
  listVersions(question: ReleaseHealthQuery): Promise<VersionHealth[]>;
  /** Returns sessions that started in this minute or later. @param since RFC 3339 */
  getSessionsSince(project: string, version: string, since: string): Promise<SessionWindow>;
}

export const RELEASE_HEALTH = token<ReleaseHealth>('releasehealth.figures');
