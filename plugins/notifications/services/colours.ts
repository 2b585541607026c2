/** Colours and priorities of severities, as receivers want them. Pure. */
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

/** Green is for what is well again; an alarm that ended otherwise is grey. */
export function getColour({ phase, severity }: Pick<MessageLine, 'phase' | 'severity'>): string {
  if (phase === 'recovered') return GREEN;
  return isEnd({ phase }) ? GREY : COLOURS[severity];
}

/** 5 most urgent, 2 least: ntfy's. */
export const PRIORITIES: Readonly<Record<NoteSeverity, number>> = { critical: 5, high: 4, medium: 3, low: 2 };
