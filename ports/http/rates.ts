/** Rate limits; exceeding one returns 429 `rate_limited` (contract 00, limits). */

/** Bucket of a call (contract 00, limits). `none`: probes. */
export type RateClass = 'api' | 'intake' | 'bulk' | 'public' | 'none';

/**
 * Bucket of an address for public calls (contract 00, limits). `rest`: keys, badges and all others.
 */
export type PublicBucket = 'check' | 'validate' | 'store' | 'login' | 'rest';
