/** Fills the embedded store of a stopped service with monitors in every state, a tenth of them roots. */
import { join } from 'node:path';
import { Connection } from '../../adapters/sqlite/connection/connection.js';
import { takeIn } from '../../adapters/sqlite/lookups/lookups.js';
import { put } from './put.js';
import { SystemClock } from '../../adapters/node/clock.js';
import { RandomIds } from '../../adapters/node/ids.js';
import { freshMonitor } from '../../plugins/watchdog/model/monitor.js';
import type { MonitorDoc } from '../../plugins/watchdog/model/documents.js';

const DAY_MS = 86_400_000;
const ROOTS = 10;

/** Of a hundred: most are up. */
const stateOf = (i: number): MonitorDoc['state'] => {
  const place = (i * 37) % 100;
  if (place < 2) return 'down';
  if (place < 5) return 'warning';
  if (place < 6) return 'stopped';
  return place < 7 ? 'unknown' : 'up';
};

export function seedMonitors(dataDir: string, projects: readonly string[], count: number, now = Date.now()): void {
  const ids = new RandomIds(new SystemClock());
  const connection = new Connection({ path: join(dataDir, 'aos.db'), durability: 'normal' });
  const sourceOf = (i: number): string => `host-${String(i).padStart(6, '0')}`;
  try {
    connection.transaction(() => {
      for (let i = 0; i < count; i++) {
        const source = sourceOf(i);
        const parent_source = i % ROOTS === 0 ? null : sourceOf(i - (i % ROOTS));
        const fields = {
          source,
          parent_source,
          project: projects[i % projects.length] ?? null,
          interval_seconds: 86_400,
        };
        const beat = new Date(now).toISOString();
        const doc: MonitorDoc = {
          ...freshMonitor(fields, ids, now - 30 * DAY_MS),
          state: stateOf(i),
          last_heartbeat_at: beat,
          last_status: 'ok',
          names: ['cpu', 'response_ms'],
          tail: Array.from(
            { length: 12 },
            (_, n) => `[${n * 60_000},0,${(i + n * 7) % 100},1,${40 + ((i * n) % 50)}]`,
          ).join(),
          tail_base: now - 720_000,
          next_check_at: null,
        };
        put(connection, 'watchdog_monitors', doc);
      }
      while (takeIn(connection, 'watchdog_monitors') !== null);
    });
  } finally {
    connection.close();
  }
}
