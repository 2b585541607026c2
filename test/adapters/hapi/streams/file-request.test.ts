import { expect } from 'chai';
import fc from 'fast-check';
import { resolveFilePart } from '../../../../adapters/hapi/streams/file-request.js';
import { expectLinear } from '../../../support/cpu-time.js';

const modifiedAt = new Date('2026-11-20T08:15:30.123Z');
const file = { size: 1_000, etag: '"abc"', modifiedAt };
const at = modifiedAt.toUTCString();
const later = new Date(modifiedAt.getTime() + 5_000).toUTCString();
const earlier = new Date(modifiedAt.getTime() - 5_000).toUTCString();
const shown = (headers: Record<string, string>, method = 'GET'): string => {
  const { status, start, end } = resolveFilePart(file, method, headers);
  return status === 206 ? `206 ${start}-${end}` : String(status);
};

describe('hapi: conditional and range requests', () => {
  const table: [headers: Record<string, string>, expected: string][] = [
    [{}, '200'],
    [{ range: 'bytes=0-0' }, '206 0-1'],
    [{ range: 'bytes=0-' }, '206 0-1000'],
    [{ range: 'bytes=999-' }, '206 999-1000'],
    [{ range: 'bytes=10-19' }, '206 10-20'],
    [{ range: 'bytes=10-99999999999999999999999999' }, '206 10-1000'],
    [{ range: 'bytes=-1' }, '206 999-1000'],
    [{ range: 'bytes=-5000' }, '206 0-1000'],
    [{ range: 'BYTES = 1-2' }, '206 1-3'],
    [{ range: 'bytes=1000-' }, '416'],
    [{ range: 'bytes=99999999999999999999999999-' }, '416'],
    [{ range: 'bytes=-0' }, '416'],
    // What cannot be read, and what we do not offer, is as if it were not there.
    [{ range: 'bytes=5-4' }, '200'],
    [{ range: 'bytes=-' }, '200'],
    [{ range: 'bytes=1x-5' }, '200'],
    [{ range: 'lines=1-5' }, '200'],
    [{ range: 'bytes=0-1,5-6' }, '200'],
    // The range holds for this very file only.
    [{ range: 'bytes=1-2', 'if-range': '"abc"' }, '206 1-3'],
    [{ range: 'bytes=1-2', 'if-range': '"other"' }, '200'],
    [{ range: 'bytes=1-2', 'if-range': 'W/"abc"' }, '200'],
    [{ range: 'bytes=1-2', 'if-range': at }, '206 1-3'],
    [{ range: 'bytes=1-2', 'if-range': later }, '200'],
    [{ range: 'bytes=1-2', 'if-range': 'nonsense' }, '200'],
    [{ range: 'bytes=5000-', 'if-range': '"other"' }, '200'],
    [{ 'if-none-match': '"abc"' }, '304'],
    [{ 'if-none-match': '"x", W/"abc"' }, '304'],
    [{ 'if-none-match': '*' }, '304'],
    [{ 'if-none-match': '"x"' }, '200'],
    [{ 'if-none-match': '"x"', 'if-modified-since': later }, '200'],
    [{ 'if-none-match': '"abc"', range: 'bytes=1-2' }, '304'],
    [{ 'if-modified-since': at }, '304'],
    [{ 'if-modified-since': earlier }, '200'],
    [{ 'if-modified-since': 'nonsense' }, '200'],
    [{ 'if-match': '"abc"' }, '200'],
    [{ 'if-match': '*' }, '200'],
    [{ 'if-match': 'W/"abc"' }, '412'],
    [{ 'if-match': '"x"', 'if-none-match': '"abc"' }, '412'],
    [{ 'if-unmodified-since': at }, '200'],
    [{ 'if-unmodified-since': earlier }, '412'],
    [{ 'if-match': '"abc"', 'if-unmodified-since': earlier }, '200'],
  ];
  for (const [headers, expected] of table) {
    it(`evaluates ${JSON.stringify(headers)} → ${expected}`, () => expect(shown(headers)).to.equal(expected));
  }

  it('accepts a range only with GET', () => {
    expect(shown({ range: 'bytes=1-2' }, 'HEAD')).to.equal('200');
    expect(shown({ 'if-none-match': '"abc"' }, 'HEAD')).to.equal('304');
  });

  it('never leaves the bounds of the file, for any request', () => {
    const number = fc.nat({ max: 3_000 });
    const range = fc.oneof(
      fc.tuple(number, number).map(([a, b]) => `bytes=${a}-${b}`),
      number.map((n) => `bytes=-${n}`),
      number.map((n) => `bytes=${n}-`),
      fc.string().map((text) => `bytes=${text}`),
    );
    fc.assert(
      fc.property(range, fc.nat({ max: 2_000 }), (requested, size) => {
        const { status, start, end } = resolveFilePart({ size, etag: '"a"' }, 'GET', { range: requested });
        expect([200, 206, 416]).to.include(status);
        if (status === 206) expect(0 <= start && start < end && end <= size).to.equal(true);
      }),
    );
  });

  it('parses the header in linear time', () => {
    for (const range of [
      `bytes=${' '.repeat(15_000)}x`,
      `bytes=${'1'.repeat(15_000)}x`,
      `bytes${' '.repeat(15_000)}`,
    ]) {
      expectLinear(() => resolveFilePart(file, 'GET', { range, 'if-none-match': '"a'.repeat(7_000) }));
    }
  });
});
