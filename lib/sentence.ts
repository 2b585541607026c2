/**
 * Field errors are fragments in the API (`is required`, `must be a number`); pages show sentences.
 */

const PREDICATE_PATTERN = /^(?:is|are|must|may|cannot|can|has|have|holds|names|needs)\b/;

export const capitalize = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** Formats `is required`, `Reason` → `Reason is required.` */
export function formatSentence(fragment: string, subject = 'This'): string {
  const text = fragment.trim().replaceAll('`', '');
  if (text === '') return '';
  if (text === 'is required' || text === 'Required') return 'Required';
  const whole = PREDICATE_PATTERN.test(text) ? `${subject} ${text}` : text;
  return `${capitalize(whole)}${/[.!?]$/.test(whole) ? '' : '.'}`;
}
