/** One message of the notifications that are due: one by itself, or several in a digest. Pure. */
import { createHash } from 'node:crypto';
import type { Scalar } from '../../../ports/store.js';
import { formatLocalTime } from './local-times.js';
import { SEVERITIES, type NotePhase, type NoteSeverity } from './note.js';
import { getPhase, type StoredNote } from './stored-note.js';

export interface MessageLine {
  /** The same for all notifications of one fault. */
  key: string;
  event: string;
  phase: NotePhase;
  severity: NoteSeverity;
  title: string;
  text: string;
  url: string;
  /** RFC 3339. */
  at: string;
  /** The same for people, in the channel's time zone. */
  when: string;
  details: Readonly<Record<string, Scalar>>;
}

export interface Message {
  /** The same whenever the same notifications are sent again, so that a receiver can recognize a repeat. */
  id: string;
  subject: string;
  severity: NoteSeverity;
  lines: MessageLine[];
  /** The service's start page. */
  url: string;
}

/** A notification that a message can be made of. */
export type MessageSource = Pick<
  StoredNote,
  'id' | 'event' | 'severity' | 'title' | 'text' | 'url' | 'at' | 'fault' | 'end' | 'phase' | 'details'
>;

/** Whether it reports the end of a fault. */
export const isEnd = ({ phase }: Pick<MessageLine, 'phase'>): boolean => phase === 'recovered' || phase === 'closed';

/** @param notes at least one, oldest first @param zone IANA name */
export function buildMessage(notes: readonly MessageSource[], baseUrl: string, zone: string): Message {
  const base = baseUrl.replace(/\/$/, '');
  const lines = notes.map((note): MessageLine => ({
    key: note.fault ?? note.id,
    event: note.event,
    phase: getPhase(note),
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
