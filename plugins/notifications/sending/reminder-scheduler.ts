/** Per channel (`repeat_minutes`), until the alarm ends or is acknowledged. */
import type { Clock, Collection } from '../../../kernel/contract/index.js';
import { toIsoString, MINUTE_MS } from '../../../lib/time.js';
import type { Channel } from '../channels/channel.js';
import { getQuietEnd } from '../channels/quiet-hours.js';
import type { StoredNotification } from '../notes/stored-notification.js';

const MAX_ALARMS = 1_000;

export interface ReminderSchedulerDeps {
  notes: Collection<StoredNotification>;
  channels: Pick<Collection<Channel>, 'find'>;
  clock: Clock;
  isOpen: (source: string, fault: string) => Promise<boolean>;
}

export class ReminderScheduler {
  constructor(private readonly parts: ReminderSchedulerDeps) {}

  /** Returns the ids of their channels. */
  async enqueueDue(): Promise<string[]> {
    const { channels } = this.parts;
    const { items } = await channels.find({ filter: { repeat_minutes: { gt: 0 }, enabled: true }, limit: 1_000 });
    const reminded: string[] = [];
    for (const channel of items) if (await this.#enqueueForChannel(channel)) reminded.push(channel.id);
    return reminded;
  }

  async #enqueueForChannel(channel: Channel): Promise<boolean> {
    const { notes, clock } = this.parts;
    const now = clock.now();
    const isQuiet = getQuietEnd(now, channel.quiet) > now && !channel.critical_immediately;
    if (isQuiet) return false;
    const { items } = await notes.find({
      filter: { channel_id: channel.id, open: true, state: 'sent' },
      limit: MAX_ALARMS,
    });
    const due = items.filter(
      ({ reminded_at, sent_at, at }) =>
        Date.parse(reminded_at ?? sent_at ?? at) + channel.repeat_minutes * MINUTE_MS <= now,
    );
    let isAny = false;
    for (const alarm of due) isAny = (await this.#enqueueReminder(alarm, now)) || isAny;
    return isAny;
  }

  async #enqueueReminder(alarm: StoredNotification, now: number): Promise<boolean> {
    const { notes, isOpen } = this.parts;
    const { subject, fault } = alarm;
    if (subject === null || subject === undefined || fault === null || !(await isOpen(subject, fault))) return false;
    const reminders = (alarm.reminders ?? 0) + 1;
    const { open: _open, flapping: _flapping, reminded_at: _at, reminders: _n, ...rest } = alarm;
    const row: StoredNotification = {
      ...rest,
      id: `${alarm.id}:r${String(reminders).padStart(5, '0')}`,
      at: toIsoString(now),
      phase: 'reminder',
      title: `Reminder: ${alarm.title}`,
      state: 'waiting',
      attempts: 0,
      first_attempt_at: null,
      recipients: null,
      send_at: toIsoString(now),
      message_id: null,
      error: null,
      sent_at: null,
    };
    // Its id rejects a duplicate.
    const [result] = await notes.bulk([{ insert: row }]);
    await notes.change({ id: alarm.id }, { set: { reminded_at: toIsoString(now), reminders } });
    return result !== undefined && 'n' in result;
  }
}
