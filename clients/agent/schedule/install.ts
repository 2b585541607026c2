import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import { AgentFailure, getErrorCode } from '../exit.js';
import { findTaggedLine, readCrontab, replaceTaggedLine, writeCrontab } from '../monitoring/crontab.js';
import type { Env, NightlyScheduler } from '../options/table.js';
import { buildChildEnv } from '../system/environment.js';
import { ON_WINDOWS } from '../system/files.js';
import { findProgram, runProgram } from '../system/programs.js';
import { isElevated, runWindowsTool, getSystemPath } from '../system/windows.js';
import {
  getCronTag,
  buildCronLine,
  buildLaunchdPlist,
  pickNightlyTime,
  buildSystemdUnits,
  buildTaskXml,
  getUnitName,
  parseCronDir,
  parseLaunchdDir,
  parseSystemdDir,
  parseTaskDir,
  type NightlyUpdate,
  type UnitFile,
} from './units.js';

export interface NightlySchedule {
  files: readonly UnitFile[];
  scheduledDir: string | null;
  install: () => Promise<void>;
}

const isRoot = (): boolean => process.geteuid?.() === 0;

/**
 * Returns root's systemd where it runs, else the user's cron; Windows and macOS have their own
 * schedulers.
 */
export async function detectScheduler(): Promise<NightlyScheduler> {
  if (ON_WINDOWS) return 'task';
  if (process.platform === 'darwin') return 'launchd';
  const runsSystemd = await stat('/run/systemd/system').then(
    () => true,
    () => false,
  );
  return runsSystemd && isRoot() ? 'systemd' : 'cron';
}

interface ScheduleContext {
  env: Env;
  own: string;
}

type PrepareScheduler = (update: NightlyUpdate, around: ScheduleContext) => Promise<NightlySchedule>;

export const prepareSchedule = (
  scheduler: NightlyScheduler,
  update: NightlyUpdate,
  around: ScheduleContext,
): Promise<NightlySchedule> => SCHEDULER_PREPARERS[scheduler](update, around);

const SCHEDULER_PREPARERS: Readonly<Record<NightlyScheduler, PrepareScheduler>> = {
  systemd: prepareSystemd,
  cron: prepareCron,
  launchd: prepareLaunchd,
  task: prepareTask,
};

const pickTime = ({ dir }: NightlyUpdate): { hour: number; minute: number } => pickNightlyTime(`${hostname()}\n${dir}`);

async function prepareCron(update: NightlyUpdate, { env }: ScheduleContext): Promise<NightlySchedule> {
  const line = buildCronLine(update, pickTime(update));
  const before = findTaggedLine(await readCrontab(env), getCronTag(update.project));
  const scheduledDir = before === null ? null : parseCronDir(before);
  const install = async (): Promise<void> =>
    writeCrontab(replaceTaggedLine(await readCrontab(env), line, getCronTag(update.project)), env);
  return { files: [{ path: 'crontab', content: `${line}\n` }], scheduledDir, install };
}

async function prepareLaunchd(update: NightlyUpdate, { env }: ScheduleContext): Promise<NightlySchedule> {
  const folder = isRoot() ? '/Library/LaunchDaemons' : join(env.HOME ?? homedir(), 'Library', 'LaunchAgents');
  const file = buildLaunchdPlist(update, folder, pickTime(update));
  const domain = isRoot() ? 'system' : `gui/${process.getuid?.() ?? 0}`;
  const program = await findRequiredProgram('launchctl', env);
  const install = async (): Promise<void> => {
    await writeUnits([file]);
    await runCommand(program, ['bootout', `${domain}/${getUnitName(update.project)}`], env).catch(() => undefined);
    await runCommand(program, ['bootstrap', domain, file.path], env);
  };
  return { files: [file], scheduledDir: await readDir(file.path, parseLaunchdDir), install };
}

async function prepareTask(update: NightlyUpdate, { own }: ScheduleContext): Promise<NightlySchedule> {
  const content = buildTaskXml(update, await isElevated());
  const path = join(own, 'schedule.xml');
  const before = await runWindowsTool(getSystemPath('schtasks.exe'), [
    '/Query',
    '/TN',
    getUnitName(update.project),
    '/XML',
  ]).then(
    ({ stdout }) => parseTaskDir(stdout),
    () => null,
  );
  return {
    files: [{ path, content }],
    // Output uses the console's code page, so non-ASCII letters are unreliable.
    scheduledDir: before !== null && /^[ !-~]+$/.test(before) && !before.includes('?') ? before : null,
    install: () => createTask(path, content, update.project),
  };
}

async function prepareSystemd(update: NightlyUpdate, { env }: ScheduleContext): Promise<NightlySchedule> {
  const { XDG_CONFIG_HOME: named = '' } = env;
  const config = named === '' ? join(env.HOME ?? homedir(), '.config') : named;
  const files = buildSystemdUnits(update, isRoot() ? '/etc/systemd/system' : join(config, 'systemd', 'user'));
  const scope = isRoot() ? [] : ['--user'];
  const program = await findRequiredProgram('systemctl', env);
  const install = async (): Promise<void> => {
    await writeUnits(files);
    await runCommand(program, [...scope, 'daemon-reload'], env);
    await runCommand(program, [...scope, 'enable', '--now', `${getUnitName(update.project)}.timer`], env);
  };
  return { files, scheduledDir: await readDir(files[0]?.path ?? '', parseSystemdDir), install };
}

async function createTask(path: string, content: string, project: string): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true, mode: 0o700 });
  await writeFile(path, Buffer.from(`\ufeff${content.replaceAll('\n', '\r\n')}`, 'utf16le'));
  try {
    await runWindowsTool(getSystemPath('schtasks.exe'), ['/Create', '/F', '/TN', getUnitName(project), '/XML', path]);
  } catch (error) {
    throw new AgentFailure('error', `the task was not created: ${getErrorMessage(error)}`, { cause: error });
  } finally {
    await rm(path, { force: true });
  }
}

async function readDir(path: string, parse: (text: string) => string | null): Promise<string | null> {
  try {
    return parse(await readFile(path, 'utf8'));
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

async function writeUnits(files: readonly UnitFile[]): Promise<void> {
  for (const { path, content } of files) {
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, content, { mode: 0o644 });
  }
}

async function findRequiredProgram(name: string, env: Env): Promise<string> {
  const program = await findProgram(name, env);
  if (program === null) throw new AgentFailure('error', `PATH has no ${name}: choose another --scheduler`);
  return program;
}

async function runCommand(program: string, args: readonly string[], env: Env): Promise<void> {
  const around = buildChildEnv(env, 'USER', 'LOGNAME', 'XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS');
  try {
    await runProgram(program, args, around);
  } catch (error) {
    throw new AgentFailure('error', `${program} ${args.join(' ')} failed: ${getErrorMessage(error)}`, { cause: error });
  }
}

const getErrorMessage = (error: unknown): string => {
  const stderrText = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  return stderrText || (error as Error).message;
};
