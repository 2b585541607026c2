/**
 * Throttling of failed logins (contract 10, accounts): five free failures, then a wait of 1 s that doubles up to 15
 * minutes. The counts are in the store, so every process knows them.
 *
 * While guesses are being computed their outcome is unknown; so as many may be under way at once as failures are
 * still free, each process having its part of them and one at least, and the others queue behind them. Otherwise a
 * hundred guesses sent together would all pass before the first failure is counted. Rejected: counting every attempt as
 * failed until it succeeds, which refuses the right password of people (and of release store clients) who come in
 * parallel.
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
} from '../../../kernel/contract.js';
import { ServiceError } from '../../../kernel/errors.js';
import { AHEAD_MS } from '../../../lib/clock-skew.js';
import { isoOf } from '../../../lib/time.js';
import type { Attempt, AttemptThrottle } from '../../../ports/domain/access.js';

export const FREE_FAILURES = 5;
export const MAX_WAIT_SECONDS = 900;
/** After this long without a failure the count starts anew. */
export const FORGET_MS = 24 * 3_600_000;
const MAX_QUEUED = 200;

/** Seconds to wait after the `failures`-th failure. */
export function waitSeconds(failures: number, free = FREE_FAILURES): number {
  return failures <= free ? 0 : Math.min(MAX_WAIT_SECONDS, 2 ** (failures - free - 1));
}

export interface ThrottleDoc extends Doc {
  failures: number;
  /** When the last failure was. */
  at: string;
  /** Every attempt before this is refused. */
  until: string;
}

/** How many processes share what is free, this one included. */
export const SHARERS = token<() => number>('access.sharers');

@injectable()
export class Throttle implements AttemptThrottle {
  readonly #underWay = new Map<string, number>();
  readonly #queue: (() => void)[] = [];
  /** Rises whenever an attempt ends: what was read before may be out of date. */
  #turn = 0;

  constructor(
    @inject(collection<ThrottleDoc>('throttle')) private readonly rows: Collection<ThrottleDoc>,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(SHARERS) private readonly sharers: () => number,
  ) {}

  /**
   * @param keys the counts this attempt is under, for example `account:ada`
   * @param free how many failures have no delay after them
   * @throws ServiceError rate_limited
   */
  async enter(keys: readonly string[], free = FREE_FAILURES): Promise<Attempt> {
    for (;;) {
      const turn = this.#turn;
      const counts = await Promise.all(keys.map((key) => this.#count(key)));
      const wait = Math.max(...counts.map((count) => count.waitMs));
      if (wait > 0) throw limited(wait / 1000);
      if (turn !== this.#turn) continue;
      const part = (failures: number): number => Math.max(1, Math.floor((free + 1 - failures) / this.sharers()));
      const room = keys.every((key, i) => this.#going(key) < part(counts[i]?.failures ?? 0));
      if (room) return this.#admit(keys, free);
      if (this.#queue.length >= MAX_QUEUED) throw limited(1);
      await new Promise<void>((resolve) => this.#queue.push(resolve));
    }
  }

  /** A success: the count starts anew. */
  async reset(key: string): Promise<void> {
    await this.rows.remove({ id: key });
  }

  async sweep(): Promise<number> {
    return this.rows.remove(this.#outOfTime(), 1000);
  }

  #admit(keys: readonly string[], free: number): Attempt {
    for (const key of keys) this.#underWay.set(key, this.#going(key) + 1);
    return {
      failed: async () => {
        await Promise.all(keys.map((key) => this.#fail(key, free)));
      },
      leave: () => {
        for (const key of keys) {
          const left = this.#going(key) - 1;
          if (left > 0) this.#underWay.set(key, left);
          else this.#underWay.delete(key);
        }
        this.#turn++;
        for (const next of this.#queue.splice(0)) next();
      },
    };
  }

  async #fail(key: string, free: number): Promise<void> {
    await this.rows.remove({ id: key, ...this.#outOfTime() });
    const now = this.clock.iso();
    const first = { inc: { failures: 1 }, set: { at: now }, setOnInsert: { until: now } };
    const changed = await this.rows.change({ id: key }, first, { upsert: true });
    const wait = waitSeconds(changed?.doc.failures ?? 0, free);
    if (wait === 0) return;
    await this.rows.change({ id: key }, { max: { until: this.#at(wait * 1000) } });
  }

  async #count(key: string): Promise<{ failures: number; waitMs: number }> {
    const doc = await this.rows.get(key);
    if (doc === null || doc.at < this.#at(-FORGET_MS) || doc.at > this.#at(AHEAD_MS)) return { failures: 0, waitMs: 0 };
    return { failures: doc.failures, waitMs: Date.parse(doc.until) - this.clock.now() };
  }

  #going(key: string): number {
    return this.#underWay.get(key) ?? 0;
  }

  #outOfTime(): Filter {
    return { or: [{ at: { lt: this.#at(-FORGET_MS) } }, { at: { gt: this.#at(AHEAD_MS) } }] };
  }

  #at(ms: number): string {
    return isoOf(this.clock.now() + ms);
  }
}

function limited(seconds: number): ServiceError {
  const after = String(Math.max(1, Math.ceil(seconds)));
  return new ServiceError('rate_limited', `Too many failed logins. Try again in ${after} s.`, {
    headers: {
      'retry-after': after,
      'ratelimit-limit': String(FREE_FAILURES),
      'ratelimit-remaining': '0',
      'ratelimit-reset': after,
    },
  });
}
