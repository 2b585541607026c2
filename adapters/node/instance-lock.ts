/**
 * Allows one `aos serve` per embedded store. `server.lock` in the data directory names the owner;
 * `server.json` tells programs where it listens (contract 95). A second lock next to the store file
 * covers servers with another data directory (contract 00, storage).
 *
 * A lock is an exclusively created file with the owner's pid and start time, because pids are
 * reused. A dead owner's lock is replaced under a second lock named after its nonce, so that only
 * one process takes over. The owner touches the file: a lock of another host counts as dead after
 * 20 s without a touch.
 */
import { randomUUID } from 'node:crypto';
import { readFile, realpath, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createFile, replaceFile } from '../../lib/files/replace-file.js';
import { isProcessRunning, getProcessStart } from './processes.js';

const TOUCH_INTERVAL_MS = 5_000;
const FOREIGN_LOCK_TIMEOUT_MS = 20_000;

interface LockOwner {
  pid: number;
  /** Boot id and start ticks on Linux, otherwise null. */
  started: string | null;
  host: string;
  nonce: string;
  folder: string;
}

/** The embedded store is in use by another server; `message` is one line that names it. */
export class InstanceRunning extends Error {
  override name = 'InstanceRunning';
  constructor(
    readonly pid: number,
    readonly url: string | null,
    place: string,
  ) {
    super(`another server (pid ${pid}${url ? `, ${url}` : ''}) is running on ${place}`);
  }
}

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function isAlive(owner: LockOwner, path: string): Promise<boolean> {
  if (owner.host !== hostname()) {
    const touched = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
    return Date.now() - touched < FOREIGN_LOCK_TIMEOUT_MS;
  }
  if (!isProcessRunning(owner.pid)) return false;
  const started = await getProcessStart(owner.pid);
  return owner.started === null || started === null || started === owner.started;
}

async function readOwner(path: string): Promise<LockOwner | null> {
  const text = await readText(path);
  if (text === null) return null;
  try {
    const { pid, started, host, nonce, folder } = JSON.parse(text) as Partial<LockOwner>;
    if (typeof pid === 'number' && typeof host === 'string' && typeof nonce === 'string') {
      return { pid, started: started ?? null, host, nonce, folder: folder ?? dirname(path) };
    }
  } catch {}
  return { pid: 0, started: null, host: hostname(), nonce: 'unreadable', folder: dirname(path) };
}

async function takeLock(path: string, self: LockOwner): Promise<LockOwner | null> {
  for (;;) {
    if (await createFile(path, `${JSON.stringify(self)}\n`)) return null;
    const owner = await readOwner(path);
    if (owner === null) continue;
    if (owner.pid > 0 && (await isAlive(owner, path))) return owner;
    const takeover = `${path}.${owner.nonce.replace(/[^\w-]/g, '').slice(0, 40)}`;
    const other = await takeLock(takeover, self);
    if (other) return other;
    try {
      if ((await readOwner(path))?.nonce !== owner.nonce) continue;
      await replaceFile(path, `${JSON.stringify(self)}\n`);
      return null;
    } finally {
      await rm(takeover, { force: true });
    }
  }
}

/** Null when no store can exist there. */
async function resolveStoreLockPath(file: string): Promise<string | null> {
  const found = await stat(file).catch(() => null);
  if (found) return found.isFile() ? `${await realpath(file)}.lock` : null;
  const folder = await realpath(dirname(file)).catch(() => null);
  return folder && join(folder, `${basename(file)}.lock`);
}

async function releaseLocks(paths: readonly string[], { nonce }: LockOwner): Promise<void> {
  for (const path of paths) if ((await readOwner(path))?.nonce === nonce) await rm(path, { force: true });
}

export class InstanceLock {
  private constructor(
    private readonly self: LockOwner,
    private readonly paths: readonly string[],
    private readonly timer: NodeJS.Timeout,
  ) {}

  /**
   * @param folder the data directory
   * @param store path of the store's file
   * @throws InstanceRunning
   */
  static async acquire(folder: string, store: string): Promise<InstanceLock> {
    const started = await getProcessStart(process.pid);
    const self = { pid: process.pid, started, host: hostname(), nonce: randomUUID(), folder };
    const paths: string[] = [];
    const takeOne = async (path: string, place: string): Promise<void> => {
      const owner = await takeLock(path, self);
      if (owner)
        throw new InstanceRunning(owner.pid, (await InstanceLock.readRunningServer(owner.folder))?.url ?? null, place);
      paths.unshift(path);
    };
    await takeOne(join(folder, 'server.lock'), folder);
    try {
      await rm(join(folder, 'server.json'), { force: true });
      // Opening the store then fails with a better message.
      const storeLockPath = await resolveStoreLockPath(store);
      if (storeLockPath) await takeOne(storeLockPath, store);
    } catch (error) {
      await releaseLocks(paths, self);
      throw error;
    }
    const timer = setInterval(() => {
      const now = new Date();
      // The next touch makes up for a missed one; the store detects a vanished folder.
      for (const path of paths) utimes(path, now, now).catch(() => undefined);
    }, TOUCH_INTERVAL_MS);
    timer.unref();
    return new InstanceLock(self, paths, timer);
  }

  /** Whether or not that server is alive. */
  static async readRunningServer(folder: string): Promise<{ pid: number; url: string } | null> {
    const text = await readText(join(folder, 'server.json'));
    if (text === null) return null;
    try {
      const { pid, url } = JSON.parse(text) as { pid?: unknown; url?: unknown };
      return typeof pid === 'number' && typeof url === 'string' ? { pid, url } : null;
    } catch {
      return null;
    }
  }

  async writeServerUrl(url: string): Promise<void> {
    await replaceFile(join(this.self.folder, 'server.json'), `${JSON.stringify({ pid: this.self.pid, url })}\n`);
  }

  async release(): Promise<void> {
    clearInterval(this.timer);
    const { folder, nonce } = this.self;
    if ((await readOwner(join(folder, 'server.lock')))?.nonce === nonce)
      await rm(join(folder, 'server.json'), { force: true });
    await releaseLocks(this.paths, this.self);
  }
}
