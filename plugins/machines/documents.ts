import type { CollectionSpec, Doc } from '../../ports/store/index.js';

export interface InventoryDoc extends Doc {
  project: string;
  instance_id: string | null;
  monitor: string | null;
  name: string | null;
  /** Lower case, to find its monitor by name. */
  name_key: string | null;
  version: string | null;
  /** Whether a request with a credential reported it. */
  version_verified: boolean;
  /** Reported or, without that, of the release with its version. */
  channel: string;
  reported_channel: string | null;
  platform: string | null;
  license_id: string | null;
  /** JSON of project, channel, platform and version: the store groups by one field. */
  place: string;
  /** RFC 3339, hour in which it reported its version first. */
  version_since: string;
  first_seen_at: string;
  last_seen_at: string;
}

/** Machines of a project by version at the end of a day (UTC), or until now. */
export interface DayDoc extends Doc {
  project: string;
  /** `2026-11-29`. */
  day: string;
  /** JSON of pairs of version and machines, most frequent first: versions are external names. */
  counts: string;
}

export const COLLECTIONS: readonly CollectionSpec[] = [
  {
    name: 'machines',
    indexes: [
      { fields: ['last_seen_at'] },
      { fields: ['project', 'last_seen_at'] },
      { fields: ['place', 'last_seen_at'] },
      { fields: ['place', 'version_since'] },
      { fields: ['project', 'place'] },
      { fields: ['project', 'monitor'] },
      { fields: ['project', 'name_key'] },
    ],
  },
  { name: 'days', indexes: [{ fields: ['project', 'day'] }, { fields: ['day'] }] },
];
