/**
 * The rules of all channels, for each event: asked of the store every five seconds at most, since events come in crowds
 * and rules change seldom. A change of this process counts at once, one of another after that time at the latest.
 */
import type { Clock, Collection } from '../../../kernel/contract.js';
import { all } from '../../../lib/paging.js';
import { SECOND_MS } from '../../../lib/time.js';
import { cached } from '../../../ports/cached-reads.js';
import type { NotificationRule } from './rule.js';

const KEPT_MS = 5 * SECOND_MS;

export class KnownRules {
  #read: { rules: Promise<Readonly<NotificationRule>[]>; at: number } | null = null;

  constructor(
    private readonly rows: Collection<NotificationRule>,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {}

  all(): Promise<Readonly<NotificationRule>[]> {
    const now = this.clock.monotonic();
    if (this.#read !== null && now - this.#read.at < KEPT_MS) return this.#read.rules;
    const read = { rules: all(cached(this.rows), { limit: 1_000 }), at: now };
    this.#read = read;
    read.rules.catch(() => {
      if (this.#read === read) this.#read = null;
    });
    return read.rules;
  }

  /** Some were written: the next event asks for them. */
  changed(): void {
    this.#read = null;
  }
}
