/** Clock of the services; tests replace it. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** RFC 3339 UTC with milliseconds and `Z` (contract 00, names). */
  iso(): string;
  /** Monotonic milliseconds; only differences are meaningful. */
  monotonic(): number;
  /** Origin of `monotonic`; readings of one epoch are comparable. */
  readonly epoch: string;
}
