import { readFile, readlink } from 'node:fs/promises';
import { getErrorCode } from '../exit.js';

/** A process that may not be signaled counts as running. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return getErrorCode(error) === 'EPERM';
  }
}

/** Returns the start time of a process on Linux, which detects reused process ids. */
export async function getStartTime(pid: number): Promise<string | null> {
  const fields = await readProcessFields(pid);
  return fields?.[19] ?? null;
}

/** Returns true for an ended process that its parent has not reaped. */
export const isZombie = async (pid: number): Promise<boolean> => (await readProcessFields(pid))?.[0] === 'Z';

/** After the name, which may contain anything. */
async function readProcessFields(pid: number): Promise<string[] | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return text === null ? null : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/**
 * Returns true when a mark of `getProcessSpace` names an earlier boot; false when the system does
 * not identify boots.
 */
export function isFromEarlierBoot(before: string, now: string): boolean {
  const [boot = '', present = ''] = [before, now].map((space) => space.split(' ')[0] ?? '');
  return boot !== '' && present !== '' && boot !== present;
}

export async function getProcessSpace(): Promise<string> {
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  const pids = await readlink('/proc/self/ns/pid').catch(() => '');
  return `${boot.trim()} ${pids}`.trim();
}
