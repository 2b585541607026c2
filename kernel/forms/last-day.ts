import { isoOf } from '../../lib/time.js';
import { invalid } from '../errors.js';

const DAY = /^[2-9]\d{3}-\d\d-\d\d$/;

/**
 * Returns the whole seconds until the end of a day in UTC, as a date control gives it; null for an
 * empty control.
 * @param day `2026-12-31`
 * @param now ms
 * @param control name used in errors
 * @throws ServiceError validation_failed for an invalid or past day
 */
export function secondsUntil(day: string, now: number, control = 'expires_on'): number | null {
  const text = day.trim();
  if (text === '') return null;
  const end = DAY.test(text) ? Date.parse(`${text}T23:59:59.000Z`) : NaN;
  // JavaScript accepts February 31 as a day in March.
  if (Number.isNaN(end) || isoOf(end).slice(0, 10) !== text) throw invalid({ [control]: 'Choose a day.' });
  if (end <= now) throw invalid({ [control]: 'This day is over: choose one that is still to come.' });
  return Math.round((end - now) / 1000);
}
