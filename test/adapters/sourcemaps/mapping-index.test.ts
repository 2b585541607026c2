/** Look-ups in mappings, held against a library that decodes them all. */
import { AnyMap, originalPositionFor, type TraceMap } from '@jridgewell/trace-mapping';
import { expect } from 'chai';
import fc from 'fast-check';
import { LoadedMap } from '../../../adapters/sourcemaps/loaded-map.js';

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const noLimit = (): void => undefined;

function digitsOf(value: number): string {
  let left = value < 0 ? (-value << 1) | 1 : value << 1;
  let text = '';
  do {
    text += DIGITS[(left & 31) | (left > 31 ? 32 : 0)];
    left >>>= 5;
  } while (left > 0);
  return text;
}

type Segment = [column: number, source?: number, line?: number, sourceColumn?: number, name?: number];

/** `mappings` of lines of segments. */
function encoded(lines: readonly (readonly Segment[])[]): string {
  const before = [0, 0, 0, 0, 0];
  return lines
    .map((segments) => {
      before[0] = 0;
      return segments
        .map((segment) =>
          segment
            .map((value = 0, i) => {
              const difference = value - (before[i] ?? 0);
              before[i] = value;
              return digitsOf(difference);
            })
            .join(''),
        )
        .join(',');
    })
    .join(';');
}

const segment: fc.Arbitrary<Segment> = fc.oneof(
  fc.tuple(fc.nat(60)),
  fc.tuple(fc.nat(60), fc.nat(2), fc.nat(50), fc.nat(80)),
  fc.tuple(fc.nat(60), fc.nat(2), fc.nat(50), fc.nat(80), fc.nat(3)),
);
const lines = fc.array(fc.array(segment, { maxLength: 12 }), { maxLength: 12 });

/** What the library says of a place, as we say it. */
function expected(map: TraceMap, line: number, column: number): unknown[] | null {
  const found = originalPositionFor(map, { line, column });
  return found.source === null ? null : [found.source, found.line, found.column + 1];
}

describe('source map lookups', () => {
  const check = (map: object, line: number, column: number): void => {
    const found = new LoadedMap(Buffer.from(JSON.stringify(map)), null, noLimit).locate(
      { line, column: column + 1 },
      noLimit,
    );
    expect(found === null ? null : [found.file, found.line, found.column]).to.deep.equal(
      expected(new AnyMap(map as never), line, column),
    );
  };
  const names = ['a', 'b', 'c', 'd'];
  const sources = ['src/a.ts', 'src/b.ts', 'src/c.ts'];

  it('returns the same results as a full decoder, even where columns are not in ascending order', () => {
    fc.assert(
      fc.property(lines, fc.nat(12), fc.nat(70), (given, line, column) => {
        for (const ordered of [given.map((one) => one.toSorted((a, b) => a[0] - b[0])), given])
          check({ version: 3, sources, names, mappings: encoded(ordered) }, line + 1, column);
      }),
    );
  });

  it('finds positions anywhere in mappings of many kilobytes', () => {
    const long = Array.from({ length: 40 }, (_, line) =>
      Array.from({ length: 400 }, (__, i): Segment => [i * 3, i % 3, line * 9 + i, i, i % 4]),
    );
    const map = { version: 3, sources, names, mappings: encoded(long) };
    const whole = new AnyMap(map as never);
    const loaded = new LoadedMap(Buffer.from(JSON.stringify(map)), null, noLimit);
    for (let line = 1; line <= 41; line++)
      for (let column = 0; column < 1_300; column += 61) {
        const found = loaded.locate({ line, column: column + 1 }, noLimit);
        expect(found === null ? null : [found.file, found.line, found.column]).to.deep.equal(
          expected(whole, line, column),
        );
      }
  });

  it('finds the section of an index map, and joins sourceRoot and source', () => {
    const part = { version: 3, sources: ['a.ts'], names: [], mappings: 'AAAA,EAAE;AACA' };
    const sections = [
      { offset: { line: 0, column: 0 }, map: { ...part, sourceRoot: 'lib' } },
      { offset: { line: 1, column: 5 }, map: { ...part, sources: ['b.ts'] } },
    ];
    const map = { version: 3, mappings: '', sections };
    for (const [line, column] of [
      [1, 0],
      [1, 3],
      [2, 2],
      [2, 5],
      [2, 8],
      [3, 0],
      [9, 0],
    ] as const)
      check(map, line, column);
  });
});
