import type { MongoStoreOptions } from '../../adapters/mongodb/store.js';
import { createConnectionLogger } from '../../adapters/mongodb/connection-logger.js';
import { createConnectionMetrics } from '../../adapters/mongodb/connection-metrics.js';
import { MemoryStore } from '../../adapters/memory/store.js';
import { SqliteStore } from '../../adapters/sqlite/store.js';
import type { ResolvedConfig } from '../load.js';
import type { Clock } from '../../ports/clock.js';
import type { Logger } from '../../ports/logger.js';
import type { Metrics } from '../../ports/metrics.js';
import type { DocumentStore } from '../../ports/store/index.js';

export interface ConnectionListeners extends Pick<MongoStoreOptions, 'tell' | 'answered'> {
  /** So that a second connection is logged once. */
  secondary?: MongoStoreOptions['tell'];
}

export function createConnectionListeners(
  log: Logger,
  metrics: Metrics,
  clock: Clock,
  lost: () => void,
): ConnectionListeners {
  const lines = createConnectionLogger(log, clock, lost);
  const numbers = createConnectionMetrics(metrics, clock);
  return {
    tell: (state, cause) => {
      numbers.tell(state);
      lines(state, cause);
    },
    answered: (ms) => numbers.answered(ms),
    secondary: lines,
  };
}

/** Drivers are imported lazily to keep commands fast. */
export async function createStore(
  { storage }: ResolvedConfig,
  { tell: onStateChange, answered }: ConnectionListeners = {},
  threads = true,
): Promise<DocumentStore> {
  if (storage.engine === 'memory') return new MemoryStore();
  if (storage.engine === 'sqlite') {
    const { durability, checkpoints } = storage;
    return new SqliteStore({ path: storage.file as string, durability, checkpoints, threads });
  }
  const { MongoStore } = await import('../../adapters/mongodb/store.js');
  return new MongoStore({
    url: storage.url,
    ...(onStateChange && { tell: onStateChange }),
    ...(answered && { answered }),
  });
}
