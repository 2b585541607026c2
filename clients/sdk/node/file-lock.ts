/**
 * One process at a time at a file of a folder that several share: who makes `<file>.lock` has it. It is held for one
 * turn of the event loop, so a lock that stays the same for a second of waiting is one that a killed process left.
 * Ages are not looked at: clocks step, and differ between machines that share a folder.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, linkSync, openSync, renameSync, rmSync, statSync, type BigIntStats } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const ASK_AGAIN_MS = 5;
const LEFT_BEHIND_MS = 1_000;
/** Then the work is done without: what several write may be lost, and nobody hangs. */
const LONGEST_MS = 5_000;

/** @param path of the lock; its folder exists, or nothing is locked */
export async function withFileLock<T>(path: string, work: () => T): Promise<T> {
  const began = performance.now();
  let seen: { mark: string | null; since: number } = { mark: null, since: began };
  for (;;) {
    const mine = take(path);
    const at = performance.now();
    if (mine !== 'held' || at - began > LONGEST_MS) return run(path, mine === 'held' ? null : mine, work);
    const mark = markAt(path);
    if (mark === null || mark !== seen.mark) seen = { mark, since: at };
    else if (at - seen.since > LEFT_BEHIND_MS) removeLeft(path, mark);
    await pause(ASK_AGAIN_MS);
  }
}

function run<T>(path: string, mine: string | null, work: () => T): T {
  try {
    return work();
  } finally {
    // Another process may have taken it for one that was left.
    if (mine !== null && markAt(path) === mine) remove(path);
  }
}

/** The mark of the file that was made; `held`: another process has it; null: none can be made here. */
function take(path: string): string | null {
  try {
    const file = openSync(path, 'wx', 0o600);
    try {
      return markOf(fstatSync(file, { bigint: true }));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EEXIST' ? 'held' : null;
  }
}

/** Moved aside first: of two that saw it left, the second would remove the lock that the first has taken by then. */
function removeLeft(path: string, left: string): void {
  const aside = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    renameSync(path, aside);
    if (markAt(aside) !== left) linkSync(aside, path);
  } catch {
    // Another process was quicker.
  }
  remove(aside);
}

const markOf = ({ ino, mtimeNs }: BigIntStats): string => `${ino} ${mtimeNs}`;

function markAt(path: string): string | null {
  try {
    return markOf(statSync(path, { bigint: true }));
  } catch {
    return null;
  }
}

function remove(path: string): void {
  try {
    rmSync(path);
  } catch {
    // Gone already.
  }
}
