import { isEnd, type MessageLine } from '../notes/message.js';
import type { NoteSeverity } from '../notes/note.js';

const COLOURS: Readonly<Record<NoteSeverity, string>> = {
  critical: '#b3173c',
  high: '#d1492e',
  medium: '#d18a12',
  low: '#3f83d6',
};
const GREEN = '#2f9e5f';
const GREY = '#7a8783';

/** Green for recovery, gray for an alarm that ended otherwise. */
export function getColour({ phase, severity }: Pick<MessageLine, 'phase' | 'severity'>): string {
  if (phase === 'recovered') return GREEN;
  return isEnd({ phase }) ? GREY : COLOURS[severity];
}

/** ntfy: 5 is most urgent. */
export const PRIORITIES: Readonly<Record<NoteSeverity, number>> = { critical: 5, high: 4, medium: 3, low: 2 };
