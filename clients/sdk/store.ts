/**
 * Small texts by name that outlive the program: files of a folder, or what a browser keeps for an origin. Never throws.
 */
export interface Store {
  /** Null: there is none. */
  read(name: string): string | null;
  /** Whole or not at all. @returns false where nothing can be kept */
  put(name: string, text: string): boolean;
  /** @returns false where there was none, or it could not be removed */
  remove(name: string): boolean;
  names(): string[];
}
