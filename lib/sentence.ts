/**
 * Faults of fields are fragments at the interface (`is required`, `must be a number`); people read whole sentences.
 * Pure.
 */

const PREDICATE = /^(?:is|are|must|may|cannot|can|has|have|holds|names|needs)\b/;

/**
 * `sentenceOf('is required', 'Reason')` → `Reason is required.`; a text that says its subject itself only gets its
 * capital letter and its full stop.
 */
export function formatSentence(fragment: string, subject = 'This'): string {
  const text = fragment.trim().replaceAll('`', '');
  if (text === '') return '';
  const whole = PREDICATE.test(text) ? `${subject} ${text}` : text;
  return `${whole.charAt(0).toUpperCase()}${whole.slice(1)}${/[.!?]$/.test(whole) ? '' : '.'}`;
}
