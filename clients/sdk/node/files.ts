import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TextStore } from '../store.js';
import { withFileLock } from './file-lock.js';

const STALE_TEMPORARY_MS = 3_600_000;
/** Temporary files of `write`, and of abandoned locks (file-lock.ts). */
const TEMPORARY_NAME_PATTERN = /\.\d+\.[0-9a-f]{8}\.tmp$/;
const MAX_FILE_LENGTH = 4 * 1024 * 1024;

export class FileStore implements TextStore {
  #looked = false;

  constructor(private readonly folder: string) {}

  read(name: string): string | null {
    const path = join(this.folder, name);
    try {
      return statSync(path).size > MAX_FILE_LENGTH ? null : readFileSync(path, 'utf8');
    } catch {
      return null;
    }
  }

  /**
   * Writes a temporary file and renames it, so that no reader sees half of it, even after `kill
   * -9`.
   */
  write(name: string, text: string): boolean {
    const path = join(this.folder, name);
    const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`;
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      writeFileSync(temporary, text, { mode: 0o600 });
      renameSync(temporary, path);
      return true;
    } catch {
      removeFile(temporary);
      return false;
    }
  }

  async withLock<T>(name: string, work: () => T): Promise<T> {
    this.#makeFolder();
    return withFileLock(join(this.folder, `${name}.lock`), () => {
      this.#removeHalfWritten(name);
      return work();
    });
  }

  remove(name: string): boolean {
    return removeFile(join(this.folder, name));
  }

  /** Lists names without temporary files; removes those of killed processes. */
  listNames(): string[] {
    const names = this.#listFiles();
    for (const name of names) if (name.endsWith('.tmp') && this.#isStale(name)) this.remove(name);
    return names.filter((name) => !name.endsWith('.tmp'));
  }

  #makeFolder(): void {
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    } catch {}
  }

  /** Runs once: removes temporary files of this name left by killed processes. */
  #removeHalfWritten(name: string): void {
    if (this.#looked) return;
    this.#looked = true;
    for (const each of this.#listFiles())
      if (each.startsWith(`${name}.`) && TEMPORARY_NAME_PATTERN.test(each) && this.#isStale(each)) this.remove(each);
  }

  #listFiles(): string[] {
    try {
      return readdirSync(this.folder);
    } catch {
      return [];
    }
  }

  #isStale(name: string): boolean {
    try {
      return statSync(join(this.folder, name)).mtimeMs < Date.now() - STALE_TEMPORARY_MS;
    } catch {
      return false;
    }
  }
}

/** @returns false when it did not exist or could not be removed */
export function removeFile(path: string): boolean {
  try {
    rmSync(path);
    return true;
  } catch {
    return false;
  }
}
