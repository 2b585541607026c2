/** Files of the SDK: its folder is no one else's business, and losing it costs no more than what lies there. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Through a temporary file and a rename, so that nobody reads half of it, also after `kill -9`.
 * @returns false where the folder cannot be written to
 */
export function putFile(folder: string, name: string, text: string): boolean {
  const path = join(folder, name);
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(temporary, text, { mode: 0o600 });
    renameSync(temporary, path);
    return true;
  } catch {
    removeFile(temporary);
    return false;
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
