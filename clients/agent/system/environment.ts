/**
 * Environment of started programs: PATH, HOME, LANG, TZ, and named variables that their task needs
 * (contract 90, whom it believes). Never a password.
 */
import { ON_WINDOWS } from './files.js';

type Env = Readonly<Record<string, string | undefined>>;

const COMMON_VARIABLES = ['PATH', 'HOME', 'LANG', 'TZ'];
const WINDOWS_VARIABLES = [
  'Path',
  'PATHEXT',
  'SystemRoot',
  'SystemDrive',
  'TEMP',
  'TMP',
  'USERPROFILE',
  'USERNAME',
  'USERDOMAIN',
  'APPDATA',
  'LOCALAPPDATA',
  'ProgramData',
  'ProgramFiles',
];

/** @param names further variables, or patterns of their names */
export function buildChildEnv(env: Env, ...names: (string | RegExp)[]): NodeJS.ProcessEnv {
  const wanted = [...COMMON_VARIABLES, ...(ON_WINDOWS ? WINDOWS_VARIABLES : []), ...names];
  const isWanted = (name: string): boolean =>
    wanted.some((one) => (typeof one === 'string' ? one === name : one.test(name)));
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => value !== undefined && isWanted(name)));
}

/**
 * Returns the application's environment: all except the agent's secrets, because the application
 * may have started the agent.
 */
export function buildApplicationEnv(env: Env): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(SVC_PASSWORD|SVC_SET_|UPDATE_AGENT_)/.test(name)),
  );
}
