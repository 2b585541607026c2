/**
 * `--action install` (contract 90, update agent): login → selection from the catalog → directory →
 * install → setup → optionally monitoring. After exit 10 the files stay installed.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ownerToBecome } from '../owner/parent.js';
import { AgentFailure } from '../exit.js';
import { look } from '../system/files.js';
import { detectMachinePlatform } from '../../../lib/formats/machine.js';
import { namesSystemDirectory } from '../../../lib/formats/system-names.js';
import { askText, askYesNo, isInteractive } from '../prompts.js';
import { missingRuntimes } from '../runtime/check.js';
import { applySettings, showPost } from '../settings/apply-settings.js';
import { carrySettingsOver } from '../settings/carry-over.js';
import { serverOf } from '../net/account.js';
import { choose, readCatalog } from '../setup/catalog.js';
import { checkDirectory, makeDirectory, proposedDirectory, unmakeDirectory } from '../setup/directory.js';
import { checkKeptOptions, keepOptions } from '../setup/kept-options.js';
import { manifestOf } from '../trust/verified.js';
import { bring } from '../update/bring.js';
import { follow } from '../update/follow.js';
import { Installation, type Agent } from '../update/installation.js';
import { readOffline } from '../update/offline.js';
import { Restart } from '../update/restart.js';
import { UpdateServer } from '../update/server.js';
import { monitorMachine } from './monitor.js';
import { reportRecovery } from './recover.js';
import { instanceOf, quiet } from './update.js';

const NONE = '0';

interface Wish {
  agent: Agent;
  project: string;
  channel: string;
  platform: string;
}

export async function install(agent: Agent): Promise<void> {
  const wish = agent.options.package === null ? await fromServer(agent) : await fromFile(agent);
  const missing = await inDirectory(wish);
  await offerMonitoring(wish);
  const [first] = missing;
  if (first !== undefined) throw new AgentFailure('runtimeMissing', missing.join('; '));
}

/** Logs in and selects release and directory. A license key with a named project needs no login. */
async function fromServer(agent: Agent): Promise<Wish> {
  const server = await serverOf(agent.options, agent.signal);
  const platform = agent.options.platform ?? detectMachinePlatform();
  const withServer = { ...agent, options: { ...agent.options, server } };
  const { licenseKey, project, username } = agent.options;
  if (licenseKey !== null && project !== null && username === null) {
    const placed = await place(withServer, project);
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
  const choice = await choose(withServer, await readCatalog(session, platform), platform);
  const placed = await place(withServer, choice.project);
  return { agent: placed, ...choice, platform };
}

async function fromFile(agent: Agent): Promise<Wish> {
  const { options } = agent;
  const beside = join(dirname(options.package ?? ''), 'manifest.json');
  const bytes = await readFile(beside).catch((error: unknown) => {
    throw new AgentFailure('usage', `${beside} cannot be read: it belongs beside the package`, { cause: error });
  });
  const manifest = manifestOf(bytes);
  const project = options.project ?? manifest.product;
  const placed = await place(agent, project);
  const platform = options.platform ?? detectMachinePlatform();
  return { agent: placed, project, channel: options.channel ?? manifest.channel, platform };
}

async function place(agent: Agent, project: string): Promise<Agent> {
  const { options, signal } = agent;
  if (namesSystemDirectory(project))
    throw new AgentFailure(
      'usage',
      `--project: ${project} names a directory of the system; nothing of that name is installed`,
    );
  let { dir } = options;
  if (!options.dirGiven && isInteractive(options))
    dir = resolve(await askText('Directory', await proposedDirectory(dir, project), '--dir', signal));
  await checkDirectory(dir, project, options.adopt);
  if (!options.dirGiven && (await ownerToBecome(dir)) !== null)
    throw new AgentFailure('usage', `${dir} belongs to another user: say it with --dir, and all is done as that user`);
  return { ...agent, options: { ...options, dir } };
}

async function inDirectory(wish: Wish): Promise<string[]> {
  const { agent, project } = wish;
  const made = await makeDirectory(agent.options.dir);
  const restart = new Restart(agent);
  let installation: Installation | null = null;
  let missing: string[];
  let post: string | null;
  try {
    installation = await Installation.open(agent);
    reportRecovery(agent.output, installation.recovered);
    await checkDirectory(installation.layout.root, project, agent.options.adopt);
    await checkKeptOptions(installation.layout);
    await bringFiles(installation, wish, restart);
    await keepOptions(installation);
    missing =
      installation.manifest === null ? [] : await missingRuntimes(agent, installation.layout, installation.manifest);
    for (const sentence of missing) agent.output.warning(sentence);
    agent.output.release();
    post = await applySettings(installation, project);
  } catch (error) {
    if (installation !== null) await leaveNothing(installation, made);
    else await unmakeDirectory(made);
    await restart.start().catch((late: unknown) => agent.output.warning(String(late)));
    throw error;
  }
  await installation.close();
  if (missing.length === 0 || agent.options.service !== null) await restart.start();
  showPost(agent, post);
  return missing;
}

/**
 * Removes directories created for a failed installation, unless they contain a partial download
 * worth resuming.
 */
async function leaveNothing(installation: Installation, made: readonly string[]): Promise<void> {
  const { layout, manifest } = installation;
  await installation.close();
  if (manifest !== null || made.length === 0 || (await look(layout.journal)) !== null) return;
  if ((await readdir(layout.download)).length > 0) return;
  await rm(layout.own, { recursive: true, force: true });
  await unmakeDirectory(made);
}

async function bringFiles(installation: Installation, wish: Wish, restart: Restart): Promise<void> {
  const { agent } = installation;
  const { project, channel, platform } = wish;
  const { options, output } = agent;
  restart.root = installation.layout.root;
  const same = installation.manifest?.product === project ? installation.manifest : null;
  if (same === null && installation.manifest !== null)
    await installation.save({ ...installation.state.current, highest_version: null, statements: {} });
  const beforePlan = (): Promise<void> => quiet(agent, restart);
  const server = options.server === null ? null : new UpdateServer(agent.network, options.server);
  if (options.package !== null) {
    const question = { product: project, channel, platform, version: same?.version ?? null };
    const release = await readOffline(installation, options.package, question, server);
    if (release === null) output.upToDate(question.version ?? '');
    else {
      await bring(installation, { release, archive: options.package, beforePlan, carryOver: carrySettingsOver });
      output.updated(question.version, release.manifest.version);
    }
  } else if (server !== null) {
    const instance = await instanceOf(installation, project);
    const question = { product: project, version: same?.version ?? NONE, channel, platform, instance };
    const taken = await follow(installation, server, {
      question,
      fresh: same === null,
      beforePlan,
      carryOver: carrySettingsOver,
    });
    if (taken === 0 && same === null)
      throw new AgentFailure('error', `the server offers no release of ${project} on ${channel} for ${platform}`);
    if (taken === 0) output.upToDate(question.version);
  }
  restart.installed = installation.manifest;
}

/** Skipped with `--yes`, and without a terminal unless an option requests it. */
async function offerMonitoring({ agent, project }: Wish): Promise<void> {
  const { options, signal } = agent;
  if (options.yes) return;
  const said = options.monitorName !== null || options.schedule !== null;
  if (!said && (!isInteractive(options) || !(await askYesNo('Monitor this machine?', true, '--monitor-name', signal))))
    return;
  const session = options.server === null ? null : await agent.network.login(options.server);
  if (session === null)
    throw new AgentFailure(
      'usage',
      '--username is missing: monitoring wants an account with the role installer or admin',
    );
  await monitorMachine(agent, session, { folder: join(resolve(options.dir), '.update-agent', 'monitor'), project });
}
