/** Copies of the embedded store that the service makes by itself (contract 95, command line). */
export interface BackupNote {
  path: string;
  /** RFC 3339, UTC. */
  at: string;
  /** Bytes. */
  bytes: number;
}

export interface Backups {
  /** Where they lie; null: the store is no embedded one, and its own tools back it up. */
  readonly folder: string | null;
  /** The newest whole one that lies there; null: none. One whose time is still to come does not count. */
  newest(): Promise<BackupNote | null>;
  /**
   * Makes one beside the running service, in a process of its own, and removes the oldest beyond those to keep.
   * @param beforeMigration such a copy is without packages, and counts for itself. It is made once per version: until
   *   `noteMigrated`, the copy that exists is returned
   * @throws Error, one sentence
   */
  make(options?: { beforeMigration?: boolean; signal?: AbortSignal }): Promise<BackupNote>;
  /** Notes that this version has migrated the store. The copy of before is removed a day later at the earliest. */
  noteMigrated(): Promise<void>;
}

export const NO_BACKUPS: Backups = {
  folder: null,
  newest: () => Promise.resolve(null),
  make: () => Promise.reject(new Error('only the embedded store is backed up by this service')),
  noteMigrated: () => Promise.resolve(),
};
