/**
 * Scheduled backups, each in a separate process with the lowest priority, because hashing and
 * compressing use a core for minutes, and a driver may crash on a damaged store.
 */
import { fork } from 'node:child_process';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolders } from '../../../lib/folders.js';
import type { BackupInfo, Backups } from '../../../ports/store/backups.js';
import { toReadableError } from '../container/writer.js';
import { readTextFile, writePrivateFile } from '../files.js';
import { formatBackupName, findNewestBackupIn, pruneBackups } from './backup-files.js';

const DAY_MS = 24 * 3_600_000;
const MIGRATED_FILE = 'migrated.json';

interface MigrationNote {
  version: string;
  /** RFC 3339, UTC. */
  at: string;
}

export interface AutomaticBackupOptions {
  folder: string;
  /** How many of each kind are retained. */
  keep: number;
  version: string;
  now: () => number;
  /** Receives the job as JSON in its only argument and answers with one message. */
  module: string;
  /** @param path of the new file */
  job: (path: string, releases: boolean) => object;
}

export type BackupAnswer = { bytes: number } | { error: string };

export class AutomaticBackups implements Backups {
  readonly #startedAt: number;

  constructor(private readonly options: AutomaticBackupOptions) {
    this.#startedAt = options.now();
  }

  get folder(): string {
    return this.options.folder;
  }

  findNewest(): Promise<BackupInfo | null> {
    return findNewestBackupIn(this.options.folder, this.options.now());
  }

  async create({
    beforeMigration = false,
    signal,
  }: { beforeMigration?: boolean; signal?: AbortSignal } = {}): Promise<BackupInfo> {
    const { folder, keep, version, now, job } = this.options;
    const copy = beforeMigration ? await this.#findPendingCopy() : null;
    if (copy !== null) return copy;
    const at = new Date(now()).toISOString();
    const path = join(folder, formatBackupName(at, beforeMigration ? version : undefined));
    await makeFolders(folder, 0o700).catch((error: unknown) => {
      throw toReadableError(error, folder);
    });
    const { bytes } = await this.#runJob(job(path, !beforeMigration), signal);
    await pruneBackups(folder, keep, now(), (await this.#hasRunForADay()) ? null : version);
    return { path, at: `${at.slice(0, 19)}.000Z`, bytes };
  }

  async recordMigration(): Promise<void> {
    const { folder, version, now } = this.options;
    const copy = await findNewestBackupIn(folder, now(), version);
    const migrated = await this.#readMigrationNote();
    if (copy === null || (migrated !== null && migrated.at >= copy.at)) return;
    const note: MigrationNote = { version, at: new Date(now()).toISOString() };
    await writePrivateFile(join(folder, `${MIGRATED_FILE}.new`), `${JSON.stringify(note)}\n`);
    await rename(join(folder, `${MIGRATED_FILE}.new`), join(folder, MIGRATED_FILE));
  }

  async #findPendingCopy(): Promise<BackupInfo | null> {
    const { folder, version, now } = this.options;
    const copy = await findNewestBackupIn(folder, now(), version);
    const migrated = await this.#readMigrationNote();
    return copy !== null && (migrated === null || migrated.at < copy.at) ? copy : null;
  }

  async #hasRunForADay(): Promise<boolean> {
    const migrated = await this.#readMigrationNote();
    if (migrated === null || (await this.#findPendingCopy()) !== null) return false;
    return this.options.now() - Math.max(Date.parse(migrated.at), this.#startedAt) >= DAY_MS;
  }

  async #readMigrationNote(): Promise<MigrationNote | null> {
    const text = await readTextFile(join(this.options.folder, MIGRATED_FILE));
    const migrated = text === null ? null : parseMigrationNote(text);
    return migrated?.version === this.options.version ? migrated : null;
  }

  #runJob(job: object, signal: AbortSignal | undefined): Promise<{ bytes: number }> {
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
        else reject(new Error(answer?.error ?? `the backup process exited with ${ended ?? String(code)}`));
      });
    });
  }
}

/** @returns null for an invalid note, so that the copies are retained */
function parseMigrationNote(text: string): MigrationNote | null {
  try {
    const { version, at } = JSON.parse(text) as Partial<MigrationNote>;
    return typeof version === 'string' && typeof at === 'string' && Number.isFinite(Date.parse(at))
      ? { version, at }
      : null;
  } catch {
    return null;
  }
}
