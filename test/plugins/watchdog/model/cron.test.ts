/**
 * Due times of cron expressions over both changes of daylight saving, as Vixie cron has them
 * (contract 30).
 */
import { expect } from 'chai';
import { Cron } from 'croner';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getUtcOffset } from '../../../../lib/local-time.js';
import { DAY_MS } from '../../../../lib/time.js';
import { projectRoot } from '../../../architecture/tree.js';
import { validateCron, CronInvalid, getNextDue } from '../../../../plugins/watchdog/model/cron.js';

/** Due times from `from` on, as minutes of UTC. */
function dues(expression: string, zone: string, from: string, n: number): string[] {
  const found: string[] = [];
  for (let at: number | null = Date.parse(from) - 1; found.length < n && at !== null;) {
    at = getNextDue(expression, zone, at);
    if (at !== null) found.push(new Date(at).toISOString().slice(5, 16));
  }
  return found;
}

const BERLIN = 'Europe/Berlin';
const NEW_YORK = 'America/New_York';
/** Its clock moves by half an hour, in April and October. */
const LORD_HOWE = 'Australia/Lord_Howe';

/** The table of the guide: expression, zone, first minute that counts, due times. */
const GUIDE = readFileSync(join(projectRoot(), 'docs/schedules.md'), 'utf8');
const CASES = [
  ...GUIDE.matchAll(/^\| `([^`]+)` +\| ([\w/]+) +\| (\d{4}-\d\d-\d\d) +\| ((?:\d\d-\d\d \d\d:\d\d(?:, )?)+) +\|/gm),
].map(([, expression = '', zone = '', from = '', wanted = '']) => ({
  expression,
  zone,
  from,
  wanted: wanted
    .trim()
    .split(', ')
    .map((at) => at.replace(' ', 'T')),
}));

const HALF_HOUR = 1_800_000;

/**
 * Every due time within some days, minute by minute, by the rule alone; clocks move on half hours.
 */
function expected(expression: string, zone: string, from: number, days: number): number[] {
  const [minute = '', hour = ''] = expression.split(' ');
  const end = from + days * DAY_MS;
  const locals = new Set<number>();
  const times = new Cron(expression, { timezone: 'UTC', paused: true, mode: '5-part' });
  for (let at = times.nextRun(new Date(from - 2 * DAY_MS)); at !== null && at.getTime() < end + 2 * DAY_MS;) {
    locals.add(at.getTime());
    at = times.nextRun(at);
  }
  const offsets = new Map<number, number>();
  const localOf = (at: number): number => {
    const slot = Math.floor(at / HALF_HOUR) * HALF_HOUR;
    const offset = offsets.get(slot) ?? getUtcOffset(slot, zone);
    offsets.set(slot, offset);
    return at + offset;
  };
  const found: number[] = [];
  const seen = new Set<number>();
  for (let at = Math.floor(from / 60_000) * 60_000 - DAY_MS; at < end; at += 60_000) {
    const local = localOf(at);
    const named = [local];
    for (let gap = localOf(at - 60_000) + 60_000; gap < local; gap += 60_000) named.push(gap);
    const followsClock = minute.startsWith('*') || hour.startsWith('*');
    const due = followsClock ? locals.has(local) : named.some((one) => locals.has(one) && !seen.has(one));
    named.forEach((one) => seen.add(one));
    if (due && at > from) found.push(at);
  }
  return found;
}

describe('cron expressions', () => {
  it('are listed as a table in the guide', () => {
    expect(CASES.length).to.be.at.least(15);
  });

  for (const { expression, zone, from, wanted } of CASES)
    it(`${expression} in ${zone} from ${from} is due as the guide states`, () => {
      expect(dues(expression, zone, `${from}T00:00Z`, wanted.length)).to.deep.equal(wanted);
    });

  const WRONG: [expression: string, position: number, says: RegExp][] = [
    ['', 1, /0 of 5 fields: the minute is missing at position 1/],
    ['0 2 * *', 8, /the day of the week is missing at position 8/],
    ['0 2 * * * *', 11, /a sixth field at position 11/],
    ['60 * * * *', 1, /the minute at position 1/],
    ['0 24 * * *', 3, /the hour at position 3/],
    ['0 0 32 * *', 5, /the day of the month at position 5/],
    ['0 0 * foo *', 7, /the month at position 7/],
    ['0 0 * * 8', 9, /the day of the week at position 9/],
    ['*/0 * * * *', 1, /the minute at position 1/],
    ['5,, * * * *', 1, /the minute at position 1/],
    ['0 0 L-2 * *', 5, /the day of the month at position 5/],
    ['0 0 * * MON#9', 9, /the day of the week at position 9/],
    ['0 0 ? * *', 5, /the day of the month at position 5/],
    ['L * * * *', 1, /the minute at position 1/],
    ['@reboot', 1, /one of @hourly/],
    ['0 0 30 2 *', 5, /no month has/],
  ];
  for (const [expression, position, says] of WRONG)
    it(`rejects ${JSON.stringify(expression)} at position ${position}`, () => {
      const thrown = (): unknown => {
        try {
          return validateCron(expression, 'UTC');
        } catch (error) {
          return error;
        }
      };
      const error = thrown() as CronInvalid;
      expect(error).to.be.instanceOf(CronInvalid);
      expect(error.message).to.match(says);
      expect(error).to.include({ field: 'schedule', position });
    });

  it('reject an unknown time zone', () => {
    expect(() => validateCron('@daily', 'Mars/Base')).to.throw(CronInvalid, /Mars\/Base/);
  });

  it('are due at the specified times across daylight saving changes, for any start (property)', () => {
    const minutes = ['*', '*/20', '15', '15,45', '0-59/15', '5-10'];
    const hours = ['*', '*/2', '2', '2,14', '1-3', '0-23/2'];
    const changes = ['2026-03-08', '2026-03-29', '2026-04-04', '2026-10-03', '2026-10-25', '2026-11-01'];
    fc.assert(
      fc.property(
        fc.constantFrom(...minutes),
        fc.constantFrom(...hours),
        fc.constantFrom(BERLIN, NEW_YORK, LORD_HOWE),
        fc.constantFrom(...changes),
        fc.integer({ min: -1_000, max: 1_000 }),
        (minute, hour, zone, day, shift) => {
          const expression = `${minute} ${hour} * * *`;
          const from = Date.parse(day) + shift * 60_000;
          const wanted = expected(expression, zone, from, 2);
          const found: number[] = [];
          for (let at = getNextDue(expression, zone, from); at !== null && at < from + 2 * DAY_MS;)
            at = getNextDue(expression, zone, (found.push(at), at));
          expect(found, `${expression} ${zone} ${new Date(from).toISOString()}`).to.deep.equal(wanted);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('parse or reject any text, and return due times in order (property)', () => {
    const field = fc.oneof(
      fc.constant('*'),
      fc.integer({ min: -1, max: 70 }).map(String),
      fc.stringMatching(/^[\d*/,A-Z#LW?-]{0,6}$/),
    );
    const expressions = fc.oneof(
      fc.array(field, { maxLength: 6 }).map((all) => all.join(' ')),
      fc.string(),
    );
    fc.assert(
      fc.property(expressions, fc.constantFrom(BERLIN, NEW_YORK, LORD_HOWE), (expression, zone) => {
        try {
          validateCron(expression, zone);
        } catch (error) {
          return error instanceof CronInvalid && error.position !== null && error.position <= expression.length + 1;
        }
        const first = getNextDue(expression, zone, Date.parse('2026-03-28T12:00Z')) ?? 0;
        return first > Date.parse('2026-03-28T12:00Z') && (getNextDue(expression, zone, first) ?? Infinity) > first;
      }),
      { numRuns: 300 },
    );
  });
});
