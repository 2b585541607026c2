/** Instants as text (contract 00, names). */
import { expect } from 'chai';
import fc from 'fast-check';
import { dayOf, isoOf, isTimestamp, normalizedTime } from '../../lib/time.js';

describe('lib: time', () => {
  it('writes UTC with milliseconds', () => {
    expect(isoOf(0)).to.equal('1970-01-01T00:00:00.000Z');
    expect(dayOf(86_399_999)).to.equal('1970-01-01');
  });

  it('gives every spelling of an instant one text', () => {
    for (const text of ['2026-11-20T08:15:30.123Z', '2026-11-20T09:15:30.123+01:00', '2026-11-20 08:15:30.123Z'])
      expect(normalizedTime(text), text).to.equal('2026-11-20T08:15:30.123Z');
    expect(normalizedTime('2026-11-20')).to.equal('2026-11-20T00:00:00.000Z');
  });

  for (const bad of ['', 'yesterday', '2026-13-01T00:00:00Z', '2026-11-20T25:00:00Z'])
    it(`reads no time in ${JSON.stringify(bad)}`, () => {
      expect(normalizedTime(bad)).to.equal(null);
      expect(isTimestamp(bad)).to.equal(false);
    });

  it('takes only RFC 3339 with a zone for a timestamp', () => {
    for (const good of ['2026-11-20T08:15:30Z', '2026-11-20t08:15:30.123456789z', '2026-11-20T08:15:30-08:00'])
      expect(isTimestamp(good), good).to.equal(true);
    for (const bad of ['2026-11-20', '2026-11-20T08:15:30', '20 Nov 2026 08:15:30 Z', '2026-11-20T08:15:30Z\n'])
      expect(isTimestamp(bad), bad).to.equal(false);
  });

  it('orders texts as it orders instants', () => {
    const instant = fc.integer({ min: 0, max: 253_402_300_799_999 });
    fc.assert(fc.property(instant, instant, (a, b) => a < b === isoOf(a) < isoOf(b)));
  });
});
