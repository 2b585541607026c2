/**
 * Five free failures, then a delay of 1 s that doubles up to 15 minutes (contract 10, accounts).
 * All processes share the stored counts. Concurrent attempts are limited to the remaining free
 * failures, divided among the processes but at least one; otherwise parallel guesses would all pass
 * before the first failure is counted.
 */
import {
  PORT,
  collection,
  inject,
  injectable,
  token,
  type Clock,
  type Collection,
  type Doc,
  type Filter,
} from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import { MAX_AHEAD_MS } from '../../../lib/clock-skew.js';
import { toIsoString } from '../../../lib/time.js';
import type { ThrottledAttempt, AttemptThrottle } from '../../../ports/domain/access.js';

export const FREE_FAILURES = 5;
export const MAX_WAIT_SECONDS = 900;
/** Without a failure. */
export const RESET_AFTER_MS = 24 * 3_600_000;
const MAX_QUEUED_ATTEMPTS = 200;

export function getWaitSeconds(failures: number, free = FREE_FAILURES): number {
  return failures <= free ? 0 : Math.min(MAX_WAIT_SECONDS, 2 ** (failures - free - 1));
}

export interface ThrottleDoc extends Doc {
  failures: number;
  at: string;
  until: string;
}

export const PROCESS_COUNT = token<() => number>('access.sharers');

@injectable()
export class LoginAttemptThrottle implements AttemptThrottle {
  readonly #underWay = new Map<string, number>();
  readonly #queue: (() => void)[] = [];
  /** Increases when an attempt ends; invalidates earlier reads. */
  #version = 0;

  constructor(
    @inject(collection<ThrottleDoc>('throttle')) private readonly rows: Collection<ThrottleDoc>,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PROCESS_COUNT) private readonly sharers: () => number,
  ) {}

  /**
   * @param keys for example `account:ada`
   * @param free number of failures without a delay
   * @throws ServiceError rate_limited
   */
  async begin(keys: readonly string[], free = FREE_FAILURES): Promise<ThrottledAttempt> {
    for (;;) {
      const turn = this.#version;
      const counts = await Promise.all(keys.map((key) => this.#getFailures(key)));
      const wait = Math.max(...counts.map((count) => count.waitMs));
      if (wait > 0) throw createRateLimitError(wait / 1000);
      if (turn !== this.#version) continue;
      const part = (failures: number): number => Math.max(1, Math.floor((free + 1 - failures) / this.sharers()));
      const hasCapacity = keys.every((key, i) => this.#getRunningCount(key) < part(counts[i]?.failures ?? 0));
      if (hasCapacity) return this.#admit(keys, free);
      if (this.#queue.length >= MAX_QUEUED_ATTEMPTS) throw createRateLimitError(1);
      await new Promise<void>((resolve) => this.#queue.push(resolve));
    }
  }

  async reset(key: string): Promise<void> {
    await this.rows.remove({ id: key });
  }

  async sweep(): Promise<number> {
    return this.rows.remove(this.#buildExpiredFilter(), 1000);
  }

  #admit(keys: readonly string[], free: number): ThrottledAttempt {
    for (const key of keys) this.#underWay.set(key, this.#getRunningCount(key) + 1);
    return {
      recordFailure: async () => {
        await Promise.all(keys.map((key) => this.#recordFailure(key, free)));
      },
      release: () => {
        for (const key of keys) {
          const left = this.#getRunningCount(key) - 1;
          if (left > 0) this.#underWay.set(key, left);
          else this.#underWay.delete(key);
        }
        this.#version++;
        for (const next of this.#queue.splice(0)) next();
      },
    };
  }

  async #recordFailure(key: string, free: number): Promise<void> {
    await this.rows.remove({ id: key, ...this.#buildExpiredFilter() });
    const now = this.clock.iso();
    const first = { inc: { failures: 1 }, set: { at: now }, setOnInsert: { until: now } };
    const changed = await this.rows.change({ id: key }, first, { upsert: true });
    const wait = getWaitSeconds(changed?.doc.failures ?? 0, free);
    if (wait === 0) return;
    await this.rows.change({ id: key }, { max: { until: this.#toTimestamp(wait * 1000) } });
  }

  async #getFailures(key: string): Promise<{ failures: number; waitMs: number }> {
    const doc = await this.rows.get(key);
    if (doc === null || doc.at < this.#toTimestamp(-RESET_AFTER_MS) || doc.at > this.#toTimestamp(MAX_AHEAD_MS))
      return { failures: 0, waitMs: 0 };
    return { failures: doc.failures, waitMs: Date.parse(doc.until) - this.clock.now() };
  }

  #getRunningCount(key: string): number {
    return this.#underWay.get(key) ?? 0;
  }

  #buildExpiredFilter(): Filter {
    return {
      or: [{ at: { lt: this.#toTimestamp(-RESET_AFTER_MS) } }, { at: { gt: this.#toTimestamp(MAX_AHEAD_MS) } }],
    };
  }

  #toTimestamp(ms: number): string {
    return toIsoString(this.clock.now() + ms);
  }
}

function createRateLimitError(seconds: number): ServiceError {
  const after = String(Math.max(1, Math.ceil(seconds)));
  return new ServiceError('rate_limited', `Too many failed sign-ins. Try again in ${after} s.`, {
    headers: {
      'retry-after': after,
      'ratelimit-limit': String(FREE_FAILURES),
      'ratelimit-remaining': '0',
      'ratelimit-reset': after,
    },
  });
}
