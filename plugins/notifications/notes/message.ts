/** One message from the notes that are due: a note by itself, or several summed up. Pure. */
import { createHash } from 'node:crypto';
import { SEVERITIES, type NoteSeverity } from './note.js';

/** Notes that are listed in one message; what is beyond is counted. */
export const MOST_LISTED = 20;

export interface MessageLine {
  severity: NoteSeverity;
  title: string;
  text: string;
  url: string;
  /** RFC 3339. */
  at: string;
  /** The end of what an earlier note said. */
  end: boolean;
}

export interface Message {
  /** The same whenever the same notes are sent again, so that a receiver can tell a repeat. */
  id: string;
  subject: string;
  severity: NoteSeverity;
  lines: MessageLine[];
  /** Notes that are not listed. */
  more: number;
  /** Where everything is to be seen. */
  url: string;
}

/** @param notes at least one, oldest first, with their ids */
export function messageOf(notes: readonly (MessageLine & { id: string })[], baseUrl: string): Message {
  const base = baseUrl.replace(/\/$/, '');
  const lines = notes.slice(0, MOST_LISTED).map(({ severity, title, text, url, at, end }) => {
    return { severity, title, text, url: base + url, at, end };
  });
  const [first] = lines;
  const severity = SEVERITIES.find((one) => notes.some((note) => note.severity === one)) ?? 'low';
  const subject = notes.length === 1 && first ? first.title : `${notes.length} notifications: ${first?.title ?? ''} …`;
  const id = createHash('sha256')
    .update(notes.map((note) => note.id).join('\n'))
    .digest('hex')
    .slice(0, 32);
  return { id, subject, severity, lines, more: notes.length - lines.length, url: `${base}/` };
}
