/**
 * Scheduled backups. Each runs in a separate process with the lowest priority, because hashing and
 * compressing use a core for minutes, and a driver may crash on a damaged store.
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
const MIGRATED = 'migrated.json';

interface Migrated {
  version: string;
  /** RFC 3339, UTC. */
  at: string;
}

export interface AutomaticOptions {
  folder: string;
  /** How many of each kind are retained. */
  keep: number;
  version: string;
  now: () => number;
  /**
   * Module that writes a backup: it receives the job as JSON in its only argument and answers with
   * one message.
   */
  module: string;
  /** @param path of the new file */
  job: (path: string, releases: boolean) => object;
}

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

/** @returns null for an invalid note, so that the copies are retained */
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
