/**
 * `--action update` (contract 90, update): lock → recover → check → … → clean up, in several steps
 * when `min_version` requires them.
 */
import { compareVersions } from '../../../lib/versions.js';
import { deriveMachineId } from '../../../lib/formats/machine-id.js';
import { detectMachinePlatform } from '../../../lib/formats/machine.js';
import { hasCrashed, rejectAfterCrash } from '../crash.js';
import { AgentFailure, failureOf } from '../exit.js';
import { carrySettingsOver } from '../settings/carry-over.js';
import { machineInstance } from '../system/machine.js';
import { bring } from '../update/bring.js';
import { follow } from '../update/follow.js';
import { Installation, type Agent } from '../update/installation.js';
import { readOffline } from '../update/offline.js';
import { Restart } from '../update/restart.js';
import { UpdateServer, type UpdateQuestion } from '../update/server.js';
import { waitForProcess } from '../update/wait.js';
import { reportRecovery, rollBackOpenUpdate } from './recover.js';

export async function update(agent: Agent): Promise<void> {
  const restart = new Restart(agent);
  try {
    await rejectAfterCrash(underLock(agent, restart), agent);
  } catch (error) {
    if (hasCrashed(agent)) await rollBackOpenUpdate(agent);
    // The application is restarted in any case; the first failure is the one reported.
    await restart.start().catch((late: unknown) => agent.output.warning(failureOf(late).message));
    throw error;
  }
  await restart.start();
}

async function underLock(agent: Agent, restart: Restart): Promise<void> {
  const installation = await Installation.open(agent);
  try {
    reportRecovery(agent.output, installation.recovered);
    const server = agent.options.server === null ? null : new UpdateServer(agent.network, agent.options.server);
    if (agent.options.package === null) await fromServer(installation, server, restart);
    else await fromFile(installation, agent.options.package, server, restart);
  } finally {
    restart.installed = installation.manifest;
    restart.root = installation.layout.root;
    await installation.close();
  }
}

async function fromServer(installation: Installation, server: UpdateServer | null, restart: Restart): Promise<void> {
  const { agent } = installation;
  if (server === null) throw new AgentFailure('usage', '--server is missing: the address of the service');
  const asked = questionOf(installation);
  const { product, channel, platform } = asked;
  const version = installedVersion(asked.version);
  const question: UpdateQuestion = {
    product,
    version,
    channel,
    platform,
    instance: await instanceOf(installation, product),
  };
  const beforePlan = (): Promise<void> => quiet(agent, restart);
  const taken = await follow(installation, server, {
    question,
    fresh: false,
    beforePlan,
    carryOver: carrySettingsOver,
  });
  if (taken === 0) agent.output.upToDate(version);
}

async function fromFile(
  installation: Installation,
  archive: string,
  server: UpdateServer | null,
  restart: Restart,
): Promise<void> {
  const { agent } = installation;
  const question = questionOf(installation);
  const release = await readOffline(installation, archive, question, server);
  if (release === null) {
    agent.output.upToDate(question.version ?? '');
    return;
  }
  await bring(installation, {
    release,
    archive,
    beforePlan: () => quiet(agent, restart),
    carryOver: carrySettingsOver,
  });
  agent.output.updated(question.version, release.manifest.version);
}

/**
 * Ensures that the application is not running: stops its service and waits for the given process.
 */
export async function quiet({ options, signal }: Agent, restart: Restart): Promise<void> {
  await restart.stop();
  if (options.waitForPid !== null) await waitForProcess(options.waitForPid, options.waitSeconds, signal);
}

export function questionOf({
  agent,
  manifest,
}: Installation): Omit<UpdateQuestion, 'instance' | 'version'> & { version: string | null } {
  const { project, channel, platform, currentVersion, adopt } = agent.options;
  const product = project ?? manifest?.product ?? null;
  if (product === null)
    throw new AgentFailure('usage', '--project is missing: nothing is installed that would name it');
  if (manifest !== null && manifest.product !== product && !adopt)
    throw new AgentFailure('usage', `${manifest.product} is installed here, not ${product} (--adopt replaces it)`);
  if (manifest !== null && currentVersion !== null && compareVersions(currentVersion, manifest.version) !== 0)
    agent.output.warning(`${manifest.version} is installed, as manifest.json says, and not ${currentVersion}`);
  const installed = manifest === null || manifest.platform === 'any' ? detectMachinePlatform() : manifest.platform;
  return {
    product,
    channel: channel ?? manifest?.channel ?? 'stable',
    platform: platform ?? installed,
    version: manifest?.version ?? currentVersion,
  };
}

function installedVersion(version: string | null): string {
  if (version === null)
    throw new AgentFailure('usage', 'nothing is installed here: give --current-version, or --action install');
  return version;
}

export async function instanceOf(installation: Installation, product: string): Promise<string> {
  const { machineId } = installation.agent.options;
  if (machineId !== null) return machineId;
  const { id, kept } = await machineInstance(installation.state.current.instance);
  if (kept !== null) await installation.save({ ...installation.state.current, instance: kept });
  return deriveMachineId(product, id);
}
