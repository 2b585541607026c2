/** Identifies processes of this host by pid and start time, because pids are reused. */
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { ProcessOwner, Processes } from '../../ports/processes.js';

export async function getProcessStart(pid: number): Promise<string | null> {
  if (process.platform !== 'linux') return null;
  try {
    const [boot, line] = await Promise.all([
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
      readFile(`/proc/${pid}/stat`, 'utf8'),
    ]);
    // The name in parentheses may contain spaces; start time is field 22, the 20th after it.
    const ticks = line.slice(line.lastIndexOf(')') + 2).split(' ')[19];
    return `${boot.trim()}:${ticks ?? ''}`;
  } catch {
    return null;
  }
}

export function isProcessRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

export class HostProcesses implements Processes {
  #self: Promise<ProcessOwner> | undefined;

  getSelf(): Promise<ProcessOwner> {
    this.#self ??= getProcessStart(process.pid).then((started) => ({ host: hostname(), pid: process.pid, started }));
    return this.#self;
  }

  async isDead({ host, pid, started }: ProcessOwner): Promise<boolean> {
    if (host !== hostname()) return false;
    if (!isProcessRunning(pid)) return true;
    const now = await getProcessStart(pid);
    return started !== null && now !== null && now !== started;
  }
}
