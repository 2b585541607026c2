/**
 * `--action monitor` (contract 90, update agent): sets up monitoring for a machine without an
 * installation. Local preconditions are checked before any request to the service.
 */
import { hostname } from 'node:os';
import { AgentFailure } from '../exit.js';
import { ON_WINDOWS } from '../system/files.js';
import { detectMachinePlatform } from '../../../lib/formats/machine.js';
import { buildCronLine, readCrontab, replaceLine, writeCrontab } from '../monitoring/crontab.js';
import { prepareMonitoringFolder, writeMonitoringFiles } from '../monitoring/folder.js';
import { checkCurl, sendHeartbeat } from '../monitoring/heartbeat.js';
import { parseOffer, type MonitoringOffer } from '../monitoring/offer.js';
import { createScheduledTask } from '../monitoring/task.js';
import { promptText, promptYesNo } from '../prompts.js';
import { AlreadyExistsFailure, type SetupApi } from '../net/session.js';
import type { Agent } from '../update/installation.js';

const MAX_OFFER_BYTES = 1024 * 1024;
const MONITOR_NAME_PATTERN = /^[^\p{Cc}]{1,200}$/u;

export async function setUpMonitoring(agent: Agent): Promise<void> {
  const { server, project, dir } = agent.options;
  if (server === null) throw new AgentFailure('usage', '--server is missing: the address of the service');
  const session = await agent.network.login(server);
  if (session === null)
    throw new AgentFailure('usage', '--username is missing: an account with the role installer or admin');
  await monitorMachine(agent, session, { folder: dir, project });
}

export interface MonitorPlace {
  folder: string;
  project: string | null;
}

/**
 * Prompts for the settings and sets up monitoring, also for `install`, which has its own session.
 */
export async function monitorMachine(
  agent: Agent,
  session: SetupApi,
  { folder, project }: MonitorPlace,
): Promise<void> {
  const { output, signal } = agent;
  const name = await promptName(agent);
  const scheduled = await promptSchedule(agent);
  await checkCurl();
  if (scheduled && !ON_WINDOWS) await readCrontab(agent.env);
  const root = await prepareMonitoringFolder(folder);
  const offer = await requestOffer(agent, session, {
    name,
    hostname: hostname(),
    platform: detectMachinePlatform(),
    project,
  });
  const script = await writeMonitoringFiles(root, offer);
  await sendHeartbeat(script, agent.env, signal);
  if (scheduled) await installSchedule(offer, script, agent.env);
  output.reportMonitored(offer.source, script, scheduled ? offer.schedule.expression : null);
}

async function promptName({ options, signal }: Agent): Promise<string> {
  if (options.monitorName !== null) return options.monitorName;
  if (options.yes) return hostname();
  const name = await promptText('Name of this machine in the dashboard', hostname(), '--monitor-name', signal);
  if (!MONITOR_NAME_PATTERN.test(name))
    throw new AgentFailure('usage', 'the name must be one line of at most 200 characters');
  return name;
}

async function promptSchedule({ options, signal }: Agent): Promise<boolean> {
  if (options.schedule !== null) return options.schedule;
  if (options.yes) return false;
  const by = ON_WINDOWS ? 'a scheduled task' : 'cron';
  return promptYesNo(`Report it regularly with ${by}?`, true, '--schedule', signal);
}

/** The crontab is read again, because it may have been edited meanwhile. */
async function installSchedule(
  { schedule: { expression }, source }: MonitoringOffer,
  script: string,
  env: Agent['env'],
): Promise<void> {
  if (ON_WINDOWS) await createScheduledTask(expression, script, source);
  else await writeCrontab(replaceLine(await readCrontab(env), buildCronLine(expression, script, source), source), env);
}

async function requestOffer({ options, signal }: Agent, session: SetupApi, request: object): Promise<MonitoringOffer> {
  const ask = async (replace: boolean): Promise<MonitoringOffer> =>
    parseOffer(await session.post('agent', { ...request, replace }, MAX_OFFER_BYTES), ON_WINDOWS ? 'schtasks' : 'cron');
  try {
    return await ask(options.replace);
  } catch (error) {
    if (!(error instanceof AlreadyExistsFailure) || options.replace) throw error;
    if (options.yes || !process.stdin.isTTY)
      throw new AgentFailure('error', `${error.message} (--replace)`, { cause: error });
    const question = `${error.message} Replace its token?`;
    if (!(await promptYesNo(question, false, '--replace', signal))) throw error;
    return ask(true);
  }
}
