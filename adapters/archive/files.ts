import { open, readFile, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from '../../lib/folders.js';

export const getErrorCode = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

export async function fileExists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

export async function readTextFile(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Writes a private file (0600) durably. */
export async function writePrivateFile(path: string, content: AsyncIterable<Uint8Array> | string): Promise<void> {
  await rm(path, { force: true });
  const file = await open(path, 'wx', 0o600);
  try {
    if (typeof content === 'string') await file.writeFile(content);
    else await writePieces(file, content);
    await file.sync();
  } finally {
    await file.close();
  }
  await syncFolder(dirname(path));
}

/** Maximum unsynced data: commits of the running service wait until it is on disk. */
const MAX_UNSYNCED_BYTES = 4 * 1024 * 1024;

export async function writePieces(file: FileHandle, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  let unsynced = 0;
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length;) at += (await file.write(piece, at)).bytesWritten;
    unsynced += piece.length;
    if (unsynced < MAX_UNSYNCED_BYTES) continue;
    await file.datasync();
    unsynced = 0;
  }
}
