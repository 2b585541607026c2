/**
 * Finds programs in the absolute directories of PATH; an empty entry would be the current
 * directory. As root only directories that no other user may write to count.
 */
import { execFile } from 'node:child_process';
import { access, constants, lstat, realpath, stat } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { checkAncestors } from './parent-validator.js';
import { AgentFailure } from '../exit.js';
import { ON_WINDOWS } from './files.js';

type Env = Readonly<Record<string, string | undefined>>;

export async function findProgram(name: string, env: Env): Promise<string | null> {
  for (const folder of (env.PATH ?? env.Path ?? '').split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const path = join(folder, name);
    const runs = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs && (await isRootControlled(path))) return path;
  }
  return null;
}

export async function isRootControlled(path: string): Promise<boolean> {
  if (ON_WINDOWS || process.geteuid?.() !== 0) return true;
  const real = await realpath(path);
  const { uid, mode } = await stat(real);
  if (uid !== 0 || (mode & 0o022) !== 0) return false;
  return checkAncestors(real).then(
    () => true,
    (error: unknown) => {
      if (error instanceof AgentFailure) return false;
      throw error;
    },
  );
}

const OTHERS_WRITE_MASK = 0o022;
const STICKY_BIT = 0o1000;

/**
 * Resolves a program that root will start unattended.
 * @returns its path without links
 * @throws AgentFailure usage when, as root, another user could replace it
 */
export async function resolveRootProgram(path: string): Promise<string> {
  const real = await realpath(path);
  if (ON_WINDOWS || process.geteuid?.() !== 0) return path;
  for (let at = real; ; at = dirname(at)) {
    const stats = await lstat(at);
    const isSticky = stats.isDirectory() && (stats.mode & STICKY_BIT) !== 0;
    const why =
      stats.uid !== 0
        ? `belongs to another user (${stats.uid})`
        : (stats.mode & OTHERS_WRITE_MASK) !== 0 && !isSticky
          ? 'is writable by users other than root (chmod go-w)'
          : null;
    if (why !== null)
      throw new AgentFailure(
        'usage',
        `root must not run ${real} every night: ${at} ${why}; install the agent in a folder owned by root, such as /usr/local/bin`,
      );
    if (at === dirname(at)) return real;
  }
}

const RUN_TIMEOUT_MS = 60_000;

/**
 * Runs a system program without input.
 * @throws Error also when it is killed after the limit
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  limitMs = RUN_TIMEOUT_MS,
): Promise<{ stdout: string }> {
  const running = promisify(execFile)(program, [...args], {
    env,
    windowsHide: true,
    timeout: limitMs,
    killSignal: 'SIGKILL',
  });
  running.child.stdin?.end();
  try {
    return await running;
  } catch (error) {
    if (error instanceof Error && 'killed' in error && error.killed === true)
      throw new Error(`${program} ${args[0] ?? ''} did not exit within ${limitMs / 1000} s`, { cause: error });
    throw error;
  }
}
