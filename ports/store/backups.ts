/** Automatic backups of the embedded store (contract 95, command line). */
export interface BackupInfo {
  path: string;
  /** RFC 3339, UTC. */
  at: string;
  /** Bytes. */
  bytes: number;
}

export interface Backups {
  /** Null without an embedded store. */
  readonly folder: string | null;
  /** Finds the newest complete backup, or null. Backups with future timestamps are ignored. */
  findNewest(): Promise<BackupInfo | null>;
  /**
   * Runs in a separate process and removes the oldest beyond the limit.
   * @param beforeMigration counted separately, once per version: returns the existing one until
   *   `recordMigration`
   * @throws Error, one sentence
   */
  create(options?: { beforeMigration?: boolean; signal?: AbortSignal }): Promise<BackupInfo>;
  /** Records that this version migrated the store. */
  recordMigration(): Promise<void>;
}

export const NO_BACKUPS: Backups = {
  folder: null,
  findNewest: () => Promise.resolve(null),
  create: () => Promise.reject(new Error('only the embedded store is backed up by this service')),
  recordMigration: () => Promise.resolve(),
};
