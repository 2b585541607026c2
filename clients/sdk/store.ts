/**
 * Persistent storage of small texts by name: files of a folder, or browser storage of an origin.
 * Never throws.
 */
export interface TextStore {
  /** @returns null when the name does not exist */
  read(name: string): string | null;
  /**
   * Writes atomically.
   * @returns false when nothing can be stored
   */
  write(name: string, text: string): boolean;
  /**
   * Runs `work` under a lock of the name, so that concurrent read-modify-write cycles do not lose
   * changes.
   */
  withLock<T>(name: string, work: () => T): Promise<T>;
  /** @returns false when it did not exist or could not be removed */
  remove(name: string): boolean;
  listNames(): string[];
}
