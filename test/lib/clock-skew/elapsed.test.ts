import { expect } from 'chai';
import { AHEAD_MS, elapsed, hasElapsed } from '../../../lib/clock-skew.js';
import { isoOf } from '../../../lib/time.js';
import { matches } from '../../../ports/document.js';
import type { Doc } from '../../../ports/store.js';

const NOW = Date.parse('2026-11-20T08:00:00.000Z');

describe('elapsed times', () => {
  it('include times further ahead than two clocks may differ, also as a filter', () => {
    for (const [age, over] of [
      [0, false],
      [999, false],
      [1_000, true],
      [86_400_000, true],
      [-AHEAD_MS, false],
      [-AHEAD_MS - 1, true],
    ] as const) {
      const at = isoOf(NOW - age);
      expect(hasElapsed(at, 1_000, NOW), `${age} ms ago`).to.equal(over);
      expect(matches({ id: 'a', at } as Doc, elapsed('at', 1_000, NOW)), `${age} ms ago`).to.equal(over);
    }
    expect(matches({ id: 'a', at: null } as Doc, elapsed('at', 1_000, NOW))).to.equal(false);
  });
});
