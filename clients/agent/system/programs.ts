/**
 * The programs that the agent starts, found in PATH. Only in absolute directories: an empty entry would be the current
 * one. As root only in those that nobody else may write to, whatever the PATH says that came along.
 */
import { access, constants, realpath, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { checkAncestors } from './parents.js';
import { AgentFailure } from '../exit.js';
import { ON_WINDOWS } from './files.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Its path; null: there is none. */
export async function programAt(name: string, env: Env): Promise<string | null> {
  for (const folder of (env.PATH ?? env.Path ?? '').split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const path = join(folder, name);
    const runs = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs && (await isSafe(path))) return path;
  }
  return null;
}

/** Nobody but root can put another program there. */
export async function isSafe(path: string): Promise<boolean> {
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
