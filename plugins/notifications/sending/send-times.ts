/** They follow the monotonic clock (contract 95, a bad day). */
import type { Clock, Collection } from '../../../kernel/contract/index.js';
import { DueTimeTracker } from '../../../lib/clock-skew.js';
import { collectAll } from '../../../lib/paging.js';
import { MINUTE_MS, SECOND_MS } from '../../../lib/time.js';
import type { Channel } from '../channels/channel.js';
import { getQuietEnd } from '../channels/quiet-hours.js';
import type { StoredNotification } from '../notes/stored-notification.js';
import { getNotificationRetryDelay } from './retry-schedule.js';

/** Longer than an attempt with its writes; blocks the channel after a crash. */
export const CHANNEL_LEASE_MS = 45 * SECOND_MS;

export class SendTimeCalculator {
  constructor(
    private readonly notes: Collection<StoredNotification>,
    private readonly channels: Collection<Channel>,
    private readonly clock: Clock,
    private readonly due = new DueTimeTracker(clock),
  ) {}

  getTimeIn(ms: number): string {
    return this.due.scheduleIn(ms);
  }

  /** Call before due notifications are read. */
  clampFutureTimes(): Promise<void> {
    const { due, notes, channels } = this;
    return due.reanchorIfNeeded(async () => {
      for (const channel of await collectAll(channels, { limit: 200 })) {
        const { id, digest_minutes } = channel;
        await due.reanchor(channels, { field: 'lease_until', filter: { id }, longest: () => CHANNEL_LEASE_MS });
        await due.reanchor(channels, { field: 'next_at', filter: { id }, longest: () => digest_minutes * MINUTE_MS });
        await due.reanchor(notes, {
          field: 'send_at',
          filter: { channel_id: id, state: { in: ['waiting', 'sending'] } },
          longest: (note) => this.#getMaxDelay(channel, note),
        });
      }
    });
  }

  #getMaxDelay({ quiet, critical_immediately, flap_minutes }: Channel, note: StoredNotification): number {
    const { state, severity, attempts, flapping } = note;
    if (state === 'sending') return 0;
    if (attempts > 0) return getNotificationRetryDelay(attempts);
    const now = this.clock.now();
    const from = flapping === true ? now + flap_minutes * MINUTE_MS : now;
    return (severity === 'critical' && critical_immediately ? from : getQuietEnd(from, quiet)) - now;
  }
}
