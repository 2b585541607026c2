/**
 * Backups that the running service makes by itself. Each is the work of a process of its own with the lowest priority:
 * reading, hashing and compressing take a core for minutes, and a driver that meets a damaged store may end its
 * process.
 */
import { fork } from 'node:child_process';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolders } from '../../../lib/folders.js';
import type { BackupNote, Backups } from '../../../ports/store/backups.js';
import { sentenceOf } from '../container/writer.js';
import { textOf, writeOwn } from '../files.js';
import { nameOf, newestBackup, prune } from './names.js';

const DAY_MS = 24 * 3_600_000;
/** In the folder: which version last migrated the store, and since when nothing is pending. */
const MIGRATED = 'migrated.json';

interface Migrated {
  version: string;
  /** RFC 3339, UTC. */
  at: string;
}

export interface AutomaticOptions {
  /** Where they lie; made when missing. */
  folder: string;
  /** How many of each kind stay. */
  keep: number;
  /** Of this service: the one whose migrations a backup comes before. */
  version: string;
  now: () => number;
  /** The module that makes one: it gets the job as JSON, its only argument, and answers by one message. */
  module: string;
  /** @param path of the new file */
  job: (path: string, releases: boolean) => object;
}

/** What the process answers. */
export type BackupAnswer = { bytes: number } | { error: string };

export class AutomaticBackups implements Backups {
  readonly #startedAt: number;

  constructor(private readonly options: AutomaticOptions) {
    this.#startedAt = options.now();
  }

  get folder(): string {
    return this.options.folder;
  }

  newest(): Promise<BackupNote | null> {
    return newestBackup(this.options.folder, this.options.now());
  }

  async make({
    beforeMigration = false,
    signal,
  }: { beforeMigration?: boolean; signal?: AbortSignal } = {}): Promise<BackupNote> {
    const { folder, keep, version, now, job } = this.options;
    const copy = beforeMigration ? await this.#pendingCopy() : null;
    if (copy !== null) return copy;
    const at = new Date(now()).toISOString();
    const path = join(folder, nameOf(at, beforeMigration ? version : undefined));
    await makeFolders(folder, 0o700).catch((error: unknown) => {
      throw sentenceOf(error, folder);
    });
    const { bytes } = await this.#run(job(path, !beforeMigration), signal);
    await prune(folder, keep, now(), (await this.#hasRunForADay()) ? null : version);
    return { path, at: `${at.slice(0, 19)}.000Z`, bytes };
  }

  async noteMigrated(): Promise<void> {
    const { folder, version, now } = this.options;
    const copy = await newestBackup(folder, now(), version);
    const migrated = await this.#migrated();
    if (copy === null || (migrated !== null && migrated.at >= copy.at)) return;
    const note: Migrated = { version, at: new Date(now()).toISOString() };
    await writeOwn(join(folder, `${MIGRATED}.new`), `${JSON.stringify(note)}\n`);
    await rename(join(folder, `${MIGRATED}.new`), join(folder, MIGRATED));
  }

  /** The copy that was made before migrations of this version, when they have not succeeded since. */
  async #pendingCopy(): Promise<BackupNote | null> {
    const { folder, version, now } = this.options;
    const copy = await newestBackup(folder, now(), version);
    const migrated = await this.#migrated();
    return copy !== null && (migrated === null || migrated.at < copy.at) ? copy : null;
  }

  async #hasRunForADay(): Promise<boolean> {
    const migrated = await this.#migrated();
    if (migrated === null || (await this.#pendingCopy()) !== null) return false;
    return this.options.now() - Math.max(Date.parse(migrated.at), this.#startedAt) >= DAY_MS;
  }

  /** Null: this version has not migrated the store yet. */
  async #migrated(): Promise<Migrated | null> {
    const text = await textOf(join(this.options.folder, MIGRATED));
    const migrated = text === null ? null : parseMigrated(text);
    return migrated?.version === this.options.version ? migrated : null;
  }

  #run(job: object, signal: AbortSignal | undefined): Promise<{ bytes: number }> {
    return new Promise((resolve, reject) => {
      // Its output would be mixed into the log.
      const child = fork(this.options.module, [JSON.stringify(job)], {
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
      const abort = (): void => void child.kill('SIGKILL');
      signal?.addEventListener('abort', abort);
      let answer: BackupAnswer | null = null;
      child.on('message', (message) => (answer = message as BackupAnswer));
      child.on('error', reject);
      child.on('close', (code, ended) => {
        signal?.removeEventListener('abort', abort);
        if (answer !== null && 'bytes' in answer) resolve(answer);
        else
          reject(new Error(answer?.error ?? `the process that makes the backup ended with ${ended ?? String(code)}`));
      });
    });
  }
}

/** Null for what is no such note: then the copies stay. */
function parseMigrated(text: string): Migrated | null {
  try {
    const { version, at } = JSON.parse(text) as Partial<Migrated>;
    return typeof version === 'string' && typeof at === 'string' && Number.isFinite(Date.parse(at))
      ? { version, at }
      : null;
  } catch {
    return null;
  }
}
