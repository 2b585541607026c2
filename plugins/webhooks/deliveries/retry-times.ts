/**
 * Retries that wait longer than their schedule lets them (contract 95, a bad day): the clock was put back since they
 * were scheduled. Those of this process wait for the rest of their time, others begin to wait anew. Looked for when a
 * process starts, since the clock may have been put back before, and when it sees that it was.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { ClockSteps, CLOCK_SLACK_MS } from '../../../lib/clock-steps.js';
import { OwnDueTimes } from '../../../lib/clocks/own-due-times.js';
import { all, each } from '../../../lib/paging.js';
import { isoOf } from '../../../lib/time.js';
import { DEPS, type WebhookDeps } from '../deps.js';
import { longestDelay } from '../model/retry-schedule.js';

const PAGE = 200;

@injectable()
export class RetryTimes {
  readonly #steps: ClockSteps;
  readonly #own: OwnDueTimes;
  #due = true;

  constructor(@inject(DEPS) private readonly deps: Pick<WebhookDeps, 'webhooks' | 'deliveries' | 'clock'>) {
    this.#steps = new ClockSteps(this.deps.clock);
    this.#own = new OwnDueTimes(this.deps.clock);
  }

  /** The time of an attempt that begins `delayMs` from now. */
  in(delayMs: number): string {
    return this.#own.remember(isoOf(this.deps.clock.now() + delayMs));
  }

  /** Before a look for what is due. Answers how many waited too long. */
  async anchor(): Promise<number> {
    if (this.#steps.look() < 0) this.#due = true;
    if (!this.#due) return 0;
    let n = 0;
    for (const { id } of await all(this.deps.webhooks, { limit: 1_000 })) n += await this.#of(id);
    this.#due = false;
    return n;
  }

  async #of(webhook: string): Promise<number> {
    const { deliveries, clock } = this.deps;
    let n = 0;
    const waiting = {
      filter: { webhook_id: webhook, next_at: { gt: isoOf(clock.now() + CLOCK_SLACK_MS) } },
      sort: [
        ['webhook_id', 'asc'],
        ['next_at', 'asc'],
      ],
      limit: PAGE,
    } as const;
    for await (const { id, failures, next_at } of each(deliveries, waiting)) {
      if (next_at === undefined) continue;
      const latest = isoOf(Math.min(clock.now() + longestDelay(failures), this.#own.timeOf(next_at)));
      if (next_at <= latest) continue;
      if (await deliveries.change({ id, next_at }, { set: { next_at: this.#own.remember(latest) } })) n += 1;
    }
    return n;
  }
}
