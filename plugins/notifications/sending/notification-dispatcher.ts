/**
 * One lane per channel, so that no receiver delays another; a lease limits a channel to one
 * process. Notifications are marked before sending and after acceptance: after a crash the same
 * message is sent with the same id, so that receivers can deduplicate.
 */
import type { Clock, Collection, Ids, Logger } from '../../../kernel/contract/index.js';
import type { Channel, ChannelDestination } from '../channels/channel.js';
import type { ChannelKind } from '../channels/channel-kinds.js';
import { toIsoString } from '../../../lib/time.js';
import { buildMessage, type NotificationMessage } from '../notes/message.js';
import type { RecipientResult, StoredNotification } from '../notes/stored-notification.js';
import { sendMessageAttempt, type SendAttemptResult } from './send-attempt.js';
import type { OutcomeRecorder } from './outcome-recorder.js';
import { CHANNEL_LEASE_MS, SendTimeCalculator } from './send-times.js';
import { splitNotifications } from './message-splitter.js';
import { SendError, type MessageSender } from '../services/sender.js';

const MAX_NOTES_PER_RUN = 200;

interface NotificationBatch {
  notes: StoredNotification[];
  begun: boolean;
}

interface ChannelLane {
  run: Promise<void>;
  again: boolean;
}

export interface DispatcherDeps {
  notes: Collection<StoredNotification>;
  channels: Collection<Channel>;
  senders: Partial<Record<ChannelKind, MessageSender>>;
  outcomes: OutcomeRecorder;
  open: (channel: Channel) => ChannelDestination;
  disabled: (channel: Channel) => Promise<void>;
  clock: Clock;
  ids: Ids;
  log: Logger;
  baseUrl: () => string;
  timezone: string;
}

export class NotificationDispatcher {
  readonly #times: SendTimeCalculator;
  readonly #lanes = new Map<string, ChannelLane>();
  #stopped = false;

  constructor(private readonly parts: DispatcherDeps) {
    this.#times = new SendTimeCalculator(parts.notes, parts.channels, parts.clock, parts.outcomes.sendTimes);
  }

  wake(channelIds: readonly string[]): void {
    for (const id of channelIds) {
      if (this.#stopped) return;
      const lane = this.#lanes.get(id);
      if (lane === undefined) this.#startLane(id);
      else lane.again = true;
    }
  }

  #startLane(id: string): void {
    const lane: ChannelLane = { run: Promise.resolve(), again: true };
    this.#lanes.set(id, lane);
    lane.run = this.#runLane(id, lane);
  }

  async #runLane(id: string, lane: ChannelLane): Promise<void> {
    while (lane.again && !this.#stopped) {
      lane.again = false;
      await this.sendDue(id).catch((err: unknown) =>
        this.parts.log.error({ err, channel: id }, 'channel could not be processed; the job will retry'),
      );
    }
    this.#lanes.delete(id);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.waitUntilIdle();
  }

  async waitUntilIdle(): Promise<void> {
    while (this.#lanes.size > 0) await Promise.all([...this.#lanes.values()].map(({ run }) => run));
  }

  async wakeDue(): Promise<void> {
    await this.#times.clampFutureTimes();
    const filter = { state: { in: ['waiting', 'sending'] }, send_at: { lte: this.parts.clock.iso() } };
    const counts = await this.parts.notes.groupCount('channel_id', filter);
    this.wake(counts.map(({ key }) => String(key)));
  }

  async sendDue(channelId: string): Promise<void> {
    const claimed = await this.#claim(channelId);
    if (claimed === null) return;
    let channel = claimed;
    try {
      const batches = await this.#listBatches(channel);
      while (batches.length > 0 && channel.enabled && !this.#stopped) {
        const batch = batches.shift() as NotificationBatch;
        if (!(await this.#renew(claimed))) return;
        const attempt = await this.#send(channel, batch);
        if (attempt.halves !== null) batches.unshift(...attempt.halves);
        channel = attempt.channel;
        // The receiver is unreachable, so the rest waits too.
        if (attempt.retryAt !== null) await this.#postpone(batches, attempt.retryAt);
        if (attempt.retryAt !== null) break;
      }
    } finally {
      await this.parts.channels.change(
        { id: claimed.id, lease_by: claimed.lease_by },
        { set: { lease_by: null, lease_until: null } },
      );
    }
    if (!channel.enabled) await this.parts.disabled(channel);
  }

  async #listBatches(channel: Channel): Promise<NotificationBatch[]> {
    const { notes, clock, baseUrl } = this.parts;
    const now = clock.iso();
    const { items } = await notes.find({
      filter: { channel_id: channel.id, state: { in: ['waiting', 'sending'] }, send_at: { lte: now } },
      sort: [['id', 'asc']],
      limit: MAX_NOTES_PER_RUN,
    });
    // Sent again unchanged, so that its id identifies a repeat.
    const isBegun = ({ state, recipients }: StoredNotification): boolean =>
      state === 'sending' || (recipients !== null && recipients !== undefined);
    const begun = new Map<string | null, StoredNotification[]>();
    for (const note of items.filter(isBegun)) begun.set(note.message_id, [...(begun.get(note.message_id) ?? []), note]);
    const isHeld = channel.next_at !== null && channel.next_at > now;
    const fresh = items.filter(
      (note) => !isBegun(note) && (!isHeld || (channel.critical_immediately && note.severity === 'critical')),
    );
    const sender = this.#getSender(channel);
    const zone = this.#getTimezone(channel);
    return [
      ...[...begun.values()].map((begunNotes) => ({ notes: begunNotes, begun: true })),
      ...splitNotifications(fresh, sender, baseUrl(), zone).map((part) => ({ notes: part, begun: false })),
    ];
  }

  async #claim(id: string): Promise<Channel | null> {
    const { clock, ids, channels } = this.parts;
    const now = clock.now();
    const free = { id, enabled: true, or: [{ lease_until: null }, { lease_until: { lte: toIsoString(now) } }] };
    const set = { lease_by: ids.uuid(), lease_until: this.#times.getTimeIn(CHANNEL_LEASE_MS) };
    return (await channels.change(free, { set }))?.doc ?? null;
  }

  async #renew({ id, lease_by }: Channel): Promise<boolean> {
    const set = { lease_until: this.#times.getTimeIn(CHANNEL_LEASE_MS) };
    return (await this.parts.channels.change({ id, lease_by, enabled: true }, { set })) !== null;
  }

  async #send(
    channel: Channel,
    { notes: batch, begun }: NotificationBatch,
  ): Promise<{ channel: Channel; halves: NotificationBatch[] | null; retryAt: string | null }> {
    const { notes, outcomes, baseUrl } = this.parts;
    const message = buildMessage(batch, baseUrl(), this.#getTimezone(channel));
    const [first] = batch;
    const before = (first && outcomes.readRecipients(first)) ?? [];
    const filter = { channel_id: channel.id, id: { in: batch.map(({ id }) => id) } };
    await notes.changeMany(filter, { set: { state: 'sending', message_id: message.id }, inc: { attempts: 1 } });
    const attempt = await this.#attempt(channel, message, before);
    if (attempt.content && batch.length > 1 && attempt.results.every(({ state }) => state === 'failed')) {
      // Less than its documented limit.
      await notes.changeMany(filter, { set: { state: 'waiting', message_id: null } });
      const middle = Math.ceil(batch.length / 2);
      const halves = [batch.slice(0, middle), batch.slice(middle)].map((half) => ({ notes: half, begun: false }));
      return { channel, halves, retryAt: null };
    }
    const after = await outcomes.record(channel, batch, before, attempt, !begun);
    const isUnreachable = attempt.results.every(({ state }) => state === 'waiting');
    const retryAt = isUnreachable ? ((await notes.get(first?.id ?? ''))?.send_at ?? null) : null;
    return { channel: after, halves: null, retryAt };
  }

  async #postpone(batches: readonly NotificationBatch[], send_at: string): Promise<void> {
    const ids = batches.flatMap(({ notes }) => notes.map(({ id }) => id));
    if (ids.length > 0) await this.parts.notes.changeMany({ id: { in: ids }, state: 'waiting' }, { set: { send_at } });
  }

  #attempt(
    channel: Channel,
    message: NotificationMessage,
    before: readonly RecipientResult[],
  ): Promise<SendAttemptResult> {
    const sender = this.#getSender(channel);
    const destination = this.parts.open(channel);
    const waiting = before.filter(({ state }) => state === 'waiting').map(({ address }) => address);
    const all = sender.listRecipients?.(destination.target) ?? [''];
    const isBare = channel.projects.length > 0;
    return sendMessageAttempt(sender, message, destination, before.length > 0 ? waiting : all, isBare);
  }

  async sendTest(channel: Channel, note: Parameters<typeof buildMessage>[0][number]): Promise<RecipientResult[]> {
    const message = buildMessage([note], this.parts.baseUrl(), this.#getTimezone(channel));
    return (await this.#attempt(channel, message, [])).results;
  }

  #getTimezone({ timezone }: Channel): string {
    return timezone ?? this.parts.timezone;
  }

  #getSender({ kind }: Channel): MessageSender {
    return this.parts.senders[kind] ?? UNCONFIGURED_SENDER;
  }
}

/** Without a mail server, notifications wait. */
const UNCONFIGURED_SENDER: MessageSender = {
  limits: { notes: MAX_NOTES_PER_RUN, bytes: Number.MAX_SAFE_INTEGER },
  send: () => Promise.reject(new SendError('E-mail is not configured. Set notifications.smtp_host.', false)),
};
