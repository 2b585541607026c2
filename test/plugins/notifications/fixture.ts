/** Channels with a queue and a dispatcher, on a store in memory and with a clock that is moved. */
import { MemoryStore } from '../../../adapters/memory/store.js';
import type { Channel, ChannelDestination } from '../../../plugins/notifications/channels/channel.js';
import { ChannelCache } from '../../../plugins/notifications/channels/channel-cache.js';
import type { ChannelInput } from '../../../plugins/notifications/channels/channel-fields.js';
import { ChannelSettingsBuilder } from '../../../plugins/notifications/channels/channel-settings.js';
import { ChannelService } from '../../../plugins/notifications/channels/channel-service.js';
import { CHANNEL_KIND_NAMES, type ChannelKind } from '../../../plugins/notifications/channels/channel-kinds.js';
import type { NotificationMessage } from '../../../plugins/notifications/notes/message.js';
import type {
  NotificationState,
  StoredNotification,
} from '../../../plugins/notifications/notes/stored-notification.js';
import { DisabledChannelReporter } from '../../../plugins/notifications/sending/disabled-channels.js';
import { NotificationDispatcher } from '../../../plugins/notifications/sending/notification-dispatcher.js';
import { OutcomeRecorder } from '../../../plugins/notifications/sending/outcome-recorder.js';
import { NotificationQueue } from '../../../plugins/notifications/sending/notification-queue.js';
import { ReminderScheduler } from '../../../plugins/notifications/sending/reminder-scheduler.js';
import type { MessageSender } from '../../../plugins/notifications/services/sender.js';
import type { DomainEvent, Principal } from '../../../kernel/contract/index.js';
import type { MonitorEvent } from '../../../ports/domain/watchdog.js';
import { ManualClock } from '../../kit/clock.js';
import { fakeCipher, FakeIds, fakeOutbound, RecordingLog } from '../../kit/fakes.js';

export const ADMIN = { kind: 'session', username: 'admin', role: 'admin', session_id: 's' } as unknown as Principal;
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

export class ChannelFixture {
  readonly clock = new ManualClock(Date.parse('2026-11-20T12:00:00Z'));
  readonly ids = new FakeIds();
  readonly log = new RecordingLog();
  readonly sent: NotificationMessage[] = [];
  /** What the receiver does. */
  receive: (message: NotificationMessage, recipient: string, destination: ChannelDestination) => Promise<void> =
    async () => undefined;
  /** In place of the sender that `receive` is. */
  senders: Partial<Record<ChannelKind, MessageSender>> = {};
  limits = { notes: 20, bytes: 100_000 };
  readonly store = new MemoryStore();
  readonly channelRows = this.store.collection<Channel>('channels');
  readonly notes = this.store.collection<StoredNotification>('notes');
  readonly directory = new ChannelCache(this.channelRows, this.clock);
  readonly audited: string[] = [];
  readonly emitted: DomainEvent[] = [];
  /** Alarms that have ended without an event. */
  readonly silenced = new Set<string>();
  readonly outcomes = new OutcomeRecorder({
    notes: this.notes,
    channels: this.channelRows,
    cipher: fakeCipher,
    clock: this.clock,
    ids: this.ids,
    log: this.log,
  });
  readonly channels = new ChannelService({
    channels: this.channelRows,
    directory: this.directory,
    settings: new ChannelSettingsBuilder({
      cipher: fakeCipher,
      outbound: fakeOutbound,
      policy: { mode: 'private-ok', allow: [] },
      kinds: CHANNEL_KIND_NAMES,
      timezone: 'UTC',
    }),
    notes: this.notes,
    clock: this.clock,
    ids: this.ids,
    audit: {
      record: async (_who, action) => void this.audited.push(action),
      listRecent: async () => ({ items: [], next: null }),
      listByTarget: async () => ({ items: [], next: null }),
    },
    wake: () => undefined,
  });
  readonly queue = this.queueOf(this.directory);
  readonly reminders = new ReminderScheduler({
    notes: this.notes,
    channels: this.channelRows,
    clock: this.clock,
    isOpen: async (_source, fault) => !this.silenced.has(fault),
  });
  readonly disabled = new DisabledChannelReporter({
    channels: this.channelRows,
    directory: this.directory,
    emit: async (event, data, { id = '', timestamp = '' } = {}) => {
      const emitted = { id, event, timestamp, project_slug: null, data };
      this.emitted.push(emitted);
      await this.queue.enqueueEvent(emitted);
      return true;
    },
    log: this.log,
  });
  #n = 0;

  queueOf(directory: ChannelCache): NotificationQueue {
    return new NotificationQueue(this.notes, this.channelRows, directory, this.clock, 'UTC');
  }

  dispatcher(): NotificationDispatcher {
    const send = async (
      message: NotificationMessage,
      destination: ChannelDestination,
      recipient: string,
    ): Promise<void> => {
      await this.receive(message, recipient, destination);
      this.sent.push(message);
    };
    const recipients = (target: string): string[] => target.split(', ');
    const { clock, ids, log, outcomes, notes, channelRows, limits } = this;
    return new NotificationDispatcher({
      notes,
      channels: channelRows,
      senders: { slack: { send, limits }, email: { send, limits, listRecipients: recipients }, ...this.senders },
      outcomes,
      open: (channel) => this.channels.decryptDestination(channel),
      disabled: (channel) => this.disabled.emitDisabled(channel),
      clock,
      ids,
      log,
      baseUrl: () => 'https://aos.example',
      timezone: 'UTC',
    });
  }

  channel(more: ChannelInput = {}): Promise<Channel> {
    const kind = more.kind ?? 'email';
    return this.channels.create(ADMIN, {
      name: 'on call',
      kind,
      target: kind === 'email' ? 'on-call@example.org' : 'https://hooks.example/T0/B0/x',
      timezone: 'UTC',
      critical_immediately: true,
      events: ['bug.created', 'monitor.down'],
      ...more,
    });
  }

  find(id: string): Promise<Channel> {
    return this.channels.getChannel(ADMIN, id);
  }

  bug(severity = 'medium', tags: string[] = []): DomainEvent {
    const ref = `shop-${++this.#n}`;
    const data = {
      id: ref,
      ref,
      type: 'error',
      title: `Error ${this.#n}`,
      severity,
      item_status: 'open',
      client_ref: null,
      regression: false,
      tags,
    };
    return {
      id: `evt_${String(this.#n).padStart(4, '0')}`,
      event: 'bug.created',
      timestamp: this.clock.iso(),
      project_slug: 'shop',
      data,
    };
  }

  monitor(
    event: 'monitor.down' | 'monitor.recovered' | 'monitor.alarm_closed',
    alarm_id: string,
    more: Partial<MonitorEvent> = {},
  ): DomainEvent {
    const data = {
      source: 'web-1',
      name: 'web-1',
      state: event === 'monitor.down' ? 'down' : 'up',
      previous_state: 'up',
      alarm_id,
      deferred: false,
      resolution: null,
      down_since_utc: null,
      reason: null,
      message: null,
      exit_code: null,
      last_heartbeat_at: null,
      ...more,
    };
    const id = `evt_m${String(++this.#n).padStart(4, '0')}`;
    return { id, event, timestamp: this.clock.iso(), project_slug: null, data };
  }

  async states(): Promise<NotificationState[]> {
    return (await this.notes.find({ sort: [['id', 'asc']], limit: 500 })).items.map((note) => note.state);
  }
}

/** Sends everything that is due. */
export async function sendDue(dispatcher: NotificationDispatcher): Promise<void> {
  await dispatcher.wakeDue();
  await dispatcher.waitUntilIdle();
}
