/** Release health (contract 21, release health). */
import { token } from '../token.js';

/** Outcome of a session, or worst state so far. */
export type SessionOutcome = 'ok' | 'errored' | 'crashed' | 'abnormal';

/** Start or update of a session, which counts once. */
export interface SessionUpdate {
  sid: string;
  /** First update of the session. */
  first: boolean;
  outcome: SessionOutcome;
}

/** Sessions aggregated by the SDK. */
export interface SessionTotals {
  ok: number;
  errored: number;
  crashed: number;
  abnormal: number;
}

export interface SessionEntry {
  /** RFC 3339; null: unknown. */
  started_at: string | null;
  /** Only a keyed hash is stored. */
  user: string | null;
  data: SessionUpdate | SessionTotals;
}

/** Sessions of one version and environment. */
export interface SessionReport {
  project: string;
  version: string;
  environment: string;
  /** RFC 3339, sender's clock. */
  sent_at?: string | null;
  entries: readonly SessionEntry[];
}

export interface SessionSender {
  /** One client with a public key must not halt a rollout. */
  address: string;
  /** Sent with a public intake key. */
  intake: boolean;
}

export interface SessionIntake {
  record(report: SessionReport, sender: SessionSender): Promise<void>;
}

export const SESSION_INTAKE = token<SessionIntake>('releasehealth.intake');

export interface SessionCounts {
  started: number;
  errored: number;
  crashed: number;
  abnormal: number;
}

/** Figures of one version. Shares range from 0 to 1; null: no data. */
export interface VersionHealth extends SessionCounts {
  version: string | null;
  crash_free_sessions: number | null;
  /** Estimate; only users named by SDKs. */
  people: number;
  crashed_people: number;
  crash_free_people: number | null;
  adoption: number | null;
  hours: readonly ({ hour: string } & SessionCounts)[];
}

/** Sessions of one version since a time. */
export interface SessionWindow {
  started: number;
  crashed: number;
  /** Estimate of distinct addresses with a public key; never too high. */
  crash_addresses: number;
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
  /** @param since RFC 3339, by the minute */
  getSessionsSince(project: string, version: string, since: string): Promise<SessionWindow>;
}

export const RELEASE_HEALTH = token<ReleaseHealth>('releasehealth.figures');
