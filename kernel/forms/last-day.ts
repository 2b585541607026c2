/** The last day of something as a form gives it (`<input type="date">`): it ends with the day, in UTC. Pure. */
import { isoOf } from '../../lib/time.js';
import { invalid } from '../errors.js';

const DAY = /^[2-9]\d{3}-\d\d-\d\d$/;

/**
 * Whole seconds from now until the end of a day; null for an empty control.
 * @param day `2026-12-31`
 * @param now ms
 * @param control that a fault is told of
 * @throws ServiceError validation_failed: no day, or one that is over
 */
export function secondsUntil(day: string, now: number, control = 'expires_on'): number | null {
  const text = day.trim();
  if (text === '') return null;
  const end = DAY.test(text) ? Date.parse(`${text}T23:59:59.000Z`) : NaN;
  // JavaScript takes the 31st of February for a day in March.
  if (Number.isNaN(end) || isoOf(end).slice(0, 10) !== text) throw invalid({ [control]: 'Choose a day.' });
  if (end <= now) throw invalid({ [control]: 'This day is over: choose one that is still to come.' });
  return Math.round((end - now) / 1000);
}
