/**
 * The directory as it was typed (contract 90, where it writes): each part of it is looked at without following, before
 * anything is read there or sent anywhere. Through a link somebody else would choose where the agent works.
 */
import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AgentFailure } from '../exit.js';
import { look, ON_WINDOWS } from './files.js';

const OTHERS_WRITE = 0o002;
const STICKY = 0o1000;

const refuse = (path: string, why: string): AgentFailure =>
  new AgentFailure('spaceOrPermission', `${path} ${why}; nothing was changed`);

/** @param dir absolute; it may not be there yet */
export async function checkTyped(dir: string): Promise<void> {
  const own = await look(dir);
  if (own?.isSymbolicLink()) throw await link(dir);
  const isRoot = !ON_WINDOWS && process.geteuid?.() === 0;
  for (let at = dirname(dir); at !== dirname(at); at = dirname(at)) {
    const stats = await look(at);
    if (stats === null) continue;
    if (stats.isSymbolicLink()) throw await link(at);
    if (!isRoot) continue;
    // Whoever may rename this directory chooses what lies at the path when root comes by again.
    if (stats.uid !== 0 && stats.uid !== own?.uid) throw refuse(at, `belongs to another user (${stats.uid})`);
    if ((stats.mode & OTHERS_WRITE) !== 0 && (stats.mode & STICKY) === 0)
      throw refuse(at, 'can be written to by others (chmod o-w)');
  }
}

async function link(path: string): Promise<AgentFailure> {
  const target = await realpath(path).catch(() => 'nowhere');
  return refuse(path, `is a link to ${target}: name the directory itself`);
}
