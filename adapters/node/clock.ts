/** The system's time. Tests use ManualClock (test/support/clock.ts). */
import { performance } from 'node:perf_hooks';
import { isoOf } from '../../lib/time.js';
import type { Clock } from '../../ports/clock.js';

export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }

  iso(): string {
    return isoOf(Date.now());
  }

  monotonic(): number {
    return performance.now();
  }
}
