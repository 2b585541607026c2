/** Instants as text (contract 00, names). */
import { expect } from 'chai';
import fc from 'fast-check';
import { toIsoDay, toIsoString, isTimestamp, normalizeTime } from '../../lib/time.js';

describe('lib: time', () => {
  it('formats UTC with milliseconds', () => {
    expect(toIsoString(0)).to.equal('1970-01-01T00:00:00.000Z');
    expect(toIsoDay(86_399_999)).to.equal('1970-01-01');
  });

  it('formats the same values as Date, and rejects the same values', () => {
    const near = fc.integer({ min: Date.UTC(2026, 10, 20), max: Date.UTC(2026, 10, 22) });
    const any = fc.integer({ min: -8.64e15, max: 8.64e15 });
    const edges = fc.constantFrom(-8.64e15, -1, -0.5, 0, 0.5, 86_399_999, 86_400_000, 1e12 + 0.25, 8.64e15);
    fc.assert(fc.property(fc.oneof(near, any, edges), (ms) => toIsoString(ms) === new Date(ms).toISOString()));
    for (const ms of [NaN, Infinity, -8.64e15 - 1, 8.64e15 + 1]) expect(() => toIsoString(ms)).to.throw(RangeError);
    expect(toIsoString(8.64e15)).to.equal('+275760-09-13T00:00:00.000Z');
    expect(() => toIsoString(8.64e15 + 1)).to.throw(RangeError);
  });

  it('formats every spelling of an instant identically', () => {
    for (const text of ['2026-11-20T08:15:30.123Z', '2026-11-20T09:15:30.123+01:00', '2026-11-20 08:15:30.123Z'])
      expect(normalizeTime(text), text).to.equal('2026-11-20T08:15:30.123Z');
    expect(normalizeTime('2026-11-20')).to.equal('2026-11-20T00:00:00.000Z');
  });

  for (const bad of ['', 'yesterday', '2026-13-01T00:00:00Z', '2026-02-30T00:00:00Z', '2026-11-20T25:00:00Z'])
    it(`rejects ${JSON.stringify(bad)}`, () => {
      expect(normalizeTime(bad)).to.equal(null);
      expect(isTimestamp(bad)).to.equal(false);
    });

  it('accepts only RFC 3339 timestamps with a time zone', () => {
    for (const good of ['2026-11-20T08:15:30Z', '2026-11-20t08:15:30.123456789z', '2026-11-20T08:15:30-08:00'])
      expect(isTimestamp(good), good).to.equal(true);
    for (const bad of ['2026-02-30T00:00:00Z', '2026-11-31T00:00:00Z', '2027-02-29T00:00:00Z'])
      expect(isTimestamp(bad), bad).to.equal(false);
    for (const good of ['2028-02-29T23:59:59Z', '2026-12-31T00:30:00+02:00', '2026-01-30T00:00:00-11:00'])
      expect(isTimestamp(good), good).to.equal(true);
    for (const bad of [
      '2026-11-20',
      '2026-11-20T08:15:30',
      '2026-11-20T24:00:00Z',
      '20 Nov 2026 08:15:30 Z',
      '2026-11-20T08:15:30Z\n',
    ])
      expect(isTimestamp(bad), bad).to.equal(false);
  });

  it('accepts only days that exist in their month, in any spelling', () => {
    const part = (max: number): fc.Arbitrary<number> => fc.integer({ min: 0, max });
    const two = (n: number): string => String(n).padStart(2, '0');
    const clock = fc.constantFrom('', 'T00:00:00Z', 't23:59:59.9z', ' 08:15:30+00:00', 'T08:15');
    fc.assert(
      fc.property(fc.integer({ min: 1970, max: 2400 }), part(13), part(32), clock, (year, month, day, rest) => {
        const date = `${year}-${two(month)}-${two(day)}`;
        const exists = month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
        const read = normalizeTime(date + rest);
        expect(read?.slice(0, 10) ?? null, date + rest).to.equal(exists ? date : null);
        if (/[zZ]$/.test(rest)) expect(isTimestamp(date + rest), date + rest).to.equal(exists);
      }),
    );
    for (const other of ['30 Feb 2026', '2026/02/30', '2026-2-30', '02/30/2026', '+002026-02-30T00:00:00Z', '2026'])
      expect(normalizeTime(other), other).to.equal(null);
  });

  it('sorts texts in the same order as instants', () => {
    const instant = fc.integer({ min: 0, max: 253_402_300_799_999 });
    fc.assert(fc.property(instant, instant, (a, b) => a < b === toIsoString(a) < toIsoString(b)));
  });
});
