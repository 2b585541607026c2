/**
 * `--action install` (contract 90, update agent): login → selection from the catalog → directory →
 * install → setup → optionally monitoring. After exit 10 the files stay installed.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { findOwner } from '../owner/parent.js';
import { AgentFailure } from '../exit.js';
import { statPath } from '../system/files.js';
import { detectMachinePlatform } from '../../../lib/formats/machine.js';
import { isSystemDirectoryName } from '../../../lib/formats/system-names.js';
import { promptText, promptYesNo, isInteractive } from '../prompts.js';
import { findMissingRuntimes } from '../runtime/runtime-check.js';
import { applySettings, printPostText } from '../settings/apply-settings.js';
import { carrySettingsOver } from '../settings/carry-over.js';
import { resolveServer } from '../net/account.js';
import { chooseRelease, fetchCatalog } from '../setup/catalog.js';
import { checkDirectory, createDirectories, suggestDirectory, removeEmptyDirectories } from '../setup/directory.js';
import { checkStoredOptions, storeOptions } from '../setup/stored-options.js';
import { parseManifest } from '../trust/release-verification.js';
import { installVerified } from '../update/verified-install.js';
import { installOffered } from '../update/offered-install.js';
import { Installation, type Agent } from '../update/installation.js';
import { readOfflineRelease } from '../update/offline.js';
import { ApplicationRestart } from '../update/restart.js';
import { UpdateServiceClient } from '../update/server.js';
import { monitorMachine } from './monitor.js';
import { reportRecovery } from './recover.js';
import { getInstanceId, stopApplication } from './update.js';

const NO_VERSION = '0';

interface InstallSelection {
  agent: Agent;
  project: string;
  channel: string;
  platform: string;
}

export async function installRelease(agent: Agent): Promise<void> {
  const selection = agent.options.package === null ? await selectFromServer(agent) : await selectFromFile(agent);
  const missing = await installInDirectory(selection);
  await offerMonitoring(selection);
  const [first] = missing;
  if (first !== undefined) throw new AgentFailure('runtimeMissing', missing.join('; '));
}

async function selectFromServer(agent: Agent): Promise<InstallSelection> {
  const server = await resolveServer(agent.options, agent.signal);
  const platform = agent.options.platform ?? detectMachinePlatform();
  const withServer = { ...agent, options: { ...agent.options, server } };
  const { licenseKey, project, username } = agent.options;
  if (licenseKey !== null && project !== null && username === null) {
    const placed = await resolveDirectory(withServer, project);
    return { agent: placed, project, channel: agent.options.channel ?? 'stable', platform };
  }
  if (project !== null && !isInteractive(agent.options))
    await checkDirectory(agent.options.dir, project, agent.options.adopt);
  const session = await agent.network.login(server);
  if (session === null)
    throw new AgentFailure(
      'usage',
      '--username is missing: an account with the role installer or admin (or --license-key and --project)',
    );
  const choice = await chooseRelease(withServer, await fetchCatalog(session, platform), platform);
  const placed = await resolveDirectory(withServer, choice.project);
  return { agent: placed, ...choice, platform };
}

async function selectFromFile(agent: Agent): Promise<InstallSelection> {
  const { options } = agent;
  const manifestPath = join(dirname(options.package ?? ''), 'manifest.json');
  const bytes = await readFile(manifestPath).catch((error: unknown) => {
    throw new AgentFailure('usage', `${manifestPath} cannot be read; it must be next to the package`, { cause: error });
  });
  const manifest = parseManifest(bytes);
  const project = options.project ?? manifest.product;
  const placed = await resolveDirectory(agent, project);
  const platform = options.platform ?? detectMachinePlatform();
  return { agent: placed, project, channel: options.channel ?? manifest.channel, platform };
}

async function resolveDirectory(agent: Agent, project: string): Promise<Agent> {
  const { options, signal } = agent;
  if (isSystemDirectoryName(project))
    throw new AgentFailure('usage', `--project: ${project} is the name of a system directory and cannot be installed`);
  let { dir } = options;
  if (!options.dirGiven && isInteractive(options))
    dir = resolve(await promptText('Directory', await suggestDirectory(dir, project), '--dir', signal));
  await checkDirectory(dir, project, options.adopt);
  if (!options.dirGiven && (await findOwner(dir)) !== null)
    throw new AgentFailure('usage', `${dir} belongs to another user; pass it with --dir to install as that user`);
  return { ...agent, options: { ...options, dir } };
}

async function installInDirectory(selection: InstallSelection): Promise<string[]> {
  const { agent, project } = selection;
  const made = await createDirectories(agent.options.dir);
  const restart = new ApplicationRestart(agent);
  let installation: Installation | null = null;
  let missing: string[];
  let post: string | null;
  try {
    installation = await Installation.open(agent);
    reportRecovery(agent.output, installation.recovered);
    await checkDirectory(installation.layout.root, project, agent.options.adopt);
    await checkStoredOptions(installation.layout);
    await installFiles(installation, selection, restart);
    await storeOptions(installation);
    missing =
      installation.manifest === null
        ? []
        : await findMissingRuntimes(agent, installation.layout, installation.manifest);
    for (const sentence of missing) agent.output.warn(sentence);
    agent.output.releaseWarnings();
    post = await applySettings(installation, project);
  } catch (error) {
    if (installation !== null) await removeUnusedDirectories(installation, made);
    else await removeEmptyDirectories(made);
    await restart.start().catch((late: unknown) => agent.output.warn(String(late)));
    throw error;
  }
  await installation.close();
  if (missing.length === 0 || agent.options.service !== null) await restart.start();
  printPostText(agent, post);
  return missing;
}

/** Unless they contain a partial download worth resuming. */
async function removeUnusedDirectories(installation: Installation, made: readonly string[]): Promise<void> {
  const { layout, manifest } = installation;
  await installation.close();
  if (manifest !== null || made.length === 0 || (await statPath(layout.journal)) !== null) return;
  if ((await readdir(layout.download)).length > 0) return;
  await rm(layout.own, { recursive: true, force: true });
  await removeEmptyDirectories(made);
}

async function installFiles(
  installation: Installation,
  selection: InstallSelection,
  restart: ApplicationRestart,
): Promise<void> {
  const { agent } = installation;
  const { project, channel, platform } = selection;
  const { options, output } = agent;
  restart.root = installation.layout.root;
  const same = installation.manifest?.product === project ? installation.manifest : null;
  if (same === null && installation.manifest !== null)
    await installation.save({ ...installation.state.current, highest_version: null, statements: {} });
  const beforePlan = (): Promise<void> => stopApplication(agent, restart);
  const server = options.server === null ? null : new UpdateServiceClient(agent.network, options.server);
  if (options.package !== null) {
    const question = { product: project, channel, platform, version: same?.version ?? null };
    const release = await readOfflineRelease(installation, options.package, question, server);
    if (release === null) output.reportUpToDate(question.version ?? '');
    else {
      await installVerified(installation, {
        release,
        files: { archive: options.package },
        beforePlan,
        carryOver: carrySettingsOver,
      });
      output.reportUpdated(question.version, release.manifest.version);
    }
  } else if (server !== null) {
    const instance = await getInstanceId(installation, project);
    const question = { product: project, version: same?.version ?? NO_VERSION, channel, platform, instance };
    const installedCount = await installOffered(installation, server, {
      question,
      fresh: same === null,
      beforePlan,
      carryOver: carrySettingsOver,
    });
    if (installedCount === 0 && same === null)
      throw new AgentFailure('error', `the server offers no release of ${project} on ${channel} for ${platform}`);
    if (installedCount === 0) output.reportUpToDate(question.version);
  }
  restart.installed = installation.manifest;
}

/** Without a terminal only if an option requests it. */
async function offerMonitoring({ agent, project }: InstallSelection): Promise<void> {
  const { options, signal } = agent;
  if (options.yes) return;
  const isRequested = options.monitorName !== null || options.schedule !== null;
  if (
    !isRequested &&
    (!isInteractive(options) || !(await promptYesNo('Monitor this machine?', true, '--monitor-name', signal)))
  )
    return;
  const session = options.server === null ? null : await agent.network.login(options.server);
  if (session === null)
    throw new AgentFailure(
      'usage',
      '--username is missing: monitoring requires an account with the role installer or admin',
    );
  await monitorMachine(agent, session, { folder: join(resolve(options.dir), '.update-agent', 'monitor'), project });
}
