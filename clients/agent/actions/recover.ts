/**
 * `--action recover` (contract 90, update): puts right what a crash left, offline. Made for a service's `ExecStartPre`:
 * where nothing is open it writes nothing, and so needs no right to.
 */
import { Installation, rootOf, type Agent } from '../update/installation.js';
import { look } from '../system/files.js';
import { Layout } from '../layout.js';
import type { Output } from '../output.js';
import { ownPath } from '../apply/own-file.js';
import { recover, reportKept, type Recovered } from '../apply/recover.js';
import { failureOf } from '../exit.js';

export async function recoverOnly(agent: Agent): Promise<void> {
  const layout = new Layout(await rootOf(agent.options.dir));
  if ((await look(layout.journal)) === null) {
    agent.output.note('nothing_open', {}, 'nothing to recover');
    return;
  }
  const installation = await Installation.open(agent);
  reportRecovery(agent.output, installation.recovered);
  await installation.close();
}

/**
 * Undoes, or after its commit finishes, what this run itself left open; its lock is still held.
 * A failure is only reported: the next start tries again.
 */
export async function rollBackOpenUpdate(agent: Agent): Promise<void> {
  try {
    const layout = new Layout(await rootOf(agent.options.dir));
    if ((await look(layout.journal)) === null) return;
    reportRecovery(agent.output, await recover(layout, await ownPath(layout, agent.ownFile), agent.hooks));
  } catch (error) {
    agent.output.warning(failureOf(error).message);
  }
}

/** What the start of any action had to put right. */
export function reportRecovery(output: Output, recovered: Recovered): void {
  if (recovered.kind === 'rolled back') output.rolledBack(recovered.head.from, recovered.head.to);
  else if (recovered.kind === 'finished') {
    output.updated(recovered.head.from, recovered.head.to);
    reportKept(output, recovered.head);
  }
}
