/** Identifiers and secrets. */
export interface Ids {
  /** UUIDv7, strictly increasing within the process. */
  uuid(): string;
  /** `length` characters of base62 from the system's random source; 43 carry 256 bits (contract 10, tokens). */
  secret(length?: number): string;
}
