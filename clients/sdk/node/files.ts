/** Files of the SDK: its folder is no one else's business, and losing it costs no more than what lies there. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../store.js';
import { withFileLock } from './file-lock.js';

const STALE_TEMPORARY_MS = 3_600_000;
/** Of `put`, and of a lock that was left (file-lock.ts). */
const TEMPORARY = /\.\d+\.[0-9a-f]{8}\.tmp$/;
const LONGEST = 4 * 1024 * 1024;

export class FileStore implements Store {
  #looked = false;

  constructor(private readonly folder: string) {}

  read(name: string): string | null {
    const path = join(this.folder, name);
    try {
      return statSync(path).size > LONGEST ? null : readFileSync(path, 'utf8');
    } catch {
      return null;
    }
  }

  /** Through a temporary file and a rename, so that nobody reads half of it, also after `kill -9`. */
  put(name: string, text: string): boolean {
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

  async exclusively<T>(name: string, work: () => T): Promise<T> {
    this.#makeFolder();
    return withFileLock(join(this.folder, `${name}.lock`), () => {
      this.#removeHalfWritten(name);
      return work();
    });
  }

  remove(name: string): boolean {
    return removeFile(join(this.folder, name));
  }

  /** Without what is half written. What a killed process left so is removed. */
  names(): string[] {
    const names = this.#listed();
    for (const name of names) if (name.endsWith('.tmp') && this.#isStale(name)) this.remove(name);
    return names.filter((name) => !name.endsWith('.tmp'));
  }

  #makeFolder(): void {
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    } catch {
      // Nothing is kept then, which `put` says.
    }
  }

  /** Once: what killed processes left of this name. Others' files may lie beside it. */
  #removeHalfWritten(name: string): void {
    if (this.#looked) return;
    this.#looked = true;
    for (const each of this.#listed())
      if (each.startsWith(`${name}.`) && TEMPORARY.test(each) && this.#isStale(each)) this.remove(each);
  }

  #listed(): string[] {
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

/** @returns false where there was none, or it could not be removed */
export function removeFile(path: string): boolean {
  try {
    rmSync(path);
    return true;
  } catch {
    return false;
  }
}
