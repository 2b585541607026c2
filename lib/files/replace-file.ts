import { randomUUID } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolders, syncFolder } from '../folders.js';

async function writeTemporaryFile(path: string, content: string): Promise<string> {
  const temporary = `${path}.${process.pid}.${randomUUID().slice(0, 8)}.tmp`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } catch (error) {
    await rm(temporary, { force: true });
    // Node's errors of failed writes lack the path.
    throw Object.assign(error as NodeJS.ErrnoException, { path });
  } finally {
    await file.close();
  }
  return temporary;
}

/** Creates a file (0600). */
export async function createFile(path: string, content: string): Promise<boolean> {
  await makeFolders(dirname(path), 0o700);
  const temporary = await writeTemporaryFile(path, content);
  try {
    await link(temporary, path);
    await syncFolder(dirname(path));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Replaces a file (0600) atomically. */
export async function replaceFile(path: string, content: string): Promise<void> {
  await makeFolders(dirname(path), 0o700);
  const temporary = await writeTemporaryFile(path, content);
  try {
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
