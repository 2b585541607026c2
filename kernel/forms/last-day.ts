import { toIsoString } from '../../lib/time.js';
import { invalid } from '../errors.js';

const DAY_PATTERN = /^[2-9]\d{3}-\d\d-\d\d$/;

/**
 * Whole seconds until the end of a day in UTC; null for an empty control.
 * @param day `2026-12-31`
 * @param now ms
 * @throws ServiceError validation_failed for an invalid or past day
 */
export function getSecondsUntil(day: string, now: number, control = 'expires_on'): number | null {
  const text = day.trim();
  if (text === '') return null;
  const end = DAY_PATTERN.test(text) ? Date.parse(`${text}T23:59:59.000Z`) : NaN;
  // JavaScript accepts February 31 as a day in March.
  if (Number.isNaN(end) || toIsoString(end).slice(0, 10) !== text) throw invalid({ [control]: 'Choose a day.' });
  if (end <= now) throw invalid({ [control]: 'This day is in the past: choose a future day.' });
  return Math.round((end - now) / 1000);
}
