import type { Channel } from '../channels/channel.js';
import { NOTE_STATES, type RecipientResult, type StoredNote } from '../notes/stored-note.js';

export const DELIVERY_STATES = [...NOTE_STATES, 'held'] as const;

export interface DeliveryReader {
  readRecipients(note: Pick<StoredNote, 'recipients'>): RecipientResult[] | null;
}

export function toDeliveryView(note: StoredNote, { enabled }: Pick<Channel, 'enabled'>, reader: DeliveryReader) {
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
