/**
 * Local times of forms: the hour that is missing, the hour that comes twice, and every other one.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { toLocalTime, utcOfLocal } from '../../lib/local-time.js';

const MINUTE = 60_000;
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Sao_Paulo',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Lord_Howe', // half an hour of summer time
  'Australia/Adelaide',
  'Pacific/Apia', // left out 30 December 2011
  'Pacific/Chatham',
  'Africa/Casablanca',
  'America/St_Johns',
];
const zone = fc.constantFrom(...ZONES);
const instant = fc
  .integer({ min: Date.parse('1980-01-01T00:00Z') / MINUTE, max: Date.parse('2037-12-31T00:00Z') / MINUTE })
  .map((minutes) => minutes * MINUTE);

/** Every instant at which the zone's clock shows this minute. */
function shownAt(text: string, inZone: string): number[] {
  const near = Date.parse(`${text}Z`);
  const found: number[] = [];
  for (let ms = near - 26 * 60 * MINUTE; ms <= near + 26 * 60 * MINUTE; ms += 15 * MINUTE)
    if (toLocalTime(ms, inZone) === text) found.push(ms);
  return found;
}

describe('lib: local times', () => {
  it('converts an ordinary time', () => {
    expect(utcOfLocal('2026-11-20T09:15', 'Europe/Berlin')).to.equal('2026-11-20T08:15:00.000Z');
    expect(utcOfLocal('2026-07-20T09:15:30', 'Europe/Berlin')).to.equal('2026-07-20T07:15:30.000Z');
    expect(utcOfLocal('2026-07-20T09:15', 'Asia/Kathmandu')).to.equal('2026-07-20T03:30:00.000Z');
    expect(toLocalTime('2026-07-20T07:15:30.000Z', 'Europe/Berlin')).to.equal('2026-07-20T09:15');
  });

  it('resolves an ambiguous time to the first instant, or to the second on request', () => {
    expect(utcOfLocal('2026-10-25T02:30', 'Europe/Berlin')).to.equal('2026-10-25T00:30:00.000Z');
    expect(utcOfLocal('2026-10-25T02:30', 'Europe/Berlin', 'second')).to.equal('2026-10-25T01:30:00.000Z');
    expect(utcOfLocal('2026-10-25T03:00', 'Europe/Berlin', 'second')).to.equal('2026-10-25T02:00:00.000Z');
    expect(utcOfLocal('2026-11-01T01:30', 'America/New_York')).to.equal('2026-11-01T05:30:00.000Z');
    expect(utcOfLocal('2026-11-01T01:30', 'America/New_York', 'second')).to.equal('2026-11-01T06:30:00.000Z');
  });

  it('moves a nonexistent time forward by the clock change', () => {
    for (const which of ['first', 'second'] as const) {
      expect(utcOfLocal('2026-03-29T02:30', 'Europe/Berlin', which)).to.equal('2026-03-29T01:30:00.000Z');
      expect(utcOfLocal('2026-03-08T02:00', 'America/New_York', which)).to.equal('2026-03-08T07:00:00.000Z');
    }
    expect(toLocalTime('2026-03-29T01:30:00.000Z', 'Europe/Berlin')).to.equal('2026-03-29T03:30');
    const skipped = utcOfLocal('2011-12-30T12:00', 'Pacific/Apia') ?? '';
    expect(toLocalTime(skipped, 'Pacific/Apia')).to.equal('2011-12-31T12:00');
  });

  it('rejects an invalid date or time', () => {
    for (const text of [
      '',
      '2026-02-30T10:00',
      '2026-13-01T10:00',
      '2026-01-01T24:30',
      '2026-01-01T10:60',
      '2026-01-01',
      '2026-01-01 10:00',
      '2026-01-01T10:00Z',
      '2026-01-01T10:00+01:00',
      '1899-12-31T10:00',
      '0001-01-01T10:00',
      '20260-01-01T10:00',
    ])
      expect(utcOfLocal(text, 'Europe/Berlin'), text).to.equal(null);
    expect(() => utcOfLocal('2026-01-01T10:00', 'Europe/Nowhere')).to.throw(RangeError);
    expect(() => toLocalTime('never', 'UTC')).to.throw(RangeError);
  });

  it('converts every instant to local time and back, as the first or the second (property)', () => {
    fc.assert(
      fc.property(instant, zone, (ms, inZone) => {
        const text = toLocalTime(ms, inZone);
        const [first, second] = [utcOfLocal(text, inZone), utcOfLocal(text, inZone, 'second')];
        expect([first, second]).to.include(new Date(ms).toISOString());
        expect(Date.parse(first ?? '')).to.be.at.most(Date.parse(second ?? ''));
        for (const found of [first, second]) expect(toLocalTime(found ?? '', inZone)).to.equal(text);
      }),
      { numRuns: 2_000 },
    );
  });

  it('matches a search of all instants around every clock change (property)', () => {
    const days = ['2026-03-29', '2026-10-25', '2026-03-08', '2026-11-01', '2026-04-05', '2026-10-04', '2011-12-30'];
    const quarter = fc.integer({ min: 0, max: 95 }).map((n) => {
      const at = (part: number): string => String(part).padStart(2, '0');
      return `${at(Math.floor(n / 4))}:${at((n % 4) * 15)}`;
    });
    fc.assert(
      fc.property(fc.constantFrom(...days), quarter, zone, (day, time, inZone) => {
        const text = `${day}T${time}`;
        const all = shownAt(text, inZone);
        const [first, second] = [utcOfLocal(text, inZone), utcOfLocal(text, inZone, 'second')].map((one) =>
          Date.parse(one ?? ''),
        );
        if (all.length > 0) expect([first, second]).to.deep.equal([all[0], all.at(-1)]);
        else expect(toLocalTime(first ?? 0, inZone) > text && first === second).to.equal(true);
      }),
      { numRuns: 300 },
    );
  });
});
