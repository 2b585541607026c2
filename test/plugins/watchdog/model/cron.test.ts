/** Due times of cron expressions over both changes of daylight saving, as Vixie cron has them (contract 30). */
import { expect } from 'chai';
import { Cron } from 'croner';
import fc from 'fast-check';
import { checkCron, CronInvalid, nextDue } from '../../../../plugins/watchdog/model/cron.js';

/** Due times from `from` on, as minutes of UTC. */
function dues(expression: string, zone: string, from: string, n: number): string[] {
  const found: string[] = [];
  for (let at: number | null = Date.parse(from) - 1; found.length < n && at !== null;) {
    at = nextDue(expression, zone, at);
    if (at !== null) found.push(new Date(at).toISOString().slice(5, 16));
  }
  return found;
}

interface Case {
  says: string;
  expression: string;
  zone: string;
  from: string;
  dues: string[];
}

const BERLIN = 'Europe/Berlin';
const NEW_YORK = 'America/New_York';
/** Its clock moves by half an hour, in April and October. */
const LORD_HOWE = 'Australia/Lord_Howe';

const CASES: Case[] = [
  {
    says: 'a time that does not exist comes at the end of the gap',
    expression: '30 2 * * *',
    zone: BERLIN,
    from: '2026-03-28T00:00Z',
    dues: ['03-28T01:30', '03-29T01:00', '03-30T00:30'],
  },
  {
    says: 'a time that comes twice counts once, the first time',
    expression: '30 2 * * *',
    zone: BERLIN,
    from: '2026-10-24T00:00Z',
    dues: ['10-24T00:30', '10-25T00:30', '10-26T01:30'],
  },
  {
    says: 'every half hour has no gap in spring',
    expression: '*/30 * * * *',
    zone: BERLIN,
    from: '2026-03-29T00:00Z',
    dues: ['03-29T00:00', '03-29T00:30', '03-29T01:00', '03-29T01:30', '03-29T02:00'],
  },
  {
    says: 'every half hour goes on through the hour that comes twice',
    expression: '*/30 * * * *',
    zone: BERLIN,
    from: '2026-10-25T00:00Z',
    dues: ['10-25T00:00', '10-25T00:30', '10-25T01:00', '10-25T01:30', '10-25T02:00'],
  },
  {
    says: 'once an hour comes in both of them',
    expression: '15 * * * *',
    zone: BERLIN,
    from: '2026-10-25T00:00Z',
    dues: ['10-25T00:15', '10-25T01:15', '10-25T02:15'],
  },
  {
    says: 'a time that does not exist comes at the end of the gap',
    expression: '15 2 * * *',
    zone: NEW_YORK,
    from: '2026-03-07T00:00Z',
    dues: ['03-07T07:15', '03-08T07:00', '03-09T06:15'],
  },
  {
    says: 'a time that comes twice counts once, the first time',
    expression: '45 1 * * *',
    zone: NEW_YORK,
    from: '2026-10-31T00:00Z',
    dues: ['10-31T05:45', '11-01T05:45', '11-02T06:45'],
  },
  {
    says: 'every hour comes 25 times on the long day',
    expression: '0 * * * *',
    zone: NEW_YORK,
    from: '2026-11-01T04:00Z',
    dues: ['11-01T04:00', '11-01T05:00', '11-01T06:00', '11-01T07:00'],
  },
  {
    says: 'days keep their hour on the wall',
    expression: '@daily',
    zone: NEW_YORK,
    from: '2026-10-31T00:00Z',
    dues: ['10-31T04:00', '11-01T04:00', '11-02T05:00'],
  },
  {
    says: 'a gap of half an hour is made up for at its end',
    expression: '15 2 * * *',
    zone: LORD_HOWE,
    from: '2026-10-03T00:00Z',
    dues: ['10-03T15:30', '10-04T15:15'],
  },
  {
    says: 'half an hour that comes twice counts once',
    expression: '45 1 * * *',
    zone: LORD_HOWE,
    from: '2026-04-04T00:00Z',
    dues: ['04-04T14:45', '04-05T15:15'],
  },
  {
    says: 'a day of the month and a day of the week mean either of them',
    expression: '0 12 13 * 5',
    zone: 'UTC',
    from: '2026-10-01T00:00Z',
    dues: ['10-02T12:00', '10-09T12:00', '10-13T12:00', '10-16T12:00'],
  },
  {
    says: 'names of months and days, and 7 for Sunday',
    expression: '0 6 * NOV SUN,7',
    zone: 'UTC',
    from: '2026-11-01T00:00Z',
    dues: ['11-01T06:00', '11-08T06:00'],
  },
];

describe('cron expressions', () => {
  for (const { says, expression, zone, from, dues: wanted } of CASES)
    it(`${expression} in ${zone}, ${from.slice(0, 7)}: ${says}`, () => {
      expect(dues(expression, zone, from, wanted.length)).to.deep.equal(wanted);
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
    ['0 0 L * *', 5, /the day of the month at position 5/],
    ['0 0 * * MON#1', 9, /the day of the week at position 9/],
    ['@reboot', 1, /none of @hourly/],
    ['0 0 30 2 *', 5, /no month has/],
  ];
  for (const [expression, position, says] of WRONG)
    it(`refuses ${JSON.stringify(expression)} at position ${position}`, () => {
      const thrown = (): unknown => {
        try {
          return checkCron(expression, 'UTC');
        } catch (error) {
          return error;
        }
      };
      const error = thrown() as CronInvalid;
      expect(error).to.be.instanceOf(CronInvalid);
      expect(error.message).to.match(says);
      expect(error).to.include({ field: 'schedule', position });
    });

  it('refuses a time zone that is none', () => {
    expect(() => checkCron('@daily', 'Mars/Base')).to.throw(CronInvalid, /Mars\/Base/);
  });

  it('answers the same whatever was asked for before, over every change of daylight saving (property)', () => {
    const expressions = fc.constantFrom(
      '*/30 * * * *',
      '15 * * * *',
      '30 2 * * *',
      '45 1 * * *',
      '0 4 * * SUN',
      '@daily',
    );
    const changes = ['2026-03-08', '2026-03-29', '2026-04-04', '2026-10-03', '2026-10-25', '2026-11-01'];
    const times = fc.record({ day: fc.constantFrom(...changes), seconds: fc.integer({ min: 0, max: 200_000 }) });
    fc.assert(
      fc.property(
        expressions,
        fc.constantFrom(BERLIN, NEW_YORK, LORD_HOWE),
        fc.array(times, { minLength: 2, maxLength: 12 }),
        (expression, zone, asked) => {
          const fresh = new Cron(expression, { timezone: zone, paused: true, mode: '5-part' });
          for (const { day, seconds } of asked) {
            const at = Date.parse(day) + seconds * 1000;
            expect(nextDue(expression, zone, at), `${expression} ${zone} ${new Date(at).toISOString()}`).to.equal(
              fresh.nextRun(new Date(at))?.getTime(),
            );
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('takes any text without another error, and finds due times in order (property)', () => {
    const field = fc.oneof(
      fc.constant('*'),
      fc.integer({ min: -1, max: 70 }).map(String),
      fc.stringMatching(/^[\d*/,A-Z#L?-]{0,6}$/),
    );
    const expressions = fc.oneof(
      fc.array(field, { maxLength: 6 }).map((all) => all.join(' ')),
      fc.string(),
    );
    fc.assert(
      fc.property(expressions, fc.constantFrom(BERLIN, NEW_YORK, LORD_HOWE), (expression, zone) => {
        try {
          checkCron(expression, zone);
        } catch (error) {
          return error instanceof CronInvalid && error.position !== null && error.position <= expression.length + 1;
        }
        const first = nextDue(expression, zone, Date.parse('2026-03-28T12:00Z')) ?? 0;
        return first > Date.parse('2026-03-28T12:00Z') && (nextDue(expression, zone, first) ?? Infinity) > first;
      }),
      { numRuns: 300 },
    );
  });
});
