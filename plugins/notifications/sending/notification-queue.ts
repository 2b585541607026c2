/**
 * One row per event and channel, stored before the producer removes the event, and unique, so that
 * a repeated event adds nothing.
 */
import type { Clock, Collection, DomainEvent } from '../../../kernel/contract/index.js';
import type { Channel } from '../channels/channel.js';
import type { ChannelCache } from '../channels/channel-cache.js';
import { shouldNotify } from '../channels/channel-filter.js';
import { getQuietEnd } from '../channels/quiet-hours.js';
import { collectAll } from '../../../lib/paging.js';
import { toIsoString } from '../../../lib/time.js';
import type { AlarmAcknowledgement } from '../../../ports/domain/alarms/receivers.js';
import { toNote } from '../notes/describe-event.js';
import type { ChannelDisabled, Notification } from '../notes/note.js';
import { toAcknowledgementNote } from '../notes/monitor-notes.js';
import type { StoredNotification } from '../notes/stored-notification.js';
import { dampAlarm } from './flap-damping.js';

type EventReference = Pick<DomainEvent, 'id' | 'event' | 'timestamp'>;

export class NotificationQueue {
  constructor(
    private readonly notes: Collection<StoredNotification>,
    private readonly channels: Collection<Channel>,
    private readonly directory: ChannelCache,
    private readonly clock: Clock,
    private readonly timezone: string,
    private readonly findProjectName: (slug: string) => Promise<string | null> = async () => null,
  ) {}

  /** Resolves when all are stored. Returns the ids of channels with new ones. */
  async enqueueEvent(event: DomainEvent): Promise<string[]> {
    const note = toNote(event);
    if (note === null) return [];
    const wanted = await this.#findSubscribers(note, event);
    if (note.topic === null) {
      for (const id of await this.#findEarlierReceivers(note)) wanted.add(id);
      await this.#closeFault(note);
    }
    if (wanted.size === 0) return [];
    const project = event.project_slug === null ? null : await this.findProjectName(event.project_slug);
    return this.#storeForChannels(event, wanted, (zone) => toNote(event, zone, project) ?? note);
  }

  async enqueueAcknowledgement(word: AlarmAcknowledgement): Promise<string[]> {
    const note = await this.#describeAcknowledgement(word);
    // Only unacknowledged alarms have reminders.
    await this.notes.changeMany({ fault: note.fault, end: false }, { set: { open: word.by === null } });
    return this.#storeForChannels(
      { ...word, event: 'monitor.acknowledged' },
      await this.#findEarlierReceivers(note),
      () => note,
    );
  }

  /** The alarm's notification holds the name of its monitor. */
  async #describeAcknowledgement(word: AlarmAcknowledgement): Promise<Notification> {
    const { items } = await this.notes.find({ filter: { fault: `alarm:${word.alarm_id}`, end: false }, limit: 1 });
    const name = items[0]?.details?.['name'];
    return toAcknowledgementNote(word, typeof name === 'string' ? name : undefined);
  }

  async #findSubscribers(note: Notification, { event, project_slug, data }: DomainEvent): Promise<Set<string>> {
    const channels = await this.directory.listAll();
    const wanting = channels.filter((channel) => shouldNotify(channel, note, event, project_slug));
    if (event !== 'channel.disabled') return new Set(wanting.map(({ id }) => id));
    return new Set(findSubstitutes(data as ChannelDisabled, channels, wanting).map(({ id }) => id));
  }

  async #findEarlierReceivers({ fault }: Notification): Promise<Set<string>> {
    if (fault === null) return new Set();
    // A deferred, flapping alarm together with its end.
    const filter = {
      fault,
      end: false,
      or: [{ state: { in: ['sending', 'sent'] } }, { state: 'waiting', flapping: null }],
    };
    return new Set((await collectAll(this.notes, { filter, limit: 200 })).map((note) => note.channel_id));
  }

  async #closeFault({ fault }: Notification): Promise<void> {
    if (fault === null) return;
    await this.notes.changeMany({ fault, end: false, state: 'waiting', flapping: true }, { set: { state: 'damped' } });
    await this.notes.changeMany({ fault, open: true }, { set: { open: false } });
  }

  /** Disabled channels send it when enabled again. */
  async #storeForChannels(
    event: EventReference,
    wanted: ReadonlySet<string>,
    noteFor: (zone: string) => Notification,
  ): Promise<string[]> {
    const found = await Promise.all([...wanted].map((id) => this.channels.get(id)));
    const channels = found.filter((channel) => channel !== null);
    const rows = await Promise.all(
      channels.map((channel) => this.#toStoredNotification(channel, event, noteFor(channel.timezone ?? this.timezone))),
    );
    const results = await this.notes.bulk(rows.map((row) => ({ insert: row })));
    return channels.filter(({ enabled }, i) => enabled && 'n' in (results[i] ?? {})).map(({ id }) => id);
  }

  async #toStoredNotification(
    channel: Channel,
    event: EventReference,
    note: Notification,
  ): Promise<StoredNotification> {
    const now = this.clock.now();
    const urgent = note.severity === 'critical' && channel.critical_immediately;
    const { holdMs, notice } = await dampAlarm(this.notes, channel, note, event);
    const from = now + holdMs;
    return {
      id: `${event.id}:${channel.id}`,
      channel_id: channel.id,
      event: event.event,
      severity: note.severity,
      title: notice?.title ?? note.title,
      text: notice === null ? note.text : `${notice.text} ${note.text}`,
      url: note.path,
      at: event.timestamp,
      fault: note.fault,
      end: note.topic === null,
      phase: note.phase,
      subject: note.monitor,
      details: note.details,
      ...(note.topic === 'monitor.down' && { open: true }),
      ...(holdMs > 0 && { flapping: true }),
      state: 'waiting',
      attempts: 0,
      first_attempt_at: null,
      recipients: null,
      send_at: toIsoString(urgent ? from : getQuietEnd(from, channel.quiet)),
      message_id: null,
      error: null,
      sent_at: null,
    };
  }
}

/**
 * Returns working channels that subscribe to it, otherwise the enabled one that delivered last,
 * regardless of its filter.
 */
function findSubstitutes({ id }: ChannelDisabled, all: readonly Channel[], wanting: readonly Channel[]): Channel[] {
  const works = (channel: Channel): boolean => channel.id !== id && channel.enabled && channel.failing_since === null;
  const others = wanting.filter((channel) => channel.id !== id);
  if (others.some(works)) return others;
  const substitute = all
    .filter(works)
    .toSorted((a, b) => (b.last_sent_at ?? '').localeCompare(a.last_sent_at ?? ''))[0];
  return substitute === undefined ? others : [...others, substitute];
}
