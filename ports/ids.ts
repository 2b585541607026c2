/** Generates identifiers and secrets. */
export interface Ids {
  /** Returns a UUIDv7, strictly increasing within the process. */
  uuid(): string;
  /** Returns `length` random base62 characters; 43 carry 256 bits (contract 10, tokens). */
  secret(length?: number): string;
}
