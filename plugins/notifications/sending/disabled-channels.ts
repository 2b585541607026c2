import type { Clock, Collection, Logger, PluginContext } from '../../../kernel/contract/index.js';
import { DAY_MS, toIsoString } from '../../../lib/time.js';
import type { Channel } from '../channels/channel.js';
import type { ChannelCache } from '../channels/channel-cache.js';
import type { ChannelDisabled } from '../notes/note.js';
import type { StoredNotification } from '../notes/stored-notification.js';

/** Of a disabled channel (contract 30, amendments). */
const DISABLED_RETENTION_MS = 7 * DAY_MS;
const MAX_CHANNELS = 1_000;

export interface DisabledChannelDeps {
  channels: Collection<Channel>;
  directory: ChannelCache;
  emit: PluginContext['emit'];
  log: Logger;
}

export class DisabledChannelReporter {
  constructor(private readonly parts: DisabledChannelDeps) {}

  /** Its id stays in the channel's document until every durable listener stored it. */
  async emitDisabled({ id, name, kind, disabled_reason, disabled_at, disabled_event }: Channel): Promise<void> {
    if (disabled_event === undefined || disabled_at === null) return;
    const { channels, directory, emit, log } = this.parts;
    directory.invalidate();
    const reason = disabled_reason ?? '';
    log.warn({ channel: id, name, kind, reason }, 'channel disabled itself');
    const data: ChannelDisabled = { id, name, kind, reason };
    const isStored = await emit('channel.disabled', data, { id: disabled_event, timestamp: disabled_at });
    if (isStored) await channels.change({ id, disabled_event }, { unset: ['disabled_event'] });
  }

  async reconcile(): Promise<void> {
    const filter = { disabled_event: { exists: true } };
    const { items } = await this.parts.channels.find({ filter, limit: MAX_CHANNELS });
    for (const channel of items) await this.emitDisabled(channel);
  }
}

export async function expireNotifications(
  notes: Collection<StoredNotification>,
  channels: Pick<Collection<Channel>, 'find'>,
  clock: Clock,
): Promise<void> {
  const { items } = await channels.find({ filter: { enabled: false }, limit: MAX_CHANNELS });
  await notes.changeMany(
    {
      channel_id: { in: items.map(({ id }) => id) },
      state: 'waiting',
      at: { lt: toIsoString(clock.now() - DISABLED_RETENTION_MS) },
    },
    { set: { state: 'expired' } },
  );
}
