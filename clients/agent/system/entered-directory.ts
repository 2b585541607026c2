/**
 * Through a link another user could choose where the agent works (contract 90, where it writes).
 */
import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AgentFailure } from '../exit.js';
import { statPath, ON_WINDOWS } from './files.js';

const OTHERS_WRITE_MASK = 0o002;
const STICKY_BIT = 0o1000;

const createUnsafeFailure = (path: string, why: string): AgentFailure =>
  new AgentFailure('spaceOrPermission', `${path} ${why}; nothing was changed`);

/** @param dir absolute; it may not exist yet */
export async function checkEnteredDirectory(dir: string): Promise<void> {
  const own = await statPath(dir);
  if (own?.isSymbolicLink()) throw await createLinkFailure(dir);
  const isRoot = !ON_WINDOWS && process.geteuid?.() === 0;
  for (let at = dirname(dir); at !== dirname(at); at = dirname(at)) {
    const stats = await statPath(at);
    if (stats === null) continue;
    if (stats.isSymbolicLink()) throw await createLinkFailure(at);
    if (!isRoot) continue;
    // Its owner could rename this directory and so choose what root finds at the path next time.
    if (stats.uid !== 0 && stats.uid !== own?.uid)
      throw createUnsafeFailure(at, `belongs to another user (${stats.uid})`);
    if ((stats.mode & OTHERS_WRITE_MASK) !== 0 && (stats.mode & STICKY_BIT) === 0)
      throw createUnsafeFailure(at, 'is writable by others (chmod o-w)');
  }
}

async function createLinkFailure(path: string): Promise<AgentFailure> {
  const target = await realpath(path).catch(() => 'nowhere');
  return createUnsafeFailure(path, `is a link to ${target}; pass the directory itself`);
}
