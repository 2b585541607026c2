/**
 * A store has one name. SQLite names its log by the name that it was opened by: who opens the file by another (a hard
 * link) has another log, and both write over what the other has written. No lock beside the file is found by both, and
 * SQLite does not look; so it is refused by what the file itself says, in a service and in a command.
 */
import type { Stats } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** @param found of the store's file @throws Error of the code EMLINK, one line that names who has the file open */
export async function refuseOtherNames(path: string, found: Stats): Promise<void> {
  if (found.nlink <= 1) return;
  const open = await holdersOf(found);
  const by = open.length === 0 ? '' : `; process ${open.join(', ')} has it open`;
  const problem = `has ${found.nlink} names (hard links), each with a log of its own${by}`;
  const mend = 'remove all names but one, as find with -xdev -samefile lists them';
  throw Object.assign(new Error(`${path} ${problem}: ${mend}`), { code: 'EMLINK', path });
}

/** Processes with a lock on the file, as Linux lists them; elsewhere none. */
async function holdersOf({ dev, ino }: Stats): Promise<number[]> {
  const locks = await readFile('/proc/locks', 'utf8').catch(() => '');
  const hex = (n: number): string => n.toString(16).padStart(2, '0');
  const file = `${hex((dev >> 8) & 0xfff)}:${hex((dev & 0xff) | ((dev >> 12) & 0xfff00))}:${ino}`;
  const pids = locks.split('\n').flatMap((line) => {
    const [, , , , pid, place] = line.trim().split(/\s+/);
    return place === file ? [Number(pid)] : [];
  });
  return [...new Set(pids)].filter((pid) => pid > 0 && pid !== process.pid);
}
