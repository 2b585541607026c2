/**
 * Determines who may read `.htpasswd` (contract 40, files). Node cannot look up groups, so the
 * group file is read.
 */
import { readFile, stat } from 'node:fs/promises';
import { PUBLIC_FILE_MODE, PRIVATE_FILE_MODE, type FileOwner } from './durable-writes.js';

export interface AccessMode {
  mode: number;
  /** Null for the group of the writing process. */
  gid: number | null;
}

interface WebServerSection {
  web_group: string | null;
  web_path: string | null;
}

export const PRIVATE_ACCESS: AccessMode = { mode: PRIVATE_FILE_MODE, gid: null };
const PUBLIC_ACCESS: AccessMode = { mode: PUBLIC_FILE_MODE, gid: null };
const GROUP_MODE = 0o640;

/** @throws Error whose message ends a sentence with what is wrong with the group */
export async function resolveAccessMode(section: WebServerSection): Promise<AccessMode> {
  if (process.platform === 'win32') return PRIVATE_ACCESS;
  if (section.web_group === null) return section.web_path === null ? PRIVATE_ACCESS : PUBLIC_ACCESS;
  const gid = await findGroupId(section.web_group);
  if (gid === null) throw new Error('is not a group of this machine');
  if (!canAssignGroup(gid))
    throw new Error(
      `is a group that this process does not belong to: add its user to it (usermod -aG ${section.web_group})`,
    );
  return { mode: GROUP_MODE, gid };
}

async function findGroupId(group: string): Promise<number | null> {
  if (/^\d+$/.test(group)) return Number(group);
  for (const line of (await readFile('/etc/group', 'utf8')).split('\n')) {
    const [name, , gid = ''] = line.split(':');
    if (name === group && /^\d+$/.test(gid)) return Number(gid);
  }
  return null;
}

const canAssignGroup = (gid: number): boolean =>
  process.geteuid?.() === 0 || process.getegid?.() === gid || (process.getgroups?.().includes(gid) ?? false);

/** Files written by root belong to the folder's owner. */
export async function getFileOwner(folder: string, { gid }: AccessMode): Promise<FileOwner | null> {
  if (process.platform === 'win32') return null;
  const stats = await stat(folder);
  if (process.geteuid?.() === 0) return { uid: stats.uid, gid: gid ?? stats.gid };
  return gid === null ? null : { uid: process.geteuid?.() ?? stats.uid, gid };
}
