/**
 * Rate limits: in which bucket a call is counted. Who asks too often is answered 429 `rate_limited` (contract 00,
 * limits).
 */

/** Which bucket a call is counted in (contract 00, limits). `none` is for probes. */
export type RateClass = 'api' | 'intake' | 'bulk' | 'public' | 'none';

/**
 * Which bucket of an address counts an open question (contract 00, limits): what is asked of one says nothing of the
 * others. `rest` is keys, badges and whatever is not named.
 */
export type OpenBucket = 'check' | 'validate' | 'store' | 'login' | 'rest';
