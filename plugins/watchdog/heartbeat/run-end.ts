/** From `/start` to its end (contract 30, beyond the specification). */
import type { MonitorDoc } from '../model/documents.js';
import { removeStart } from '../model/run-times.js';
import type { ReceivedHeartbeat } from './heartbeat.js';

export interface RunEndHeartbeat extends ReceivedHeartbeat {
  starts?: string | null;
}

/** @param run `rid`; null ends every open run */
export function endRun(
  heartbeat: ReceivedHeartbeat,
  before: MonitorDoc,
  run: string | null,
  now: number,
): RunEndHeartbeat {
  if (!before.starts) return heartbeat;
  const { starts, duration_ms } = removeStart(before.starts, run ?? '', now);
  // The program's own measurement takes precedence.
  if (run === null || duration_ms === null || heartbeat.samples.some(([name]) => name === 'duration_ms'))
    return { ...heartbeat, starts };
  const metrics = { ...(JSON.parse(heartbeat.metrics_json) as object), duration_ms };
  const samples: ReceivedHeartbeat['samples'] = [...heartbeat.samples, ['duration_ms', duration_ms]];
  return { ...heartbeat, samples, metrics_json: JSON.stringify(metrics), starts };
}
