/** Metrics for `GET /metrics`. */
export type Labels = Readonly<Record<string, string>>;

/**
 * Label → possible values. All combinations start as 0, so that the first event is visible as an
 * increase.
 */
export type LabelValues = Readonly<Record<string, readonly string[]>>;

export interface Counter {
  inc(labels?: Labels, by?: number): void;
}

export interface Histogram {
  observe(value: number, labels?: Labels): void;
}

/**
 * Names start with `aos_`, for a plugin followed by its id, and end in the base unit (`_seconds`,
 * `_bytes`), for counters in `_total`.
 * @throws TypeError for other names or another kind
 */
export interface Metrics {
  counter(name: string, help: string, labels?: LabelValues): Counter;
  gauge(name: string, help: string, read: () => number | Promise<number>): void;
  /** @param read value of the label → number; missing `values` are 0 */
  gauges(
    name: string,
    help: string,
    label: string,
    values: readonly string[],
    read: () => Readonly<Record<string, number>> | Promise<Readonly<Record<string, number>>>,
  ): void;
  histogram(name: string, help: string, buckets: readonly number[], labels?: LabelValues): Histogram;
  /** Renders Prometheus text format 0.0.4. */
  render(): Promise<string>;
}
