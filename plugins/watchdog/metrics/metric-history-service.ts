import { inject, injectable } from '../../../kernel/contract/index.js';
import { invalidQuery } from '../../../kernel/errors.js';
import { HOUR_MS, toIsoString } from '../../../lib/time.js';
import { SAMPLE_RETENTION_MS } from '../evaluator/cleanup.js';
import { DEPS } from '../deps.js';
import type { MonitorDoc } from '../model/documents.js';
import { MetricSeriesReader } from './metric-series-reader.js';
import { RunningStats } from './running-stats.js';
import type { Clock } from '../../../ports/clock.js';

const DAY_MS = 24 * HOUR_MS;
export const BASELINE_DAYS = 7;
const EPSILON = 1e-12;
const BUCKET_WIDTHS_SECONDS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 10_800, 14_400, 21_600, 43_200, 86_400,
];

export interface HistoryQuery {
  metric?: readonly string[];
  hours?: number;
  from?: string;
  to?: string;
  points?: number;
  resolution?: number | 'auto';
}

export interface Point {
  t: string;
  avg: number;
  min: number;
  max: number;
  n: number;
}

export interface Baseline {
  days: number;
  n: number;
  mean: number | null;
  stddev: number | null;
  min: number | null;
  max: number | null;
  sufficient: boolean;
}

export interface Deviation {
  value: number;
  absolute: number | null;
  ratio: number | null;
  percent: number | null;
  zscore: number | null;
  direction: 'above' | 'below' | 'equal';
  significant: boolean;
  /** `significant`, `insufficient_data`, `within_band`, `small_change` or `mean_near_zero`. */
  reason: string;
}

export interface MetricHistory {
  latest: { t: string; v: number };
  points: Point[];
  baseline: Baseline;
  deviation: Deviation;
}

export interface History {
  source: string;
  from: string;
  to: string;
  bucket_seconds: number;
  metrics: Record<string, MetricHistory>;
}

/** Returns at most `points` epoch-aligned buckets; times in ms. */
export function getBucketSeconds(from: number, to: number, points: number, least = 1): number {
  const fits = (width: number): boolean => Math.floor(to / (width * 1000)) - Math.floor(from / (width * 1000)) < points;
  const known = BUCKET_WIDTHS_SECONDS.find((width) => width >= least && fits(width));
  if (known !== undefined) return known;
  let width = Math.max(least, 86_400);
  while (!fits(width)) width *= 2;
  return width;
}

export function toBaseline(running: RunningStats | undefined): Baseline {
  if (running === undefined || running.n === 0) {
    return { days: BASELINE_DAYS, n: 0, mean: null, stddev: null, min: null, max: null, sufficient: false };
  }
  const { n, mean, stddev, min, max, first, last } = running;
  return { days: BASELINE_DAYS, n, mean, stddev, min, max, sufficient: n >= 30 && last - first >= DAY_MS };
}

export function getDeviation(value: number, { mean, stddev, sufficient, min, max }: Baseline): Deviation {
  if (mean === null || stddev === null) {
    const none = { absolute: null, ratio: null, percent: null, zscore: null };
    return { value, ...none, direction: 'equal', significant: false, reason: 'insufficient_data' };
  }
  const absolute = value - mean;
  const near = Math.abs(mean) < EPSILON;
  const percent = near ? null : (absolute / Math.abs(mean)) * 100;
  // Rounding must not create a deviation in a constant series.
  const flat = stddev === 0 || min === max;
  const zscore = flat ? 0 : absolute / stddev;
  const reason = !sufficient
    ? 'insufficient_data'
    : Math.abs(zscore) < 3
      ? 'within_band'
      : percent === null
        ? 'mean_near_zero'
        : Math.abs(percent) < 10
          ? 'small_change'
          : 'significant';
  return {
    value,
    absolute,
    ratio: near ? null : value / mean,
    percent,
    zscore,
    direction: absolute > 0 ? 'above' : absolute < 0 ? 'below' : 'equal',
    significant: reason === 'significant',
    reason,
  };
}

@injectable()
export class MetricHistoryService {
  constructor(
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(MetricSeriesReader) private readonly series: MetricSeriesReader,
  ) {}

  /** @throws ServiceError invalid_request */
  async getHistory(doc: MonitorDoc, query: HistoryQuery): Promise<History> {
    const now = this.clock.now();
    const { from, to } = resolveTimeRange(query, now);
    const least = query.resolution === undefined || query.resolution === 'auto' ? 1 : query.resolution;
    const width = getBucketSeconds(from, to, query.points ?? 300, least);
    const window = await this.#readBuckets(doc, Math.max(from, now - SAMPLE_RETENTION_MS), to, width);
    const baselines = window.size === 0 ? new Map<number, RunningStats>() : await this.getBaselines(doc, now);
    const wanted = query.metric === undefined ? null : new Set(query.metric);
    const metrics: Record<string, MetricHistory> = {};
    for (const [index, name] of doc.names.entries()) {
      const found = window.get(index);
      if (found === undefined || (wanted !== null && !wanted.has(name))) continue;
      const baseline = toBaseline(baselines.get(index));
      metrics[name] = {
        latest: { t: toIsoString(found.at), v: found.value },
        points: found.toPoints(width),
        baseline,
        deviation: getDeviation(found.value, baseline),
      };
    }
    return { source: doc.source, from: toIsoString(from), to: toIsoString(to), bucket_seconds: width, metrics };
  }

  async getBaselines(doc: MonitorDoc, now: number): Promise<Map<number, RunningStats>> {
    const all = new Map<number, RunningStats>();
    const of = (index: number): RunningStats =>
      all.get(index) ?? (all.set(index, new RunningStats()).get(index) as RunningStats);
    await this.series.readHours(doc, now - BASELINE_DAYS * DAY_MS, now, {
      addSample: (index, value, at) => of(index).add(value, at),
      addHour: (index, stats, start) => of(index).addHour(stats, start),
    });
    return all;
  }

  async #readBuckets(doc: MonitorDoc, from: number, to: number, width: number): Promise<Map<number, HistoryBuckets>> {
    const all = new Map<number, HistoryBuckets>();
    const of = (index: number): HistoryBuckets =>
      all.get(index) ?? (all.set(index, new HistoryBuckets()).get(index) as HistoryBuckets);
    const sample = (index: number, value: number, at: number): void => of(index).add(value, at, width);
    if (width % 3600 !== 0) await this.series.readSamples(doc, from, to, sample);
    else {
      await this.series.readHours(doc, from, to, {
        addSample: sample,
        addHour: (index, stats, start) => of(index).addHour(stats, start, width),
      });
      await this.#addLatestValues(doc, from, to, all);
    }
    return all;
  }

  /** Hourly statistics have no last value, so it is read from the samples. */
  async #addLatestValues(doc: MonitorDoc, from: number, to: number, all: Map<number, HistoryBuckets>): Promise<void> {
    const since = new Set([...all.values()].filter((b) => b.valueAt < b.at).map((b) => Math.floor(b.at / HOUR_MS)));
    for (const hour of since) {
      const start = Math.max(from, hour * HOUR_MS);
      await this.series.readSamples(doc, start, Math.min(to, (hour + 1) * HOUR_MS - 1), (index, value, at) =>
        all.get(index)?.setNewest(value, at),
      );
    }
  }
}

function resolveTimeRange({ hours, from, to }: HistoryQuery, now: number): { from: number; to: number } {
  const end = to === undefined ? now : Date.parse(to);
  const start = from === undefined ? end - (hours ?? 24) * HOUR_MS : Date.parse(from);
  if (hours !== undefined && from !== undefined) throw invalidQuery({ hours: 'cannot be combined with from' });
  if (start >= end) throw invalidQuery({ from: 'must be before to' });
  if (end - start > SAMPLE_RETENTION_MS) throw invalidQuery({ from: 'is more than 336 hours before to' });
  return { from: start, to: end };
}

class HistoryBuckets {
  at = -Infinity;
  valueAt = -Infinity;
  value = 0;
  readonly #cells = new Map<number, { sum: number; n: number; min: number; max: number }>();

  add(value: number, at: number, width: number): void {
    this.#addToBucket(Math.floor(at / (width * 1000)), value, 1, value, value);
    this.setNewest(value, at);
  }

  addHour([n, mean, , min, max, , last]: readonly number[], start: number, width: number): void {
    const [count, avg, low, high] = [n, mean, min, max] as [number, number, number, number];
    this.#addToBucket(Math.floor(start / (width * 1000)), avg * count, count, low, high);
    this.at = Math.max(this.at, start + (last as number));
  }

  setNewest(value: number, at: number): void {
    if (at < this.valueAt) return;
    this.value = value;
    this.valueAt = at;
    this.at = Math.max(this.at, at);
  }

  #addToBucket(key: number, sum: number, n: number, min: number, max: number): void {
    const cell = this.#cells.get(key);
    if (cell === undefined) {
      this.#cells.set(key, { sum, n, min, max });
      return;
    }
    cell.sum += sum;
    cell.n += n;
    cell.min = Math.min(cell.min, min);
    cell.max = Math.max(cell.max, max);
  }

  toPoints(width: number): Point[] {
    const keys = [...this.#cells.keys()].sort((a, b) => a - b);
    return keys.map((key) => {
      const { sum, n, min, max } = this.#cells.get(key) as { sum: number; n: number; min: number; max: number };
      return { t: toIsoString(key * width * 1000), avg: sum / n, min, max, n };
    });
  }
}
