/**
 * Request metrics for `GET /metrics`. Durations are not labeled by route and status, which would
 * add too many series.
 */
import { CODES } from '../../../kernel/errors.js';
import type { Counter, Histogram, Metrics } from '../../../ports/metrics.js';

const DURATION_BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Rate classes of routes (ports/http/index.ts, RateClass), and pages. */
const ROUTE_KINDS = ['api', 'intake', 'bulk', 'public', 'none', 'page'] as const;
const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx'];

export type ObserveRequest = (method: string, status: number, milliseconds: number) => void;

export class RequestMetrics {
  readonly #requests: Counter;
  readonly #errors: Counter;
  readonly #seconds: Histogram;

  constructor(metrics: Metrics) {
    this.#requests = metrics.counter('aos_http_requests_total', 'Requests by route, method and class of status', {
      route: [],
      method: [],
      status: STATUS_CLASSES,
    });
    this.#errors = metrics.counter('aos_http_errors_total', 'Error responses, by error code', {
      code: Object.keys(CODES),
    });
    this.#seconds = metrics.histogram(
      'aos_http_request_duration_seconds',
      'Time from request to response, by kind of route',
      DURATION_BUCKETS_SECONDS,
      { kind: ROUTE_KINDS },
    );
  }

  countError(code: string): void {
    this.#errors.inc({ code });
  }

  /** @param route as the plugin declared it, so that labels never contain caller input */
  createObserver(methods: readonly string[], route: string, kind: (typeof ROUTE_KINDS)[number]): ObserveRequest {
    // Label objects are reused, because they repeat with every request.
    const labels = new Map<string, readonly Readonly<Record<string, string>>[]>();
    for (const method of methods) {
      const sets = STATUS_CLASSES.map((status) => ({ route, method, status }));
      for (const set of sets) this.#requests.inc(set, 0);
      labels.set(method, sets);
    }
    const kinds = { kind };
    return (method, status, milliseconds) => {
      const name = method.toUpperCase();
      // hapi answers HEAD where GET is mounted.
      const set = labels.get(name === 'HEAD' ? 'GET' : name)?.[Math.floor(status / 100) - 2];
      if (set !== undefined) this.#requests.inc(set);
      this.#seconds.observe(milliseconds / 1000, kinds);
    };
  }
}
