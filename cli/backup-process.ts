/** The process in which `serve` makes a backup: everything of it, its threads too, comes after whatever else wants the processor. */
import { setPriority } from 'node:os';
import type { BackupJob } from '../moving.js';

const LOWEST = 19;

try {
  setPriority(LOWEST);
} catch {
  // The system does not allow it: the backup is made all the same.
}
// Its service has ended: nobody waits for it any more.
process.once('disconnect', () => process.exit(1));
const { backUp } = await import('../moving.js');
const job = JSON.parse(process.argv[2] ?? '') as BackupJob;
const answer = await backUp(job).then(
  ({ bytes }) => ({ bytes }),
  (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
);
process.send?.(answer, () => process.exit('error' in answer ? 1 : 0));
