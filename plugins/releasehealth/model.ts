/** What the plugin keeps, and its collections (contract 21, release health). */
import { getVersionIdentity } from '../../lib/versions.js';
import { HOUR_MS, isoOf } from '../../lib/time.js';
import type { SessionCounts, SessionOutcome } from '../../ports/domain/release-health.js';
import type { CollectionSpec, Doc } from '../../ports/store.js';

/** The outcomes that are counted beside `started`. */
export type Trouble = Exclude<SessionOutcome, 'ok'>;

/** Sessions of one version, in one environment, that began in one hour. A count that is 0 may be missing. */
export interface HourDoc extends Doc, Partial<SessionCounts> {
  project: string;
  /** As the first of the hour spelled it; empty: versions beyond the bound of an hour. */
  version: string;
  /** In its one spelling. */
  version_key: string;
  environment: string;
  /** RFC 3339: its beginning. */
  hour: string;
  /** By minute, `07`: a rollout looks back from a moment, not from an hour. */
  minutes?: Readonly<Record<string, { started?: number; crashed?: number }>>;
  /** Sketches (lib/text/distinct-sketch.ts); missing: nobody was named. */
  people?: string;
  crashed_people?: string;
  /** 1: the version was published, or a token that is no intake key reported its sessions. */
  vouched?: number;
  /** Who reported sessions, and who crashes: `token`, or one of a few numbers that an address falls on. */
  crash_senders?: Readonly<Record<string, number>>;
}

/** A session with an error. Sessions without any are the most, and leave no document. */
export interface TroubledDoc extends Doc {
  outcome: Trouble;
  at: string;
}

export const COLLECTIONS: readonly CollectionSpec[] = [
  {
    name: 'hours',
    indexes: [{ fields: ['project', 'hour'] }, { fields: ['project', 'version_key', 'hour'] }, { fields: ['hour'] }],
  },
  { name: 'troubled', indexes: [{ fields: ['at'] }] },
];

/** `1.2` and `v1.2.0` are one version; other text stays as it is, as an item keeps its build. */
export const versionKey = getVersionIdentity;

/** The beginning of the hour of an instant. */
export const hourOf = (ms: number): string => isoOf(Math.floor(ms / HOUR_MS) * HOUR_MS);

/** `07` of 12:07:30. @param iso RFC 3339, UTC */
export const minuteOf = (iso: string): string => iso.slice(14, 16);
