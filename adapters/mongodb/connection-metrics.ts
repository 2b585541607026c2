/** Metrics of the MongoDB connection (contract 95, a bad day). */
import type { Clock } from '../../ports/clock.js';
import type { Metrics } from '../../ports/metrics.js';
import type { ConnectionState } from './connection-logger.js';

/** In seconds, from a lookup by id up to the deadline of an operation. */
const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

export interface ConnectionMetrics {
  tell(state: ConnectionState): void;
  answered(ms: number): void;
}

export function createConnectionMetrics(metrics: Metrics, clock: Clock): ConnectionMetrics {
  let connected = 1;
  let answeredAt = clock.now();
  const seconds = metrics.histogram(
    'aos_mongodb_operation_seconds',
    'Time of operations that MongoDB answered',
    DURATION_BUCKETS_SECONDS,
  );
  metrics.gauge('aos_mongodb_connected', '1 while MongoDB responds, 0 while requests are rejected', () => connected);
  metrics.gauge(
    'aos_mongodb_last_answer_timestamp_seconds',
    'When MongoDB last answered an operation',
    () => answeredAt / 1_000,
  );
  return {
    tell: (state) => {
      if (state === 'connected') connected = 1;
      else if (state === 'away' || state === 'lost') connected = 0;
    },
    answered: (ms) => {
      answeredAt = clock.now();
      seconds.observe(ms / 1_000);
    },
  };
}
