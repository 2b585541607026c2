/**
 * Process in which `serve` makes a backup, at low priority. It runs at the lowest priority once the
 * store has been read, because the log grows until then.
 */
import { setPriority } from 'node:os';
import { createBackup, type BackupJob } from './backup-job.js';

const LOW_PRIORITY = 10;
const LOWEST_PRIORITY = 19;

function lowerPriority(priority: number): void {
  try {
    setPriority(priority);
  } catch {}
}

lowerPriority(LOW_PRIORITY);
process.once('disconnect', () => process.exit(1));
const job = JSON.parse(process.argv[2] ?? '') as BackupJob;
const answer = await createBackup(job, () => lowerPriority(LOWEST_PRIORITY)).then(
  ({ bytes }) => ({ bytes }),
  (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
);
process.send?.(answer, () => process.exit('error' in answer ? 1 : 0));
