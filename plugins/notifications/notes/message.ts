import { createHash } from 'node:crypto';
import type { Scalar } from '../../../ports/store.js';
import { formatLocalTime } from './local-times.js';
import { SEVERITIES, type NotePhase, type NoteSeverity } from './note.js';
import { getPhase, type StoredNote } from './stored-note.js';

export interface MessageLine {
  key: string;
  event: string;
  phase: NotePhase;
  severity: NoteSeverity;
  title: string;
  text: string;
  url: string;
  at: string;
  /** `at` as local time of the channel. */
  when: string;
  details: Readonly<Record<string, Scalar>>;
}

export interface Message {
  /** Stable across retries, so that a receiver can deduplicate. */
  id: string;
  subject: string;
  severity: NoteSeverity;
  lines: MessageLine[];
  url: string;
}

export type MessageSource = Pick<
  StoredNote,
  'id' | 'event' | 'severity' | 'title' | 'text' | 'url' | 'at' | 'fault' | 'end' | 'phase' | 'details'
>;

export const isEnd = ({ phase }: Pick<MessageLine, 'phase'>): boolean => phase === 'recovered' || phase === 'closed';

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
