/** Values that are already set stay (contract 90). */
import { AgentFailure } from '../exit.js';
import { applySettings, printPostText } from '../settings/apply-settings.js';
import { Installation, type Agent } from '../update/installation.js';
import { reportRecovery } from './recover.js';

export async function configureInstallation(agent: Agent): Promise<void> {
  const installation = await Installation.open(agent);
  try {
    reportRecovery(agent.output, installation.recovered);
    const { manifest, layout } = installation;
    if (manifest === null)
      throw new AgentFailure('usage', `no installation in ${layout.root}; use --action install, or another --dir`);
    printPostText(agent, await applySettings(installation, manifest.product));
  } finally {
    await installation.close();
  }
}
