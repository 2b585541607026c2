import { createHash } from 'node:crypto';
import type { Scalar } from '../../../ports/store/index.js';
import { formatLocalTime } from './local-times.js';
import { SEVERITIES, type NotificationPhase, type NotificationSeverity } from './note.js';
import { getNotificationPhase, type StoredNotification } from './stored-notification.js';

export interface MessageLine {
  key: string;
  event: string;
  phase: NotificationPhase;
  severity: NotificationSeverity;
  title: string;
  text: string;
  url: string;
  at: string;
  /** Local time of the channel. */
  when: string;
  details: Readonly<Record<string, Scalar>>;
}

export interface NotificationMessage {
  /** Stable across retries, for deduplication. */
  id: string;
  subject: string;
  severity: NotificationSeverity;
  lines: MessageLine[];
  url: string;
}

export type MessageSource = Pick<
  StoredNotification,
  'id' | 'event' | 'severity' | 'title' | 'text' | 'url' | 'at' | 'fault' | 'end' | 'phase' | 'details'
>;

export const isEndOfFault = ({ phase }: Pick<MessageLine, 'phase'>): boolean =>
  phase === 'recovered' || phase === 'closed';

export function buildMessage(notes: readonly MessageSource[], baseUrl: string, zone: string): NotificationMessage {
  const base = baseUrl.replace(/\/$/, '');
  const lines = notes.map((note): MessageLine => ({
    key: note.fault ?? note.id,
    event: note.event,
    phase: getNotificationPhase(note),
    severity: note.severity,
    title: note.title,
    text: note.text,
    url: base + note.url,
    at: note.at,
    when: formatLocalTime(note.at, zone),
    details: note.details ?? {},
  }));
  const [first] = lines;
  const severity = SEVERITIES.find((one) => notes.some((note) => note.severity === one)) ?? 'low';
  const subject = notes.length === 1 && first ? first.title : `${notes.length} notifications: ${first?.title ?? ''} …`;
  const id = createHash('sha256')
    .update(notes.map((note) => note.id).join('\n'))
    .digest('hex')
    .slice(0, 32);
  return { id, subject, severity, lines, url: `${base}/` };
}
