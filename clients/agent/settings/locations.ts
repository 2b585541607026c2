/**
 * Resolves the locations of setup.json and the files that may be written there (contract 90,
 * setup.json).
 */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { findPathFault } from '../../../lib/formats/path-policy.js';
import { isSystemDirectoryName } from '../../../lib/formats/system-names.js';
import { AgentFailure } from '../exit.js';
import { ON_WINDOWS } from '../system/files.js';
import { isElevated } from '../system/windows.js';
import type { TargetLocation, Target } from './description.js';
import { substituteVariables } from './detect.js';

type Env = Readonly<Record<string, string | undefined>>;

export interface LocationContext {
  env: Env;
  root: string;
  project: string;
}

const isRoot = (): boolean => !ON_WINDOWS && process.geteuid?.() === 0;
const createLocationFailure = (why: string): AgentFailure => new AgentFailure('error', `setup.json: ${why}`);

export async function resolveBase(location: TargetLocation, { env, root, project }: LocationContext): Promise<string> {
  if (location === 'install') return root;
  if (location === 'home' && isRoot())
    throw createLocationFailure(
      'the location home is not allowed as root, because it would be the home directory of root',
    );
  if (location === 'home') return getHome(env);
  if (isSystemDirectoryName(project))
    throw createLocationFailure(
      `the location ${location} is not allowed: ${project} is the name of a system directory`,
    );
  if (ON_WINDOWS) {
    const elevated = await isElevated();
    const above = elevated ? env.ProgramData : location === 'config' ? env.APPDATA : env.LOCALAPPDATA;
    return join(above ?? getHome(env), project);
  }
  if (isRoot()) return join(location === 'config' ? '/etc' : '/var/lib', project);
  const xdg = location === 'config' ? env.XDG_CONFIG_HOME : env.XDG_DATA_HOME;
  const standard = location === 'config' ? ['.config'] : ['.local', 'share'];
  // The XDG specification requires ignoring relative paths.
  return join(xdg !== undefined && isAbsolute(xdg) ? xdg : join(getHome(env), ...standard), project);
}

const getHome = (env: Env): string => (ON_WINDOWS ? env.USERPROFILE : env.HOME) || homedir();

/**
 * Returns the path below the location's directory, with slashes and substituted variables.
 * @throws AgentFailure error
 */
export function resolveTargetPath({ location, file }: Target, env: Env): string {
  const path = substituteVariables(file, env).replaceAll('\\', '/');
  // Reserved names apply only at the root of an installation.
  const why = findPathFault(location === 'install' ? path : `x/${path}`, ON_WINDOWS ? 'win-x64' : 'linux-x64');
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path))
    throw createLocationFailure(`the file ${path} is an absolute path, or starts with a drive letter`);
  if (why !== null) throw createLocationFailure(`the file ${path} ${why}`);
  return path;
}
