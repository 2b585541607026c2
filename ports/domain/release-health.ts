/**
 * Release health (contract 21, release health): how many sessions of a version ended in a crash. An intake hands in
 * what applications say of their sessions; pages and rollouts ask.
 */
import { token } from '../token.js';

/** How a session ended, or what it has met so far. */
export type SessionOutcome = 'ok' | 'errored' | 'crashed' | 'abnormal';

/** One session, as it begins or as it goes on: told several times, and counted once. */
export interface SessionUpdate {
  /** Given by the SDK; the same in every update of the session. */
  sid: string;
  /** The session is told of for the first time. */
  first: boolean;
  outcome: SessionOutcome;
}

/** Sessions that the SDK has added up: numbers of those that ended so. */
export interface SessionTotals {
  ok: number;
  errored: number;
  crashed: number;
  abnormal: number;
}

export interface SessionEntry {
  /** RFC 3339: when it began; null: the SDK does not say. */
  started_at: string | null;
  /** Whoever used the application, as the SDK names them; null: it does not say. Only a keyed hash is kept. */
  user: string | null;
  told: SessionUpdate | SessionTotals;
}

/** Sessions of one version in one environment. */
export interface SessionReport {
  project: string;
  version: string;
  environment: string;
  /** RFC 3339: when they were sent, by the sender's clock; absent: not stated. */
  sent_at?: string | null;
  entries: readonly SessionEntry[];
}

export interface SessionSender {
  /** From where: a stranger with a public key could else stop a rollout by crashes of their own. */
  address: string;
  /** It is a public intake key. */
  intake: boolean;
}

export interface SessionIntake {
  /** Counts them; resolves after the commit. */
  take(report: SessionReport, sender: SessionSender): Promise<void>;
}

export const SESSION_INTAKE = token<SessionIntake>('releasehealth.intake');

export interface SessionCounts {
  started: number;
  errored: number;
  crashed: number;
  abnormal: number;
}

/** Figures of one version over some hours. Shares are from 0 to 1; null: there is nothing to make one of. */
export interface VersionHealth extends SessionCounts {
  /** Null: versions beyond the bound of an hour, which are counted together. */
  version: string | null;
  crash_free_sessions: number | null;
  /** By estimate, and only those whom SDKs name. */
  people: number;
  crashed_people: number;
  crash_free_people: number | null;
  /** The version's share in the sessions of its project. */
  adoption: number | null;
  /** Every hour of the question, the running one last. */
  hours: readonly ({ hour: string } & SessionCounts)[];
}

/** Sessions of one version since a moment. */
export interface SessionWindow {
  started: number;
  crashed: number;
  /**
   * Different addresses from which crashes were reported with a public key, about: some share a number, so that there
   * may be more, and never fewer.
   */
  crash_addresses: number;
  /** A token that is not public reported crashes. */
  crashes_by_token: boolean;
}

export interface HealthQuestion {
  project: string;
  /** 1 to 720, the running hour included. */
  hours: number;
  version?: string;
  environment?: string;
}

export interface ReleaseHealth {
  /** The version with the most sessions first. */
  versions(question: HealthQuestion): Promise<VersionHealth[]>;
  /** Sessions that began in this minute or later. @param since RFC 3339 */
  since(project: string, version: string, since: string): Promise<SessionWindow>;
}

export const RELEASE_HEALTH = token<ReleaseHealth>('releasehealth.figures');
