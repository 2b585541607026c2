import type { Collection } from '../../../kernel/contract/index.js';
import type { AlarmReceiver } from '../../../ports/domain/alarms/receivers.js';
import type { Channel } from '../channels/channel.js';
import type { StoredNotification } from '../notes/stored-notification.js';

const MAX_CHANNELS = 200;

export async function listEventReceivers(
  notes: Pick<Collection<StoredNotification>, 'find'>,
  channels: Pick<Collection<Channel>, 'find'>,
  event: string,
): Promise<Omit<AlarmReceiver, 'event'>[]> {
  const known = (await channels.find({ limit: MAX_CHANNELS })).items;
  const ids = known.map(({ id }) => `${event}:${id}`);
  const { items } = await notes.find({ filter: { id: { in: ids } }, limit: MAX_CHANNELS });
  const names = new Map(known.map(({ id, name }) => [id, name]));
  return items.map(({ channel_id, state, sent_at }) => ({
    kind: 'channel',
    name: names.get(channel_id) ?? channel_id,
    state,
    at: sent_at,
    href: `/notifications/${channel_id}`,
  }));
}
