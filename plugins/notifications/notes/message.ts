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
  /** The page of a single alert, or the start page. */
  url: string;
}

export type MessageSource = Pick<
  StoredNotification,
  'id' | 'event' | 'severity' | 'title' | 'text' | 'url' | 'at' | 'fault' | 'end' | 'phase' | 'details'
>;

export const isEndOfFault = ({ phase }: Pick<MessageLine, 'phase'>): boolean =>
  phase === 'recovered' || phase === 'closed';

const MONITOR_ADVICE = 'Acknowledge it or silence it in AOS.';
/** What to do about an event that has begun. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['monitor.down', MONITOR_ADVICE],
  ['monitor.warning', MONITOR_ADVICE],
  ['monitor.certificate_expiring', 'Renew the certificate.'],
  ['bug.created', 'Assign it or mute it in AOS.'],
  ['bug.critical', 'Assign it in AOS.'],
  ['feature.created', 'Reply or plan it in AOS.'],
  ['error.rate_exceeded', 'Open the issue, or raise its limit.'],
  ['release.halted', 'Resume the rollout, or publish a fix.'],
  ['release.rolled_back', 'Publish a fix.'],
  ['webhook.disabled', 'Fix the receiver, then enable the webhook.'],
  ['channel.disabled', 'Fix the receiver, then enable the channel.'],
]);

function addAdvice({ text, event }: MessageSource, phase: NotificationPhase): string {
  const advice = phase === 'begin' || phase === 'reminder' ? ADVICE.get(event) : undefined;
  return [text, advice].filter(Boolean).join(' ');
}

export function buildMessage(notes: readonly MessageSource[], baseUrl: string, zone: string): NotificationMessage {
  const base = baseUrl.replace(/\/$/, '');
  const lines = notes.map((note): MessageLine => {
    const phase = getNotificationPhase(note);
    return {
      key: note.fault ?? note.id,
      event: note.event,
      phase,
      severity: note.severity,
      title: note.title,
      text: addAdvice(note, phase),
      url: base + note.url,
      at: note.at,
      when: formatLocalTime(note.at, zone),
      details: note.details ?? {},
    };
  });
  const [first] = lines;
  const severity = SEVERITIES.find((one) => notes.some((note) => note.severity === one)) ?? 'low';
  const subject = notes.length === 1 && first ? first.title : `${notes.length} alerts: ${first?.title ?? ''} …`;
  const id = createHash('sha256')
    .update(notes.map((note) => note.id).join('\n'))
    .digest('hex')
    .slice(0, 32);
  return { id, subject, severity, lines, url: notes.length === 1 && first ? first.url : `${base}/` };
}
