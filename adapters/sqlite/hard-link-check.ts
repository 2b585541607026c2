/**
 * SQLite derives the log's name from the path: processes that use two hard links have two logs and
 * overwrite each other's data. No lock file is found by both, so the file's link count is checked.
 */
import type { Stats } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** @throws Error with code EMLINK, naming the process that has the file open */
export async function ensureSingleName(path: string, found: Stats): Promise<void> {
  if (found.nlink <= 1) return;
  const open = await listLockHolders(found);
  const by = open.length === 0 ? '' : `; process ${open.join(', ')} has it open`;
  const problem = `has ${found.nlink} names (hard links), each with a separate log${by}`;
  const fix = 'remove all names but one; find -xdev -samefile lists them';
  throw Object.assign(new Error(`${path} ${problem}: ${fix}`), { code: 'EMLINK', path });
}

async function listLockHolders({ dev, ino }: Stats): Promise<number[]> {
  const locks = await readFile('/proc/locks', 'utf8').catch(() => '');
  const hex = (n: number): string => n.toString(16).padStart(2, '0');
  const file = `${hex((dev >> 8) & 0xfff)}:${hex((dev & 0xff) | ((dev >> 12) & 0xfff00))}:${ino}`;
  const pids = locks.split('\n').flatMap((line) => {
    const [, , , , pid, place] = line.trim().split(/\s+/);
    return place === file ? [Number(pid)] : [];
  });
  return [...new Set(pids)].filter((pid) => pid > 0 && pid !== process.pid);
}
