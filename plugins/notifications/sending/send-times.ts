/**
 * Times that lie further ahead than anybody could have put them (contract 95, a bad day): the clock was put back since
 * they were written. Who waits for them would be silent until then. Those of this process wait for the rest of their
 * time, others begin anew. Looked for when a process starts, since the clock may have been put back before, and when
 * it sees that it was.
 */
import type { Clock, Collection } from '../../../kernel/contract.js';
import { CLOCK_SLACK_MS, ClockSteps } from '../../../lib/clock-steps.js';
import { OwnDueTimes } from '../../../lib/clocks/own-due-times.js';
import { all, each } from '../../../lib/paging.js';
import { isoOf, MINUTE_MS, SECOND_MS } from '../../../lib/time.js';
import type { Channel } from '../channels/channel.js';
import { quietUntil } from '../channels/quiet.js';
import type { StoredNote } from '../notes/stored-note.js';
import { delayAfter } from './retry-schedule.js';

/** Longer than an attempt and its bookkeeping; after a crash nothing is sent on the channel for so long. */
export const LEASE_MS = 45 * SECOND_MS;
/** What the clocks of two processes may differ by. */
const SKEW_MS = 30 * SECOND_MS;

const PAGE = 200;

export class SendTimes {
  readonly #steps: ClockSteps;
  #due = true;

  constructor(
    private readonly notes: Collection<StoredNote>,
    private readonly channels: Collection<Channel>,
    private readonly clock: Clock,
    private readonly own = new OwnDueTimes(clock),
  ) {
    this.#steps = new ClockSteps(clock);
  }

  /** A time that is `ms` from now. */
  in(ms: number): string {
    return this.own.remember(isoOf(this.clock.now() + ms));
  }

  /** Before a look for what is due. */
  async anchor(): Promise<void> {
    if (this.#steps.look() < 0) this.#due = true;
    if (!this.#due) return;
    for (const channel of await all(this.channels, { limit: PAGE })) {
      await this.#ofChannel(channel);
      await this.#ofNotes(channel);
    }
    this.#due = false;
  }

  async #ofChannel({ id, lease_by, lease_until, next_at, digest_minutes }: Channel): Promise<void> {
    const now = this.clock.now();
    const lease = this.#earlier(lease_until, now + LEASE_MS);
    if (lease !== null) await this.channels.change({ id, lease_by, lease_until }, { set: { lease_until: lease } });
    const next = this.#earlier(next_at, now + digest_minutes * MINUTE_MS);
    if (next !== null) await this.channels.change({ id, next_at }, { set: { next_at: next } });
  }

  async #ofNotes(channel: Channel): Promise<void> {
    const filter = { channel_id: channel.id, state: { in: ['waiting', 'sending'] as const } };
    for await (const note of each(this.notes, { filter, limit: PAGE })) {
      const { id, state, send_at } = note;
      const earlier = this.#earlier(send_at, this.#latest(channel, note));
      if (earlier !== null) await this.notes.change({ id, state, send_at }, { set: { send_at: earlier } });
    }
  }

  /** Where a stored time belongs when it lies too far ahead; null: it is right. @param latest bound, in milliseconds */
  #earlier(time: string | null, latest: number): string | null {
    if (time === null) return null;
    const own = this.own.timeOf(time);
    if (Date.parse(time) <= Math.min(own + CLOCK_SLACK_MS, latest + SKEW_MS)) return null;
    return this.own.remember(isoOf(Math.min(own, latest)));
  }

  /** The latest time that a notification could be put off to now. */
  #latest({ quiet, critical_immediately, flap_minutes }: Channel, note: StoredNote): number {
    const now = this.clock.now();
    const { state, severity, attempts, flapping } = note;
    if (state === 'sending') return now;
    if (attempts > 0) return now + delayAfter(attempts);
    const from = flapping === true ? now + flap_minutes * MINUTE_MS : now;
    return severity === 'critical' && critical_immediately ? from : quietUntil(from, quiet);
  }
}
