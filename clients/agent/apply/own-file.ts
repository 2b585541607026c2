import { createReadStream, createWriteStream } from 'node:fs';
import { realpath, rename, rm } from 'node:fs/promises';
import { dirname, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { hashFile, statPath, syncDirectory, syncFile } from '../system/files.js';
import type { InstallationLayout } from '../layout.js';

/** Null when it is elsewhere or is the copy. */
export async function findOwnPath(layout: InstallationLayout, ownFile: string): Promise<string | null> {
  const file = await realpath(ownFile).catch(() => ownFile);
  const path = relative(layout.root, file);
  if (path === '' || path.startsWith('..') || path.startsWith(sep) || /^[A-Za-z]:/.test(path)) return null;
  const names = path.split(sep);
  return names[0] === '.update-agent' ? null : names.join('/');
}

/** Writes `.update-agent/agent` durably; skips it when it is the running program. */
export async function saveCopy(layout: InstallationLayout, ownFile: string): Promise<void> {
  const file = await realpath(ownFile).catch(() => ownFile);
  if (file === layout.agent) return;
  const currentStats = await statPath(layout.agent);
  if (currentStats?.isFile() === true && (await hashFile(layout.agent)) === (await hashFile(file))) return;
  const temporary = `${layout.agent}.new`;
  await rm(temporary, { force: true });
  // Not copyFile, because user-space file systems reject its system call.
  await pipeline(createReadStream(file), createWriteStream(temporary, { flags: 'wx', mode: 0o700 }));
  await syncFile(temporary);
  await rename(temporary, layout.agent);
  await syncDirectory(dirname(layout.agent));
}
