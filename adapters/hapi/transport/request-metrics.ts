/** Durations by route, method and status, for `GET /metrics`. Label objects are kept: they repeat with every request. */
import type { Metrics } from '../../../ports/metrics.js';

const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export class RequestMetrics {
  readonly #labels = new Map<string, Record<string, string>>();
  readonly #seconds: ReturnType<Metrics['histogram']>;

  constructor(metrics: Metrics) {
    this.#seconds = metrics.histogram('http_request_duration_seconds', 'Time from the request to its answer.', BUCKETS);
  }

  /** @param route the path as the plugin wrote it, never as the caller did: labels are our own words */
  observe(method: string, route: string, status: number, milliseconds: number): void {
    const key = `${method} ${route} ${status}`;
    let labels = this.#labels.get(key);
    if (!labels) {
      labels = { method: method.toUpperCase(), route, status: String(status) };
      this.#labels.set(key, labels);
    }
    this.#seconds.observe(milliseconds / 1000, labels);
  }
}
