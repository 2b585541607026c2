/** Welford's method, merged as by Chan et al.: numerically stable. */
import type { MetricStats } from '../model/documents.js';

/** @param at in ms after the hour began */
export function addSample(stats: MetricStats | null | undefined, value: number, at: number): MetricStats {
  if (!stats) return [1, value, 0, value, value, at, at];
  const [n, mean, m2, min, max, first, last] = stats;
  const delta = value - mean;
  const next = mean + delta / (n + 1);
  return [
    n + 1,
    next,
    m2 + delta * (value - next),
    Math.min(min, value),
    Math.max(max, value),
    Math.min(first, at),
    Math.max(last, at),
  ];
}

export class RunningStats {
  n = 0;
  mean = 0;
  m2 = 0;
  min = Infinity;
  max = -Infinity;
  first = Infinity;
  last = -Infinity;

  add(value: number, at: number): void {
    this.merge(1, value, 0, value, value, at, at);
  }

  /** @param hourStart in ms since 1970 */
  addHour([n, mean, m2, min, max, first, last]: MetricStats, hourStart: number): void {
    this.merge(n, mean, m2, min, max, hourStart + first, hourStart + last);
  }

  merge(n: number, mean: number, m2: number, min: number, max: number, first: number, last: number): void {
    const total = this.n + n;
    const delta = mean - this.mean;
    this.m2 += m2 + (delta * delta * this.n * n) / total;
    this.mean += (delta * n) / total;
    this.n = total;
    this.min = Math.min(this.min, min);
    this.max = Math.max(this.max, max);
    this.first = Math.min(this.first, first);
    this.last = Math.max(this.last, last);
  }

  /** Sample (n−1); 0 for a single value. */
  get stddev(): number {
    return this.n < 2 ? 0 : Math.sqrt(Math.max(0, this.m2) / (this.n - 1));
  }
}
