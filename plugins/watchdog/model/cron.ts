/**
 * Five fields or a name such as `@daily`, in a time zone (contract 30, beyond the specification and
 * amendments). Daylight saving as in Vixie cron (due-times.ts).
 */
import { Cron } from 'croner';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { isTimeZone } from '../../../lib/local-time.js';
import { findDueAfter, type CronPattern } from './due-times.js';

export const CRON_NICKNAMES = [
  '@hourly',
  '@daily',
  '@midnight',
  '@weekly',
  '@monthly',
  '@yearly',
  '@annually',
] as const;
const MAX_EXPRESSION_CHARACTERS = 200;
const FIELD_PATTERN = /^(?:[\d*/,#LW-]|[A-Za-z]{3})+$/;
const ANY_VALUE = '*';
const FIELD_NAMES = ['minute', 'hour', 'day of the month', 'month', 'day of the week'] as const;

export class CronInvalid extends Error {
  override name = 'CronInvalid';
  constructor(
    readonly field: 'schedule' | 'timezone',
    message: string,
    /** Of the first invalid character, from 1; null for a time zone. */
    readonly position: number | null,
  ) {
    super(message);
  }
}

interface CachedPattern {
  pattern: CronPattern;
  /** The first due time after `after`, or null. */
  after: number;
  due: number | null;
}

const patternCache = new BoundedMap<CachedPattern>({ most: 5_000 });

/** As in Vixie cron: both day fields when one begins with `*`, otherwise either. */
function getPattern(expression: string): CronPattern {
  const [minute = '', hour = '', day = '', , weekday = ''] = (expression === '@hourly' ? '0 * * * *' : expression)
    .trim()
    .split(/\s+/);
  const domAndDow = day.startsWith(ANY_VALUE) || weekday.startsWith(ANY_VALUE);
  return {
    times: new Cron(expression, { timezone: 'UTC', paused: true, mode: '5-part', domAndDow }),
    followsWallClock: minute.startsWith(ANY_VALUE) || hour.startsWith(ANY_VALUE),
  };
}

/** @throws CronInvalid */
export function validateCron(expression: string, timezone: string): void {
  if (!isTimeZone(timezone)) throw new CronInvalid('timezone', `${timezone.slice(0, 64)} is not a time zone`, null);
  if (expression.length > MAX_EXPRESSION_CHARACTERS)
    throw new CronInvalid(
      'schedule',
      `is longer than ${MAX_EXPRESSION_CHARACTERS} characters`,
      MAX_EXPRESSION_CHARACTERS + 1,
    );
  if ((CRON_NICKNAMES as readonly string[]).includes(expression)) return;
  if (expression.startsWith('@'))
    throw new CronInvalid('schedule', `the name at position 1 must be one of ${CRON_NICKNAMES.join(', ')}`, 1);
  const fields = [...expression.matchAll(/\S+/g)];
  fields.forEach(({ 0: text, index }, i) => validateField(text, i, index + 1));
  if (fields.length < FIELD_NAMES.length)
    throw new CronInvalid(
      'schedule',
      `has ${fields.length} of 5 fields: the ${FIELD_NAMES[fields.length]} is missing at position ${expression.length + 1}`,
      expression.length + 1,
    );
  if (getPattern(expression).times.nextRun() === null)
    throw new CronInvalid('schedule', 'contains a day that no month has', (fields[2]?.index ?? 0) + 1);
}

function validateField(text: string, i: number, position: number): void {
  const name = FIELD_NAMES[i];
  if (name === undefined) throw new CronInvalid('schedule', `has a sixth field at position ${position}`, position);
  const fault = `the ${name} at position ${position} is not valid`;
  if (!FIELD_PATTERN.test(text)) throw new CronInvalid('schedule', fault, position);
  try {
    getPattern(FIELD_NAMES.map((_, at) => (at === i ? text : ANY_VALUE)).join(' '));
  } catch {
    throw new CronInvalid('schedule', fault, position);
  }
}

/**
 * Returns ms since 1970, or null; the last result is cached.
 * @param expression a validated one (`validateCron`)
 * @throws Error when the system no longer supports the time zone
 */
export function getNextDue(expression: string, timezone: string, after: number): number | null {
  const key = `${timezone} ${expression}`;
  const known = patternCache.get(key);
  if (known !== undefined && known.after <= after && (known.due === null || after < known.due)) return known.due;
  const pattern = known?.pattern ?? getPattern(expression);
  const due = findDueAfter(pattern, timezone, after);
  patternCache.set(key, { pattern, after, due });
  return due;
}
