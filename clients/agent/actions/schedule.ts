/**
 * `--action schedule` (contract 90, amendments): schedules a nightly update. Its credentials are
 * tested first, so that it does not fail with a 401.
 */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { detectMachinePlatform } from '../../../lib/formats/machine.js';
import { isPlatform } from '../../../lib/formats/platform.js';
import { AgentFailure } from '../exit.js';
import { InstallationLayout } from '../layout.js';
import { resolveServerPath } from '../options/address.js';
import { getForeignOwner, readInstalledRelease, SYSTEM_CONFIG_FOLDER } from '../options/config-trust.js';
import { SLUG_PATTERN } from '../options/table.js';
import { formatRejection } from '../net/download.js';
import { promptYesNo, isInteractive } from '../prompts.js';
import { detectScheduler, prepareSchedule } from '../schedule/install.js';
import { buildNightlyCommand, resolveProgram } from '../schedule/command.js';
import { checkCommand, getUnitName, type NightlyUpdate } from '../schedule/units.js';
import { storeOptions } from '../setup/stored-options.js';
import { statPath, ON_WINDOWS } from '../system/files.js';
import type { Agent } from '../update/installation.js';
import { UpdateServiceClient } from '../update/server.js';

export async function scheduleUpdates(agent: Agent): Promise<void> {
  const { options, output, signal } = agent;
  const { server, username, passwordFile } = options;
  const program = await resolveProgram(agent.ownFile);
  const installed = await readInstalledRelease(options.dir);
  const project = options.project ?? installed?.product ?? null;
  if (project === null || !SLUG_PATTERN.test(project))
    throw new AgentFailure('usage', `no installation in ${options.dir}; use --action install, or pass its --dir`);
  if (server === null) throw new AgentFailure('usage', '--server is missing: the address of the service');
  if (username !== null && passwordFile === null)
    throw new AgentFailure(
      'usage',
      `the nightly run has no password of ${username}; pass --password-file, or --license-key instead of the account`,
    );
  const foreign = await getForeignOwner(options.dir);
  const rootsFile = `${SYSTEM_CONFIG_FOLDER}/${project}.json`;
  if (foreign !== null && (await statPath(rootsFile)) === null)
    throw new AgentFailure(
      'usage',
      `${options.dir} belongs to another user; write server and key to ${rootsFile} first`,
    );

  const channel = options.channel ?? installed?.channel ?? 'stable';
  const platform = options.platform ?? (isPlatform(installed?.platform) ? installed.platform : 'any');
  await verifyCredentials(agent, server, {
    product: project,
    channel,
    platform: platform === 'any' ? detectMachinePlatform() : platform,
  });

  const scheduler = options.scheduler ?? (await detectScheduler());
  // If the nightly run reads another file, values in the installation's own file would have no
  // effect.
  const isStored = foreign === null && options.config === null;
  const file = options.config ?? (foreign === null ? join(options.dir, '.update-agent', 'agent.json') : rootsFile);
  const command = await buildNightlyCommand(agent, { program, scheduler, file, isStored });
  const update: NightlyUpdate = { project, dir: options.dir, command };
  checkCommand(update, scheduler);
  const layout = new InstallationLayout(options.dir);
  const nightly = await prepareSchedule(scheduler, update, { env: agent.env, own: layout.own });
  const { scheduledDir } = nightly;
  if (scheduledDir !== null && !(await isSameFolder(scheduledDir, options.dir)))
    throw new AgentFailure(
      'usage',
      `${getUnitName(project)} by ${scheduler} already updates ${scheduledDir}; remove that schedule first, or schedule the update of ${options.dir} under another name`,
    );
  if (scheduler === 'systemd' && process.geteuid?.() !== 0)
    output.warn('the timer runs only while you are logged in; to run it always, use `loginctl enable-linger`');
  for (const { path, content } of nightly.files) output.printPlain(`# ${path}\n${content}\n`);
  if (!options.yes) {
    if (!isInteractive(options))
      throw new AgentFailure('usage', 'nothing was installed: no terminal for prompts, and --yes is missing');
    if (!(await promptYesNo('Install this?', true, '--yes', signal)))
      throw new AgentFailure('cancelled', 'nothing was installed');
  }
  if (isStored) await storeOptions({ agent, layout }, { replace: true });
  await nightly.install();
  output.reportScheduled(getUnitName(project), scheduler);
}

async function isSameFolder(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([one, other].map((path) => realpath(path).catch(() => path)));
  return first === second || (ON_WINDOWS && first?.toLowerCase() === second?.toLowerCase());
}

/** @throws AgentFailure unauthorized */
async function verifyCredentials(
  { network }: Agent,
  address: URL,
  wanted: { product: string; channel: string; platform: string },
): Promise<void> {
  const newest = await new UpdateServiceClient(network, address).fetchLatest({ ...wanted, version: '0', instance: '' });
  if (newest === null) return;
  const answer = await network.openPackage(resolveServerPath(address, newest.packageUrl), { range: 'bytes=0-0' });
  await answer.drop();
  if (answer.status === 401 || answer.status === 403) throw new AgentFailure('unauthorized', formatRejection(answer));
}
