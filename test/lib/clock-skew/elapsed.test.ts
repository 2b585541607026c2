import { expect } from 'chai';
import { MAX_AHEAD_MS, buildElapsedFilter, hasElapsed } from '../../../lib/clock-skew.js';
import { toIsoString } from '../../../lib/time.js';
import { matchesFilter } from '../../../ports/document.js';
import type { Doc } from '../../../ports/store/index.js';

const NOW = Date.parse('2026-11-20T08:00:00.000Z');

describe('lib: elapsed times', () => {
  it('include times further in the future than tolerated clock differences, including as a filter', () => {
    for (const [age, over] of [
      [0, false],
      [999, false],
      [1_000, true],
      [86_400_000, true],
      [-MAX_AHEAD_MS, false],
      [-MAX_AHEAD_MS - 1, true],
    ] as const) {
      const at = toIsoString(NOW - age);
      expect(hasElapsed(at, 1_000, NOW), `${age} ms ago`).to.equal(over);
      expect(matchesFilter({ id: 'a', at } as Doc, buildElapsedFilter('at', 1_000, NOW)), `${age} ms ago`).to.equal(
        over,
      );
    }
    expect(matchesFilter({ id: 'a', at: null } as Doc, buildElapsedFilter('at', 1_000, NOW))).to.equal(false);
  });
});
