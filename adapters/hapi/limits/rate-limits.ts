/**
 * Token buckets (contract 00, limits), in memory, per process; processes that share a store each have a part of the
 * limit (contract 95, several processes). Rejected: shared counters in the store, a write in the very path that they
 * protect. rate-limiter-flexible was tried: it counts in windows that refill at once (at 60 calls a minute, 119 passed
 * within two seconds), counts refused calls too, can never let a call pass that costs more than the whole, and keeps
 * every key until its window ends.
 */
import { BoundedMap } from '../../../lib/bounded-map.js';
import type { Clock } from '../../../ports/clock.js';
import type { OpenBucket, RateClass } from '../../../ports/http.js';
import type { HttpLimits } from '../../../ports/http/limits.js';
import { Failure } from '../wire/failure.js';

interface Bucket {
  tokens: number;
  at: number;
}

/** Buckets of one kind by key. The least recently used bucket is forgotten first; its owner then has a full one. */
export class Buckets {
  readonly #buckets: BoundedMap<Bucket>;

  constructor(
    /** Tokens refilled per minute; 0: no limit. */
    readonly perMinute: number,
    readonly size: number,
    private readonly clock: Clock,
    /** How many processes share the limit. */
    private readonly sharers: () => number = () => 1,
    most = 20_000,
  ) {
    this.#buckets = new BoundedMap({ most });
  }

  /**
   * Takes `n` tokens; false when there are not enough. A call that costs more than the bucket holds passes when the
   * bucket is full, which then owes the rest: otherwise the call could never pass.
   * @param taken how many of the `n` this call has taken already
   */
  take(key: string, n = 1, taken = 0): boolean {
    if (this.perMinute === 0 || n <= taken) return true;
    const bucket = this.#bucket(key);
    if (bucket.tokens + taken < Math.min(n, this.#part)) return false;
    bucket.tokens -= n - taken;
    return true;
  }

  get entries(): number {
    return this.#buckets.size;
  }

  /** 429 with the headers that contract 00 names: limit, what is left, seconds until the bucket is full again. */
  refusal(key: string, n = 1): Failure {
    const { tokens } = this.#bucket(key);
    const perSecond = this.#perSecond;
    const wait = this.wait(key, n);
    return new Failure('rate_limited', `Too many calls. Come back in ${wait} s.`, {
      headers: {
        'retry-after': String(wait),
        'ratelimit-limit': String(this.size),
        'ratelimit-remaining': String(Math.max(0, Math.floor(tokens))),
        'ratelimit-reset': String(Math.max(wait, Math.ceil((this.#part - tokens) / perSecond))),
      },
    });
  }

  /** Seconds until `n` tokens are there. */
  wait(key: string, n = 1): number {
    return Math.max(1, Math.ceil((Math.min(n, this.#part) - this.#bucket(key).tokens) / this.#perSecond));
  }

  get #perSecond(): number {
    return this.perMinute / 60 / this.sharers();
  }

  /** Tokens that this process may give out at once: at least one, or nobody would ever get through. */
  get #part(): number {
    return Math.max(1, this.size / this.sharers());
  }

  #bucket(key: string): Bucket {
    const now = this.clock.monotonic();
    const part = this.#part;
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

/** Calls whose content is counted by category cost little themselves: there may be so many times more of them. */
const CALLS_PER_UNIT = 10;

/** The category that the intakes share which take nothing else. */
const SHARED_CATEGORY = 'error';

/** The buckets of every class of calls. */
export class RateLimits {
  readonly #classes: Record<Exclude<RateClass, 'none'>, Buckets>;
  /** Bucket of 401 answers per address. */
  readonly failures: Buckets;
  /** Bucket of answers that a verified key or password opened while the bucket of its address was used up. */
  readonly #proven: Buckets;
  /** Bucket of intake calls per address whose credential is not in the headers. */
  readonly #keyless: Buckets;
  /** Buckets of intake calls whose content is counted by category, for credentials and for addresses. */
  readonly #calls: Buckets;
  readonly #keylessCalls: Buckets;

  /** @param sharers how many processes share the limits */
  constructor(limits: HttpLimits, clock: Clock, sharers: () => number = () => 1) {
    const of = (perMinute: number, size = perMinute): Buckets =>
      new Buckets(perMinute, Math.max(1, size), clock, sharers);
    const intake = (times = 1): Buckets =>
      of(limits.intake_per_minute * times, (limits.intake_burst || limits.intake_per_minute) * times);
    this.#keyless = intake();
    this.#calls = intake(CALLS_PER_UNIT);
    this.#keylessCalls = intake(CALLS_PER_UNIT);
    this.#classes = {
      api: of(limits.api_per_minute),
      intake: intake(),
      bulk: of(limits.bulk_per_minute),
      public: of(limits.public_per_minute),
    };
    this.#proven = of(limits.public_per_minute);
    this.failures = of(limits.auth_failures_per_minute);
  }

  /** Counts a call whose body may hold the credential, before any of the body is read. Null when the call may go on. */
  checkKeyless(address: string, byCategory: boolean): Failure | null {
    const buckets = byCategory ? this.#keylessCalls : this.#keyless;
    return buckets.take(address) ? null : buckets.refusal(address);
  }

  /** Counts an intake call whose content is counted by category. Null when it may go on. */
  checkCalls(key: string, n = 1, taken = 0): Failure | null {
    return this.#calls.take(key, n, taken) ? null : this.#calls.refusal(key, n);
  }

  /** Counts `n` units of a category. @returns null, or the refusal and the seconds until they may come */
  checkCategory(category: string, key: string, n: number): { refusal: Failure; seconds: number } | null {
    const { intake } = this.#classes;
    const own = category === SHARED_CATEGORY ? key : `${category} ${key}`;
    return intake.take(own, n) ? null : { refusal: intake.refusal(own, n), seconds: intake.wait(own, n) };
  }

  /** Counts an open question in one of its address's buckets. Null when it may go on. */
  checkOpen(bucket: OpenBucket, network: string): Failure | null {
    return this.check('public', `${bucket} ${network}`);
  }

  /**
   * Counts an answer that a verified credential opened although the address has asked too often. Null when it may go
   * out.
   */
  checkProven(who: string): Failure | null {
    return this.#proven.take(who) ? null : this.#proven.refusal(who);
  }

  /** Counts a call. Null when it may go on. */
  check(rate: RateClass, key: string, n = 1, taken = 0): Failure | null {
    if (rate === 'none') return null;
    const buckets = this.#classes[rate];
    return buckets.take(key, n, taken) ? null : buckets.refusal(key, n);
  }
}

/**
 * Adds the rate headers of contract 00 to a plugin's own 429, which only says when to come back; the headers are those
 * of a bucket that holds one.
 */
export function withRateLimitHeaders(failure: Failure): Failure {
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
