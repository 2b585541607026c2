/**
 * Allows one agent at a time in an installation; another is exit 6. Creating a numbered file in
 * `lock/` claims its number. After writing its name the owner checks again, and withdraws when it
 * finds a higher number or a living owner of a lower one. Of two processes at least one checks
 * after the other wrote its name, so never both proceed. Rejected: one file that is deleted and
 * recreated, because a second process could delete the new lock.
 */
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { codeOf, AgentFailure } from '../exit.js';
import { beginOf, isFromEarlierBoot, isRunning, processSpace } from '../system/processes.js';

interface Owner {
  pid: number;
  /** The process's start time as the system reports it; null where unavailable. */
  began: string | null;
  /** Processes with other marks cannot be looked up: another boot, another container. */
  space: string;
  /** The host's name; absent in locks of earlier agents. */
  host?: string;
}

const TOUCH_MS = 10_000;
/** An owner that cannot be looked up counts as dead after not touching its file for this long. */
const SILENT_MS = 120_000;
const NUMBER = /^\d{1,15}$/;

export interface Lock {
  release(): Promise<void>;
}

/**
 * @param folder `.update-agent/lock`; its parent exists
 * @param touchMs interval in which owners touch their files
 */
export async function takeLock(folder: string, touchMs = TOUCH_MS): Promise<Lock> {
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
  for (;;) {
    const held = await numbers(folder);
    const mine = (held.at(-1) ?? 0) + 1;
    if (await anyAlive(folder, held, touchMs)) throw busy();
    const path = join(folder, String(mine));
    if (!(await claim(path))) continue;
    const higher = (await numbers(folder)).some((n) => n > mine);
    if (higher || (await anyAlive(folder, held, touchMs))) {
      await rm(path, { force: true });
      if (higher) continue;
      throw busy();
    }
    for (const n of held) await rm(join(folder, String(n)), { force: true });
    return hold(path, touchMs);
  }
}

const busy = (): AgentFailure => new AgentFailure('busy', 'another update agent is at work in this installation');

function hold(path: string, touchMs: number): Lock {
  const timer = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => clearInterval(timer));
  }, touchMs).unref();
  return {
    // The file stays, so that its number is not reused; an empty one has no owner.
    release: async () => {
      clearInterval(timer);
      await writeFile(path, '');
    },
  };
}

async function numbers(folder: string): Promise<number[]> {
  const names = await readdir(folder);
  return names
    .filter((name) => NUMBER.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

async function claim(path: string): Promise<boolean> {
  const owner = JSON.stringify(await self());
  try {
    await writeFile(path, owner, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

async function anyAlive(folder: string, held: readonly number[], touchMs: number): Promise<boolean> {
  for (const n of held) if (await isAlive(join(folder, String(n)), touchMs)) return true;
  return false;
}

async function self(): Promise<Owner> {
  return { pid: process.pid, began: await beginOf(process.pid), space: await processSpace(), host: hostname() };
}

async function isAlive(path: string, touchMs: number): Promise<boolean> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const owner = ownerOf(text);
  if (owner === null) return false;
  const space = await processSpace();
  if (owner.space === space) return isRunning(owner.pid) && owner.began === (await beginOf(owner.pid));
  // From before this machine's last boot. Another machine may share the directory.
  if ((owner.host ?? hostname()) === hostname() && isFromEarlierBoot(owner.space, space)) return false;
  const touched = await touchedAt(path);
  const age = Date.now() - touched;
  if (age >= -touchMs) return age < SILENT_MS;
  // The clock moved backwards since: a living owner soon touches its file again.
  await pause(2 * touchMs);
  return (await touchedAt(path)) !== touched;
}

const touchedAt = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );

function ownerOf(text: string): Owner | null {
  try {
    const value = JSON.parse(text) as Partial<Owner> | null;
    if (typeof value?.pid !== 'number' || typeof value.space !== 'string') return null;
    const { pid, space, host } = value;
    const began = typeof value.began === 'string' ? value.began : null;
    return { pid, began, space, ...(typeof host === 'string' && { host }) };
  } catch {
    return null; // Released or truncated: no owner.
  }
}
