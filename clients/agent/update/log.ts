/** `.update-agent/log/`: what an administrator reads after a failed update. JSON lines, at most 2 MiB in two files. */
import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Recorder } from '../output.js';

const MOST_BYTES = 1024 * 1024;

/** Written at once, so that a killed agent has said what it did. A full disk loses lines, and nothing else. */
export function recorderIn(folder: string): Recorder {
  const path = join(folder, 'update-agent.log');
  return (event, fields) => {
    const line = `${JSON.stringify({ at: new Date().toISOString(), pid: process.pid, event, ...fields })}\n`;
    try {
      if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MOST_BYTES) renameSync(path, `${path}.1`);
      appendFileSync(path, line, { mode: 0o600 });
    } catch {
      // The log is for later reading; the update goes on without it.
    }
  };
}
