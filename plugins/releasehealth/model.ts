import { getVersionIdentity } from '../../lib/versions.js';
import { HOUR_MS, toIsoString } from '../../lib/time.js';
import type { SessionCounts, SessionOutcome } from '../../ports/domain/release-health.js';
import type { CollectionSpec, Doc } from '../../ports/store/index.js';

/** Outcomes that are counted in addition to `started`. */
export type TroubledOutcome = Exclude<SessionOutcome, 'ok'>;

/** Sessions of one version and environment that started in one hour. Missing counts are 0. */
export interface HourDoc extends Doc, Partial<SessionCounts> {
  project: string;
  /** As first reported; empty for versions beyond the limit. */
  version: string;
  version_key: string;
  environment: string;
  /** Start of the hour, RFC 3339. */
  hour: string;
  /** By minute, `07`: a rollout looks back from an instant, not from an hour. */
  minutes?: Readonly<Record<string, { started?: number; crashed?: number }>>;
  /** Sketches (lib/text/distinct-sketch.ts); missing without user ids. */
  people?: string;
  crashed_people?: string;
  /** 1 when the version was published, or reported by a token other than an intake key. */
  vouched?: number;
  /** Reporters: `token`, or an address bucket. */
  crash_senders?: Readonly<Record<string, number>>;
}

/** A session with an error. Sessions without errors have no document. */
export interface TroubledDoc extends Doc {
  outcome: TroubledOutcome;
  at: string;
}

export const HEALTH_COLLECTIONS: readonly CollectionSpec[] = [
  {
    name: 'hours',
    indexes: [{ fields: ['project', 'hour'] }, { fields: ['project', 'version_key', 'hour'] }, { fields: ['hour'] }],
  },
  { name: 'troubled', indexes: [{ fields: ['at'] }] },
];

/** `1.2` and `v1.2.0` are one version; other text stays unchanged, like an item's build. */
export const toVersionKey = getVersionIdentity;

export const toHour = (ms: number): string => toIsoString(Math.floor(ms / HOUR_MS) * HOUR_MS);

/**
 * Returns `07` for 12:07:30.
 * @param iso RFC 3339, UTC
 */
export const getMinute = (iso: string): string => iso.slice(14, 16);
