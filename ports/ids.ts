/** Generates identifiers and secrets. */
export interface Ids {
  /** Strictly increasing within the process. */
  uuid(): string;
  /** Random base62 characters; 43 carry 256 bits (contract 10, tokens). */
  secret(length?: number): string;
}
