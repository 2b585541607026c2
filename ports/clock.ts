/** Time, as the services see it: replaced in tests, so that no test sleeps. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** RFC 3339 UTC with milliseconds and `Z` (contract 00, names). */
  iso(): string;
  /** Milliseconds that never go backwards; only differences mean something. */
  monotonic(): number;
  /** Where `monotonic` counts from. Processes that name the same may compare it: on Linux all of one boot of a host. */
  readonly epoch: string;
}
