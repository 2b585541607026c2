/**
 * An alarm within `flap_minutes` of the previous one must last that long before it is sent. The
 * fourth in a row is sent immediately with a notice.
 */
import type { Collection } from '../../../kernel/contract/index.js';
import { toIsoString, MINUTE_MS } from '../../../lib/time.js';
import type { Channel } from '../channels/channel.js';
import type { Notification } from '../notes/note.js';
import type { StoredNotification } from '../notes/stored-notification.js';

const MAX_DAMPED_ALARMS = 3;
const MAX_COUNTED_ALARMS = 200;

export interface FlapDamping {
  holdMs: number;
  notice: { title: string; text: string } | null;
}

const NO_DAMPING: FlapDamping = { holdMs: 0, notice: null };

export async function dampAlarm(
  notes: Pick<Collection<StoredNotification>, 'find'>,
  channel: Pick<Channel, 'id' | 'flap_minutes'>,
  note: Pick<Notification, 'monitor' | 'topic' | 'title'>,
  event: { id: string; timestamp: string },
): Promise<FlapDamping> {
  if (channel.flap_minutes === 0 || note.topic !== 'monitor.down' || note.monitor === null) return NO_DAMPING;
  const windowMs = channel.flap_minutes * MINUTE_MS;
  const { items } = await notes.find({
    filter: {
      channel_id: channel.id,
      at: { gte: toIsoString(Date.parse(event.timestamp) - windowMs) },
      subject: note.monitor,
      event: { in: ['monitor.down', 'monitor.recovered'] },
      id: { ne: `${event.id}:${channel.id}` },
    },
    limit: MAX_COUNTED_ALARMS,
  });
  if (items.length === 0) return NO_DAMPING;
  const alarms = items.filter((one) => one.event === 'monitor.down' && one.phase !== 'reminder').length;
  const within = `${channel.flap_minutes} min`;
  const times = `It went down ${alarms + 1} times within ${within}.`;
  if (alarms !== MAX_DAMPED_ALARMS) return { holdMs: windowMs, notice: { title: note.title, text: times } };
  const title = note.title.replace(/ is down(?= · |$)/, ' is flapping');
  return {
    holdMs: 0,
    notice: { title, text: `${times} Further alerts are sent once the monitor stays down for ${within}.` },
  };
}
