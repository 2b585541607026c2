/**
 * Due times that no clock of today would have written (due-times.ts): further ahead than their job can put them. They
 * are brought to where they can be: when a process starts, when it sees its clock put back, and once a minute, since
 * the clock may have been another machine's. Compare-and-set: any number of processes may do so at once.
 */
import { CLOCK_SLACK_MS } from '../../lib/clock-steps.js';
import { isoOf, MINUTE_MS } from '../../lib/time.js';
import type { Clock } from '../../ports/clock.js';
import type { Collection } from '../../ports/store.js';
import type { Due, DueTimes } from './due-times.js';
import type { JobDoc } from './job-document.js';

const EVERY_MS = MINUTE_MS;
/** Looked at in one round, the next due first. */
const MOST = 1_000;

export class Anchoring {
  #doneAt = -Infinity;

  /**
   * @param leaseMs how long a job of this name may be locked
   * @param next when a job with this cron expression runs next, RFC 3339
   */
  constructor(
    private readonly jobs: Collection<JobDoc>,
    private readonly clock: Clock,
    private readonly times: DueTimes,
    private readonly leaseMs: (name: string) => number | undefined,
    private readonly next: (cron: string) => string,
  ) {}

  /** Before a process looks for what is due. */
  async look(): Promise<void> {
    const now = this.clock.monotonic();
    if (!this.times.wentBack() && now - this.#doneAt < EVERY_MS) return;
    this.#doneAt = now;
    await this.#anchor();
  }

  async #anchor(): Promise<void> {
    const after = isoOf(this.clock.now() + CLOCK_SLACK_MS);
    const { items } = await this.jobs.find({
      filter: { due_at: { gt: after } },
      sort: [['due_at', 'asc']],
      limit: MOST,
    });
    for (const doc of items) {
      const latest = this.#latest(doc);
      if (latest === null || Date.parse(doc.due_at ?? '') <= Date.parse(latest.due_at) + CLOCK_SLACK_MS) continue;
      const waits = doc.lock === undefined ? { next_run_at: latest.due_at } : {};
      await this.jobs.change({ id: doc.id, due_at: doc.due_at ?? null }, { set: { ...latest, ...waits } });
    }
  }

  /** The latest time that could have been written just now; null: anybody's choice. */
  #latest({ name, lock, repeat, ahead_ms, due_at = '' }: JobDoc): Due | null {
    if (lock === undefined && typeof repeat === 'string') return this.times.at(Date.parse(this.next(repeat)));
    const most = ahead_ms ?? (lock === undefined ? repeat : this.leaseMs(name));
    const bound = typeof most === 'number' ? this.clock.now() + most : Infinity;
    const time = Math.min(bound, this.times.timeOf(due_at));
    return time === Infinity ? null : this.times.at(time);
  }
}
