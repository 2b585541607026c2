/**
 * `--action recover` (contract 90, update): repairs the state left by a crash, offline. For a
 * service's `ExecStartPre`: without an open transaction it writes nothing.
 */
import { Installation, resolveRoot, type Agent } from '../update/installation.js';
import { statPath } from '../system/files.js';
import { InstallationLayout } from '../layout.js';
import type { AgentOutput } from '../output.js';
import { findOwnPath } from '../apply/own-file.js';
import { recoverTransaction, reportKept, type RecoveryResult } from '../apply/recover.js';
import { toAgentFailure } from '../exit.js';

export async function recoverInstallation(agent: Agent): Promise<void> {
  const layout = new InstallationLayout(await resolveRoot(agent.options.dir));
  if ((await statPath(layout.journal)) === null) {
    agent.output.printNote('nothing_open', {}, 'nothing to recover');
    return;
  }
  const installation = await Installation.open(agent);
  reportRecovery(agent.output, installation.recovered);
  await installation.close();
}

/** Undoes this run's open transaction, or finishes it after its commit; the lock is still held. */
export async function rollBackOpenUpdate(agent: Agent): Promise<void> {
  try {
    const layout = new InstallationLayout(await resolveRoot(agent.options.dir));
    if ((await statPath(layout.journal)) === null) return;
    reportRecovery(
      agent.output,
      await recoverTransaction(layout, await findOwnPath(layout, agent.ownFile), agent.hooks),
    );
  } catch (error) {
    agent.output.warn(toAgentFailure(error).message);
  }
}

export function reportRecovery(output: AgentOutput, recovered: RecoveryResult): void {
  if (recovered.kind === 'rolled back') output.reportRolledBack(recovered.head.from, recovered.head.to);
  else if (recovered.kind === 'finished') {
    output.reportUpdated(recovered.head.from, recovered.head.to);
    reportKept(output, recovered.head);
  }
}
