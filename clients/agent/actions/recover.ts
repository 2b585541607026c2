/**
 * `--action recover` (contract 90, update): repairs the state left by a crash, offline. For a
 * service's `ExecStartPre`: without an open transaction it writes nothing.
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
 * Undoes this run's open transaction, or finishes it after its commit; the lock is still held. A
 * failure is only reported, because the next start retries.
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

export function reportRecovery(output: Output, recovered: Recovered): void {
  if (recovered.kind === 'rolled back') output.rolledBack(recovered.head.from, recovered.head.to);
  else if (recovered.kind === 'finished') {
    output.updated(recovered.head.from, recovered.head.to);
    reportKept(output, recovered.head);
  }
}
