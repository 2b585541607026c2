/**
 * What a program that the agent starts gets of its environment: PATH, HOME, LANG, TZ, and what its task needs by name
 * (contract 90, whom it believes). Never a password.
 */
import { ON_WINDOWS } from './files.js';

type Env = Readonly<Record<string, string | undefined>>;

const EVERY = ['PATH', 'HOME', 'LANG', 'TZ'];
/** Without these no program of Windows runs. */
const WINDOWS = [
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
export function childEnv(env: Env, ...names: (string | RegExp)[]): NodeJS.ProcessEnv {
  const wanted = [...EVERY, ...(ON_WINDOWS ? WINDOWS : []), ...names];
  const isWanted = (name: string): boolean =>
    wanted.some((one) => (typeof one === 'string' ? one === name : one.test(name)));
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => value !== undefined && isWanted(name)));
}

/**
 * An application gets what is around the agent, for it may be the one that started it: all but the agent's own secrets.
 */
export function applicationEnv(env: Env): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(SVC_PASSWORD|SVC_SET_|UPDATE_AGENT_)/.test(name)),
  );
}
