/**
 * Allows one agent at a time in an installation; another is exit 6. Creating a numbered file in
 * `lock/` claims its number. After writing its name the owner checks again, and withdraws when it
 * finds a higher number or a living owner of a lower one. Of two processes at least one checks
 * after the other wrote its name, so never both proceed.
 */
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { getErrorCode, AgentFailure } from '../exit.js';
import { getStartTime, isFromEarlierBoot, isRunning, getProcessSpace } from '../system/processes.js';

interface LockOwner {
  pid: number;
  /** The process's start time as the system reports it; null where unavailable. */
  began: string | null;
  /** Processes with other marks cannot be looked up: another boot, another container. */
  space: string;
  /** The host's name; absent in locks of earlier agents. */
  host?: string;
}

const TOUCH_INTERVAL_MS = 10_000;
/** An owner that cannot be looked up counts as dead after not touching its file for this long. */
const OWNER_TIMEOUT_MS = 120_000;
const NUMBER_PATTERN = /^\d{1,15}$/;

export interface InstallationLock {
  release(): Promise<void>;
}

/**
 * @param folder `.update-agent/lock`; its parent exists
 * @param touchMs interval in which owners touch their files
 */
export async function acquireLock(folder: string, touchMs = TOUCH_INTERVAL_MS): Promise<InstallationLock> {
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (getErrorCode(error) !== 'EEXIST') throw error;
  });
  for (;;) {
    const held = await listNumbers(folder);
    const mine = (held.at(-1) ?? 0) + 1;
    if (await isAnyAlive(folder, held, touchMs)) throw createBusyFailure();
    const path = join(folder, String(mine));
    if (!(await claimNumber(path))) continue;
    const higher = (await listNumbers(folder)).some((n) => n > mine);
    if (higher || (await isAnyAlive(folder, held, touchMs))) {
      await rm(path, { force: true });
      if (higher) continue;
      throw createBusyFailure();
    }
    for (const n of held) await rm(join(folder, String(n)), { force: true });
    return holdLock(path, touchMs);
  }
}

const createBusyFailure = (): AgentFailure =>
  new AgentFailure('busy', 'another update agent is running in this installation');

function holdLock(path: string, touchMs: number): InstallationLock {
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

async function listNumbers(folder: string): Promise<number[]> {
  const names = await readdir(folder);
  return names
    .filter((name) => NUMBER_PATTERN.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

async function claimNumber(path: string): Promise<boolean> {
  const owner = JSON.stringify(await describeOwner());
  try {
    await writeFile(path, owner, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

async function isAnyAlive(folder: string, held: readonly number[], touchMs: number): Promise<boolean> {
  for (const n of held) if (await isAlive(join(folder, String(n)), touchMs)) return true;
  return false;
}

async function describeOwner(): Promise<LockOwner> {
  return { pid: process.pid, began: await getStartTime(process.pid), space: await getProcessSpace(), host: hostname() };
}

async function isAlive(path: string, touchMs: number): Promise<boolean> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const owner = parseOwner(text);
  if (owner === null) return false;
  const space = await getProcessSpace();
  if (owner.space === space) return isRunning(owner.pid) && owner.began === (await getStartTime(owner.pid));
  // From before this machine's last boot. Another machine may share the directory.
  if ((owner.host ?? hostname()) === hostname() && isFromEarlierBoot(owner.space, space)) return false;
  const touched = await getTouchTime(path);
  const age = Date.now() - touched;
  if (age >= -touchMs) return age < OWNER_TIMEOUT_MS;
  // The clock moved backwards since: a living owner soon touches its file again.
  await pause(2 * touchMs);
  return (await getTouchTime(path)) !== touched;
}

const getTouchTime = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );

function parseOwner(text: string): LockOwner | null {
  try {
    const value = JSON.parse(text) as Partial<LockOwner> | null;
    if (typeof value?.pid !== 'number' || typeof value.space !== 'string') return null;
    const { pid, space, host } = value;
    const began = typeof value.began === 'string' ? value.began : null;
    return { pid, began, space, ...(typeof host === 'string' && { host }) };
  } catch {
    return null; // Released or truncated: no owner.
  }
}
