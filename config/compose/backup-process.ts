/**
 * The process in which `serve` makes a backup: everything of it, its threads too, comes after whatever else wants the
 * processor. While it reads the store the log of the service grows, so it is a little less patient then.
 */
import { setPriority } from 'node:os';
import { backUp, type BackupJob } from './backup-job.js';

const LOW = 10;
const LOWEST = 19;

function yieldTo(priority: number): void {
  try {
    setPriority(priority);
  } catch {
    // The system does not allow it: the backup is made all the same.
  }
}

yieldTo(LOW);
// Its service has ended: nobody waits for it any more.
process.once('disconnect', () => process.exit(1));
const job = JSON.parse(process.argv[2] ?? '') as BackupJob;
const answer = await backUp(job, () => yieldTo(LOWEST)).then(
  ({ bytes }) => ({ bytes }),
  (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
);
process.send?.(answer, () => process.exit('error' in answer ? 1 : 0));
