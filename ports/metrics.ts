/** Numbers for `GET /metrics` (Prometheus text). Labels are our own words, never text from outside. */
export interface Metrics {
  counter(name: string, help: string): { inc(labels?: Record<string, string>, by?: number): void };
  gauge(name: string, help: string, read: () => number | Promise<number>): void;
  histogram(
    name: string,
    help: string,
    buckets: readonly number[],
  ): { observe(value: number, labels?: Record<string, string>): void };
  /** Prometheus text format 0.0.4. */
  render(): Promise<string>;
}
