/**
 * Locks a file between processes by `<file>.lock`, held for one turn of the event loop, so a lock
 * unchanged for a second was abandoned by a killed process. File ages are not used, because clocks
 * step and differ between machines.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, linkSync, openSync, renameSync, rmSync, statSync, type BigIntStats } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const RETRY_INTERVAL_MS = 5;
const ABANDONED_AFTER_MS = 1_000;
/**
 * After this the work runs without the lock: concurrent writes may be lost, but no process hangs.
 */
const LOCK_TIMEOUT_MS = 5_000;

/** @param path of the lock; without its folder nothing is locked */
export async function withFileLock<T>(path: string, work: () => T): Promise<T> {
  const began = performance.now();
  let seen: { mark: string | null; since: number } = { mark: null, since: began };
  for (;;) {
    const mine = tryLock(path);
    const at = performance.now();
    if (mine !== 'held' || at - began > LOCK_TIMEOUT_MS) return runAndUnlock(path, mine === 'held' ? null : mine, work);
    const mark = readMark(path);
    if (mark === null || mark !== seen.mark) seen = { mark, since: at };
    else if (at - seen.since > ABANDONED_AFTER_MS) removeAbandoned(path, mark);
    await pause(RETRY_INTERVAL_MS);
  }
}

function runAndUnlock<T>(path: string, mine: string | null, work: () => T): T {
  try {
    return work();
  } finally {
    // Another process may have considered it abandoned.
    if (mine !== null && readMark(path) === mine) removeLock(path);
  }
}

/**
 * Returns the mark of the created lock; `held` when another process has it; null when none can be
 * created.
 */
function tryLock(path: string): string | null {
  try {
    const file = openSync(path, 'wx', 0o600);
    try {
      return toMark(fstatSync(file, { bigint: true }));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EEXIST' ? 'held' : null;
  }
}

/**
 * Renamed first: otherwise a second process that saw it abandoned could remove the first one's new
 * lock.
 */
function removeAbandoned(path: string, left: string): void {
  const aside = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    renameSync(path, aside);
    if (readMark(aside) !== left) linkSync(aside, path);
  } catch {}
  removeLock(aside);
}

const toMark = ({ ino, mtimeNs }: BigIntStats): string => `${ino} ${mtimeNs}`;

function readMark(path: string): string | null {
  try {
    return toMark(statSync(path, { bigint: true }));
  } catch {
    return null;
  }
}

function removeLock(path: string): void {
  try {
    rmSync(path);
  } catch {}
}
