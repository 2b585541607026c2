/** Other processes of this machine: whether they run, and whether a number still means the same one. */
import { readFile, readlink } from 'node:fs/promises';
import { codeOf } from '../exit.js';

/** A process that may not be signalled runs all the same. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** Linux tells when a process began, so that a number that was given again is not mistaken for it. */
export async function beginOf(pid: number): Promise<string | null> {
  const fields = await processFields(pid);
  return fields?.[19] ?? null;
}

/** Ended, but not yet fetched by its parent. */
export const isZombie = async (pid: number): Promise<boolean> => (await processFields(pid))?.[0] === 'Z';

/** `/proc/<pid>/stat` after the name, which may hold anything: state, parent, …, start time as the 20th. */
async function processFields(pid: number): Promise<string[] | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return text === null ? null : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** Whether a mark of `processSpace` names another boot than the present one. False where the system names no boots. */
export function isFromEarlierBoot(before: string, now: string): boolean {
  const [boot = '', present = ''] = [before, now].map((space) => space.split(' ')[0] ?? '');
  return boot !== '' && present !== '' && boot !== present;
}

/** Which processes can be looked up from here: those of the same boot and the same container. */
export async function processSpace(): Promise<string> {
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  const pids = await readlink('/proc/self/ns/pid').catch(() => '');
  return `${boot.trim()} ${pids}`.trim();
}
