/** What the figures have in common: the bare server beside ours, the memory of a process, a row of the report. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Load } from './generator.js';

/** A bare server in a process of its own. @param file beside this one, such as `./bare.js` */
export async function bareServer(
  file: string,
  args: readonly string[] = [],
): Promise<{ url: string; pid: number; stop: () => void }> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise<string>((resolve, reject) => {
    child.on('error', reject);
    child.stdout.on('data', (chunk: Buffer) => {
      const found = /listening on (\S+)/.exec(chunk.toString('utf8'))?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  return { url, pid: child.pid ?? 0, stop: () => void child.kill() };
}

/** Resident memory of a process in megabytes (Linux). */
export async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

/** Processor time of all threads of a process in milliseconds (Linux, 100 ticks a second). */
export async function cpuMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const [, , , , , , , , , , , user = '0', system = '0'] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(user) + Number(system)) * 10;
}

export const row = (name: string, l: Load): string =>
  `  ${name.padEnd(26)} ${l.perSecond.toFixed(0).padStart(7)} /s   p50 ${String(l.p50).padStart(3)} ms   p99 ${String(l.p99).padStart(3)} ms   refused ${l.non2xx + l.errors}`;
