/**
 * Small texts by name that outlive the program: files of a folder, or what a browser keeps for an origin. Never throws.
 */
export interface Store {
  /** Null: there is none. */
  read(name: string): string | null;
  /** Whole or not at all. @returns false where nothing can be kept */
  put(name: string, text: string): boolean;
  /**
   * Runs `work` while no other process that shares the store is at the same name by this way, so that none writes what
   * it read before another's change. Where no lock can be had, or not in time, without one.
   */
  exclusively<T>(name: string, work: () => T): Promise<T>;
  /** @returns false where there was none, or it could not be removed */
  remove(name: string): boolean;
  names(): string[];
}
