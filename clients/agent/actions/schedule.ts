/**
 * `--action schedule` (contract 90, amendments): runs the update every night. Shows the unit, asks, and installs it;
 * what the nightly run needs is stored, and its credentials are tried first, so that it does not end with a 401.
 */
import { resolve } from 'node:path';
import { isSea } from 'node:sea';
import { machinePlatform } from '../../../formats/machine.js';
import { isPlatform } from '../../../formats/platform.js';
import { AgentFailure } from '../exit.js';
import { Layout } from '../layout.js';
import { below } from '../options/address.js';
import { foreignOwner, readInstalledRelease, ROOTS } from '../options/belief.js';
import { SLUG } from '../options/table.js';
import { formatRejection } from '../net/download.js';
import { askYesNo, isInteractive } from '../prompts.js';
import { detectScheduler, prepareSchedule } from '../schedule/install.js';
import { checkCommand, getUnitName, type NightlyUpdate } from '../schedule/units.js';
import { keepOptions } from '../setup/kept-options.js';
import { look } from '../system/files.js';
import type { Agent } from '../update/installation.js';
import { UpdateServer } from '../update/server.js';

export async function schedule(agent: Agent): Promise<void> {
  const { options, output, signal } = agent;
  const { server, username, passwordFile } = options;
  const installed = await readInstalledRelease(options.dir);
  const project = options.project ?? installed?.product ?? null;
  if (project === null || !SLUG.test(project))
    throw new AgentFailure('usage', `nothing is installed in ${options.dir}: --action install, or name its --dir`);
  if (server === null) throw new AgentFailure('usage', '--server is missing: the address of the service');
  if (username !== null && passwordFile === null)
    throw new AgentFailure(
      'usage',
      `the nightly run has no password of ${username}: give --password-file, or --license-key instead of the account`,
    );
  const foreign = await foreignOwner(options.dir);
  const rootsFile = `${ROOTS}/${project}.json`;
  if (foreign !== null && (await look(rootsFile)) === null)
    throw new AgentFailure(
      'usage',
      `${options.dir} belongs to another user: write server and key into ${rootsFile} first`,
    );

  const channel = options.channel ?? installed?.channel ?? 'stable';
  const platform = options.platform ?? (isPlatform(installed?.platform) ? installed.platform : 'any');
  await tryCredentials(agent, server, {
    product: project,
    channel,
    platform: platform === 'any' ? machinePlatform() : platform,
  });

  const update: NightlyUpdate = { project, dir: options.dir, command: commandOf(agent) };
  checkCommand(update);
  const scheduler = options.scheduler ?? (await detectScheduler());
  const layout = new Layout(options.dir);
  const nightly = await prepareSchedule(scheduler, update, { env: agent.env, own: layout.own });
  for (const { path, content } of nightly.files) output.plain(`# ${path}\n${content}\n`);
  if (!options.yes) {
    if (!isInteractive(options))
      throw new AgentFailure('usage', 'nothing was installed: there is no terminal to ask at, and --yes is missing');
    if (!(await askYesNo('Install this?', true, '--yes', signal)))
      throw new AgentFailure('cancelled', 'nothing was installed');
  }
  if (foreign === null) await keepOptions({ agent, layout }, { replace: true });
  await nightly.install();
  output.scheduled(getUnitName(project), scheduler);
}

/** The same program, in the place where it is now. */
function commandOf({ ownFile, options }: Agent): string[] {
  const program = isSea() ? [process.execPath] : [process.execPath, resolve(ownFile)];
  return [...program, '--action', 'update', '--dir', options.dir, ...(options.restart ? ['--restart'] : [])];
}

/**
 * Requests the first byte of the newest package as the nightly run will.
 * @throws AgentFailure unauthorized
 */
async function tryCredentials(
  { network }: Agent,
  address: URL,
  wanted: { product: string; channel: string; platform: string },
): Promise<void> {
  const newest = await new UpdateServer(network, address).latest({ ...wanted, version: '0', instance: '' });
  if (newest === null) return;
  const answer = await network.open(below(address, newest.packageUrl), { range: 'bytes=0-0' });
  await answer.drop();
  if (answer.status === 401 || answer.status === 403) throw new AgentFailure('unauthorized', formatRejection(answer));
}
