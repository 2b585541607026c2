/**
 * Reports that wait for the server: one file each in `<cacheDir>/aos-errors`, so that they outlive the process, also a
 * `kill -9`, and that processes which share the folder need no lock. A report may be sent twice; its `client_ref` makes
 * the second count nothing. Writing is synchronous: an exception that ends the process leaves time for nothing else.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { putFile, removeFile } from '../files.js';

/** More are not kept; the oldest go first. */
export const MAX_QUEUED = 200;
const MAX_AGE_MS = 7 * 24 * 3_600_000;
const STALE_TEMPORARY_MS = 3_600_000;
const NAME = /^(\d{15})-[0-9a-f-]{36}\.json$/;

export class Queue {
  readonly #folder: string;
  #last = 0;

  constructor(cacheDir: string) {
    this.#folder = join(cacheDir, 'aos-errors');
  }

  /** The report's name in the queue; null where the folder cannot be written to. */
  put(text: string): string | null {
    // Strictly rising, so that the reports of one process keep their order.
    this.#last = Math.max(Date.now(), this.#last + 1);
    const name = `${String(this.#last).padStart(15, '0')}-${randomUUID()}.json`;
    if (!putFile(this.#folder, name, text)) return null;
    for (const oldest of this.names().slice(0, -MAX_QUEUED)) this.remove(oldest);
    return name;
  }

  /** Oldest first. What is too old is removed, and what a killed process left half written. */
  names(): string[] {
    const now = Date.now();
    const names: string[] = [];
    for (const name of this.#listed().sort()) {
      const at = NAME.exec(name)?.[1];
      if (at === undefined ? this.#isStaleTemporary(name, now) : Number(at) < now - MAX_AGE_MS) this.remove(name);
      else if (at !== undefined) names.push(name);
    }
    return names;
  }

  /** Null: another process has sent it, or it is no report. */
  read(name: string): Record<string, unknown> | null {
    try {
      return JSON.parse(readFileSync(join(this.#folder, name), 'utf8')) as Record<string, unknown>;
    } catch {
      return null;
    }
  }

  remove(name: string): void {
    removeFile(join(this.#folder, name));
  }

  #listed(): string[] {
    try {
      return readdirSync(this.#folder);
    } catch {
      return [];
    }
  }

  #isStaleTemporary(name: string, now: number): boolean {
    try {
      return name.endsWith('.tmp') && statSync(join(this.#folder, name)).mtimeMs < now - STALE_TEMPORARY_MS;
    } catch {
      return false;
    }
  }
}
