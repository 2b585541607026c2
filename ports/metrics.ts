/** Numbers for `GET /metrics` (Prometheus text). Labels are our own words, or sources of monitors. */
export type Labels = Readonly<Record<string, string>>;

/**
 * Label → the values that it may have. Every combination exists from the start, as 0, so that the first event is seen
 * as a rise. An empty list: values that are known later; `inc(labels, 0)` shows one of them before it counts.
 */
export type LabelValues = Readonly<Record<string, readonly string[]>>;

export interface Counter {
  inc(labels?: Labels, by?: number): void;
}

export interface Histogram {
  observe(value: number, labels?: Labels): void;
}

/**
 * Names begin with `aos_` and, for a plugin's own numbers, its id; they end in the base unit (`_seconds`, `_bytes`),
 * those of counters in `_total`. The same name again is the same metric. Every call throws a TypeError for another name
 * or kind.
 */
export interface Metrics {
  counter(name: string, help: string, labels?: LabelValues): Counter;
  /** @param read asked with every scrape; what fails or takes too long is NaN */
  gauge(name: string, help: string, read: () => number | Promise<number>): void;
  /**
   * One gauge for each value of a label.
   * @param read value of the label → number; of `values` one that is left out is 0, another is shown while it is named
   */
  gauges(
    name: string,
    help: string,
    label: string,
    values: readonly string[],
    read: () => Readonly<Record<string, number>> | Promise<Readonly<Record<string, number>>>,
  ): void;
  histogram(name: string, help: string, buckets: readonly number[], labels?: LabelValues): Histogram;
  /** Prometheus text format 0.0.4. */
  render(): Promise<string>;
}
