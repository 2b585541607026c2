/**
 * Token buckets (contract 00, limits). Processes divide the limit between them (contract 95,
 * several processes), because shared counters would add a write to the path that they protect.
 */
import { BoundedMap } from '../../../lib/bounded-map.js';
import type { Clock } from '../../../ports/clock.js';
import type { PublicBucket, RateClass } from '../../../ports/http/index.js';
import type { HttpLimits } from '../../../ports/http/limits.js';
import { Failure } from '../wire/failure.js';

interface TokenBucket {
  tokens: number;
  at: number;
}

/** Buckets by key. */
export class TokenBuckets {
  readonly #buckets: BoundedMap<TokenBucket>;

  constructor(
    readonly perMinute: number,
    readonly size: number,
    private readonly clock: Clock,
    private readonly sharers: () => number = () => 1,
    most = 20_000,
  ) {
    this.#buckets = new BoundedMap({ most });
  }

  /**
   * A call that costs more than the whole bucket passes when it is full and leaves it in debt.
   * @param charged how many of the `n` this call has already taken
   */
  take(key: string, n = 1, charged = 0): boolean {
    if (this.perMinute === 0 || n <= charged) return true;
    const bucket = this.#getBucket(key);
    if (bucket.tokens + charged < Math.min(n, this.#capacity)) return false;
    bucket.tokens -= n - charged;
    return true;
  }

  get entries(): number {
    return this.#buckets.size;
  }

  /** Builds the 429 with the rate limit headers of contract 00. */
  toFailure(key: string, n = 1): Failure {
    const { tokens } = this.#getBucket(key);
    const perSecond = this.#tokensPerSecond;
    const wait = this.getWaitSeconds(key, n);
    return new Failure('rate_limited', `Too many requests. Retry in ${wait} s.`, {
      headers: {
        'retry-after': String(wait),
        'ratelimit-limit': String(this.size),
        'ratelimit-remaining': String(Math.max(0, Math.floor(tokens))),
        'ratelimit-reset': String(Math.max(wait, Math.ceil((this.#capacity - tokens) / perSecond))),
      },
    });
  }

  getWaitSeconds(key: string, n = 1): number {
    return Math.max(1, Math.ceil((Math.min(n, this.#capacity) - this.#getBucket(key).tokens) / this.#tokensPerSecond));
  }

  get #tokensPerSecond(): number {
    return this.perMinute / 60 / this.sharers();
  }

  /** At least one, so that callers can get through. */
  get #capacity(): number {
    return Math.max(1, this.size / this.sharers());
  }

  #getBucket(key: string): TokenBucket {
    const now = this.clock.monotonic();
    const part = this.#capacity;
    const known = this.#buckets.get(key);
    if (known) {
      const refilled = ((now - known.at) * this.perMinute) / 60_000 / this.sharers();
      known.tokens = Math.min(part, known.tokens + refilled);
      known.at = now;
      return known;
    }
    const bucket = { tokens: part, at: now };
    this.#buckets.set(key, bucket);
    return bucket;
  }
}

/** Bounds the number of calls, since a call itself is inexpensive. */
const CALLS_PER_CATEGORY_UNIT = 10;

const SHARED_CATEGORY = 'error';

export class RateLimits {
  readonly #classes: Record<Exclude<RateClass, 'none'>, TokenBuckets>;
  readonly failures: TokenBuckets;
  readonly #proven: TokenBuckets;
  readonly #keyless: TokenBuckets;
  readonly #calls: TokenBuckets;
  readonly #keylessCalls: TokenBuckets;

  constructor(limits: HttpLimits, clock: Clock, sharers: () => number = () => 1) {
    const of = (perMinute: number, size = perMinute): TokenBuckets =>
      new TokenBuckets(perMinute, Math.max(1, size), clock, sharers);
    const intake = (times = 1): TokenBuckets =>
      of(limits.intake_per_minute * times, (limits.intake_burst || limits.intake_per_minute) * times);
    this.#keyless = intake();
    this.#calls = intake(CALLS_PER_CATEGORY_UNIT);
    this.#keylessCalls = intake(CALLS_PER_CATEGORY_UNIT);
    this.#classes = {
      api: of(limits.api_per_minute),
      intake: intake(),
      bulk: of(limits.bulk_per_minute),
      public: of(limits.public_per_minute),
    };
    this.#proven = of(limits.public_per_minute);
    this.failures = of(limits.auth_failures_per_minute);
  }

  checkKeyless(address: string, byCategory: boolean): Failure | null {
    const buckets = byCategory ? this.#keylessCalls : this.#keyless;
    return buckets.take(address) ? null : buckets.toFailure(address);
  }

  checkCalls(key: string, n = 1, charged = 0): Failure | null {
    return this.#calls.take(key, n, charged) ? null : this.#calls.toFailure(key, n);
  }

  /** @returns null, or the failure and the seconds until the units are available */
  checkCategory(category: string, key: string, n: number): { refusal: Failure; seconds: number } | null {
    const { intake } = this.#classes;
    const own = category === SHARED_CATEGORY ? key : `${category} ${key}`;
    return intake.take(own, n) ? null : { refusal: intake.toFailure(own, n), seconds: intake.getWaitSeconds(own, n) };
  }

  checkOpenRequest(bucket: PublicBucket, network: string): Failure | null {
    return this.check('public', `${bucket} ${network}`);
  }

  checkVerified(who: string): Failure | null {
    return this.#proven.take(who) ? null : this.#proven.toFailure(who);
  }

  check(rate: RateClass, key: string, n = 1, charged = 0): Failure | null {
    if (rate === 'none') return null;
    const buckets = this.#classes[rate];
    return buckets.take(key, n, charged) ? null : buckets.toFailure(key, n);
  }
}

/** Adds the rate limit headers of contract 00 for a bucket with one token. */
export function addRateLimitHeaders(failure: Failure): Failure {
  const { headers = {} } = failure.more;
  if (failure.status !== 429 || headers['ratelimit-limit']) return failure;
  const wait = headers['retry-after'] ?? '1';
  return new Failure(failure.code, failure.message, {
    ...failure.more,
    headers: {
      'ratelimit-limit': '1',
      'ratelimit-remaining': '0',
      'ratelimit-reset': wait,
      ...headers,
      'retry-after': wait,
    },
  });
}
