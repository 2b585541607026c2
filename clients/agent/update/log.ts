import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Recorder } from '../output.js';

const MAX_LOG_BYTES = 1024 * 1024;

/** Creates a recorder that writes synchronously, so that a killed agent's log is complete. */
export function createRecorder(folder: string): Recorder {
  const path = join(folder, 'update-agent.log');
  return (event, fields) => {
    const line = `${JSON.stringify({ at: new Date().toISOString(), pid: process.pid, event, ...fields })}\n`;
    try {
      if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) renameSync(path, `${path}.1`);
      appendFileSync(path, line, { mode: 0o600 });
    } catch {}
  };
}
