import type { MongoOptions } from '../../adapters/mongodb/store.js';
import { connectionLines } from '../../adapters/mongodb/connection-lines.js';
import { connectionMetrics } from '../../adapters/mongodb/connection-metrics.js';
import { MemoryStore } from '../../adapters/memory/store.js';
import { SqliteStore } from '../../adapters/sqlite/store.js';
import type { Core } from '../load.js';
import type { Clock } from '../../ports/clock.js';
import type { Logger } from '../../ports/logger.js';
import type { Metrics } from '../../ports/metrics.js';
import type { DocumentStore } from '../../ports/store.js';

export interface ConnectionEars extends Pick<MongoOptions, 'tell' | 'answered'> {
  /** For a second connection to the same server, so that both are logged once. */
  further?: MongoOptions['tell'];
}

export function connectionEars(log: Logger, metrics: Metrics, clock: Clock, lost: () => void): ConnectionEars {
  const lines = connectionLines(log, clock, lost);
  const numbers = connectionMetrics(metrics, clock);
  return {
    tell: (state, cause) => {
      numbers.tell(state);
      lines(state, cause);
    },
    answered: (ms) => numbers.answered(ms),
    further: lines,
  };
}

/**
 * Drivers are imported lazily to keep commands fast.
 * @param threads of the embedded store
 */
export async function storeOf(
  { storage }: Core,
  { tell, answered }: ConnectionEars = {},
  threads = true,
): Promise<DocumentStore> {
  if (storage.engine === 'memory') return new MemoryStore();
  if (storage.engine === 'sqlite') {
    return new SqliteStore({ path: storage.file as string, durability: storage.durability, threads });
  }
  const { MongoStore } = await import('../../adapters/mongodb/store.js');
  return new MongoStore({ url: storage.url, ...(tell && { tell }), ...(answered && { answered }) });
}
