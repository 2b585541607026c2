import type { Channel } from '../channels/channel.js';
import { NOTIFICATION_STATES, type RecipientResult, type StoredNotification } from '../notes/stored-notification.js';

export const DELIVERY_STATES = [...NOTIFICATION_STATES, 'held'] as const;

export interface RecipientReader {
  readRecipients(note: Pick<StoredNotification, 'recipients'>): RecipientResult[] | null;
}

export function toDeliveryView(
  note: StoredNotification,
  { enabled }: Pick<Channel, 'enabled'>,
  reader: RecipientReader,
) {
  const { id, event, severity, title, text, url, at, attempts, send_at, sent_at, error } = note;
  const isWaiting = note.state === 'waiting';
  return {
    id,
    event,
    severity,
    title,
    text,
    url,
    at,
    state: isWaiting && !enabled ? ('held' as const) : note.state,
    attempts,
    next_attempt_at: isWaiting && enabled ? send_at : null,
    sent_at,
    error,
    recipients: reader.readRecipients(note) ?? [],
  };
}
