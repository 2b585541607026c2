/** Time, as the services see it: replaced in tests, so that no test sleeps. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** RFC 3339 UTC with milliseconds and `Z` (contract 00, names). */
  iso(): string;
  /** Milliseconds that never go backwards; only differences mean something. */
  monotonic(): number;
  /** Where `monotonic` counts from: processes with the same name here may compare it, as those of one boot of a host. */
  readonly epoch: string;
}
