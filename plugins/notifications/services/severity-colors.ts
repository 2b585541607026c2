import { isEndOfFault, type MessageLine } from '../notes/message.js';
import type { NotificationSeverity } from '../notes/note.js';

const SEVERITY_COLORS: Readonly<Record<NotificationSeverity, string>> = {
  critical: '#b3173c',
  high: '#d1492e',
  medium: '#d18a12',
  low: '#3f83d6',
};
const RECOVERED_COLOR = '#2f9e5f';
const CLOSED_COLOR = '#7a8783';

/** Gray for an alarm that ended otherwise. */
export function getSeverityColor({ phase, severity }: Pick<MessageLine, 'phase' | 'severity'>): string {
  if (phase === 'recovered') return RECOVERED_COLOR;
  return isEndOfFault({ phase }) ? CLOSED_COLOR : SEVERITY_COLORS[severity];
}

export const NTFY_PRIORITIES: Readonly<Record<NotificationSeverity, number>> = {
  critical: 5,
  high: 4,
  medium: 3,
  low: 2,
};
