/**
 * Resolves the script folder of a machine without an installation (contract 90, update agent:
 * `monitor`).
 */
import { join } from 'node:path';
import { AgentFailure } from '../exit.js';
import { ON_WINDOWS } from './files.js';
import { isElevated } from './windows.js';

type Env = Readonly<Record<string, string | undefined>>;

/** @throws AgentFailure usage */
export async function getMachineFolder(env: Env): Promise<string> {
  const home = await getBaseFolder(env);
  if (home === undefined)
    throw new AgentFailure('usage', '--dir is missing: the directory for the script and its token');
  return join(home, 'update-agent', 'monitor');
}

async function getBaseFolder(env: Env): Promise<string | undefined> {
  if (ON_WINDOWS) return (await isElevated()) ? env.ProgramData : env.LOCALAPPDATA;
  if (process.geteuid?.() === 0) return '/var/lib';
  return env.XDG_DATA_HOME || (env.HOME && join(env.HOME, '.local', 'share'));
}
