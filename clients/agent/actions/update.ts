/**
 * `--action update` (contract 90, update): lock → recover → check → … → clean up, in several steps
 * when `min_version` requires them.
 */
import { compareVersions } from '../../../lib/versions.js';
import { deriveMachineId } from '../../../lib/formats/machine-id.js';
import { detectMachinePlatform } from '../../../lib/formats/machine.js';
import { hasCrashed, rejectAfterCrash } from '../crash.js';
import { AgentFailure, toAgentFailure } from '../exit.js';
import { carrySettingsOver } from '../settings/carry-over.js';
import { resolveMachineInstance } from '../system/machine.js';
import { installVerified } from '../update/verified-install.js';
import { installOffered } from '../update/offered-install.js';
import { Installation, type Agent } from '../update/installation.js';
import { readOfflineRelease } from '../update/offline.js';
import { ApplicationRestart } from '../update/restart.js';
import { UpdateServiceClient, type UpdateQuery } from '../update/server.js';
import { waitForProcess } from '../update/wait.js';
import { reportRecovery, rollBackOpenUpdate } from './recover.js';

export const runUpdate = (agent: Agent): Promise<void> => runWithRestart(agent, updateInstallation);

type LockedWork = (installation: Installation, restart: ApplicationRestart) => Promise<void>;

/** Runs the work with the opened installation, then starts the application again in any case. */
export async function runWithRestart(agent: Agent, work: LockedWork): Promise<void> {
  const restart = new ApplicationRestart(agent);
  try {
    await rejectAfterCrash(runLocked(agent, restart, work), agent);
  } catch (error) {
    if (hasCrashed(agent)) await rollBackOpenUpdate(agent);
    // The application is restarted in any case; the first failure is the one reported.
    await restart.start().catch((late: unknown) => agent.output.warn(toAgentFailure(late).message));
    throw error;
  }
  await restart.start();
}

async function runLocked(agent: Agent, restart: ApplicationRestart, work: LockedWork): Promise<void> {
  const installation = await Installation.open(agent);
  try {
    reportRecovery(agent.output, installation.recovered);
    await work(installation, restart);
  } finally {
    restart.installed = installation.manifest;
    restart.root = installation.layout.root;
    await installation.close();
  }
}

async function updateInstallation(installation: Installation, restart: ApplicationRestart): Promise<void> {
  const { options, network } = installation.agent;
  const server = options.server === null ? null : new UpdateServiceClient(network, options.server);
  if (options.package === null) await updateFromServer(installation, server, restart);
  else await updateFromFile(installation, options.package, server, restart);
}

async function updateFromServer(
  installation: Installation,
  server: UpdateServiceClient | null,
  restart: ApplicationRestart,
): Promise<void> {
  const { agent } = installation;
  if (server === null) throw new AgentFailure('usage', '--server is missing: the address of the service');
  const query = buildUpdateQuery(installation);
  const { product, channel, platform } = query;
  const version = toInstalledVersion(query.version);
  const question: UpdateQuery = {
    product,
    version,
    channel,
    platform,
    instance: await getInstanceId(installation, product),
  };
  const beforePlan = (): Promise<void> => stopApplication(agent, restart);
  const installedCount = await installOffered(installation, server, {
    question,
    fresh: false,
    beforePlan,
    carryOver: carrySettingsOver,
  });
  if (installedCount === 0) agent.output.reportUpToDate(version);
}

async function updateFromFile(
  installation: Installation,
  archive: string,
  server: UpdateServiceClient | null,
  restart: ApplicationRestart,
): Promise<void> {
  const { agent } = installation;
  const question = buildUpdateQuery(installation);
  const release = await readOfflineRelease(installation, archive, question, server);
  if (release === null) {
    agent.output.reportUpToDate(question.version ?? '');
    return;
  }
  await installVerified(installation, {
    release,
    files: { archive },
    beforePlan: () => stopApplication(agent, restart),
    carryOver: carrySettingsOver,
  });
  await installation.forgetLeftVersion(release.manifest.version);
  agent.output.reportUpdated(question.version, release.manifest.version);
}

/** Stops its service and waits for the given process. */
export async function stopApplication({ options, signal }: Agent, restart: ApplicationRestart): Promise<void> {
  await restart.stop();
  if (options.waitForPid !== null) await waitForProcess(options.waitForPid, options.waitSeconds, signal);
}

export function buildUpdateQuery({
  agent,
  manifest,
}: Installation): Omit<UpdateQuery, 'instance' | 'version'> & { version: string | null } {
  const { project, channel, platform, currentVersion, adopt } = agent.options;
  const product = project ?? manifest?.product ?? null;
  if (product === null)
    throw new AgentFailure('usage', '--project is missing, and no installation was found that contains it');
  if (manifest !== null && manifest.product !== product && !adopt)
    throw new AgentFailure('usage', `${manifest.product} is installed here, not ${product} (--adopt replaces it)`);
  if (manifest !== null && currentVersion !== null && compareVersions(currentVersion, manifest.version) !== 0)
    agent.output.warn(`${manifest.version} is installed according to manifest.json, not ${currentVersion}`);
  const installed = manifest === null || manifest.platform === 'any' ? detectMachinePlatform() : manifest.platform;
  return {
    product,
    channel: channel ?? manifest?.channel ?? 'stable',
    platform: platform ?? installed,
    version: manifest?.version ?? currentVersion,
  };
}

function toInstalledVersion(version: string | null): string {
  if (version === null)
    throw new AgentFailure('usage', 'no installation found; pass --current-version, or --action install');
  return version;
}

export async function getInstanceId(installation: Installation, product: string): Promise<string> {
  const { machineId } = installation.agent.options;
  if (machineId !== null) return machineId;
  const { id, kept: instanceToStore } = await resolveMachineInstance(installation.state.current.instance);
  if (instanceToStore !== null) await installation.save({ ...installation.state.current, instance: instanceToStore });
  return deriveMachineId(product, id);
}
