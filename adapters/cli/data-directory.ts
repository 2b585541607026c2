import { access, constants, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Composer } from './composition.js';

const MIN_FREE_BYTES = 512 * 1024 * 1024;
const PRIVATE_FILE_PATTERN = /\.db(-wal|-shm)?$|key/;

export async function findExistingFolder(path: string): Promise<string> {
  const there = await stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
  return there || dirname(path) === path ? path : findExistingFolder(dirname(path));
}

/** @throws Error naming what others can read, or a folder of another owner */
export async function checkDataDirectory(folder: string): Promise<string> {
  const nearest = await findExistingFolder(folder);
  await access(nearest, constants.R_OK | constants.W_OK | constants.X_OK);
  if (nearest !== folder) return `${folder}: will be created at the first start`;
  if (!(await stat(folder)).isDirectory()) throw new Error(`${folder} is not a folder`);
  if (process.platform === 'win32') return folder;
  const open: string[] = [];
  // Others may traverse it to the release store (contract 40, files), but not read it.
  if (((await stat(folder)).mode & 0o066) !== 0) open.push(folder);
  for (const name of await readdir(folder)) {
    if (PRIVATE_FILE_PATTERN.test(name) && ((await stat(join(folder, name))).mode & 0o077) !== 0) open.push(name);
  }
  if (open.length > 0) throw new Error(`other users can open ${open.join(', ')}`);
  return folder;
}

/** @throws Error when little space is left */
export async function checkFreeSpace({ getFreeBytes }: Composer, folder: string): Promise<string> {
  const free = await getFreeBytes(await findExistingFolder(folder));
  const text = `${Math.round(free / 1024 / 1024)} MiB free`;
  if (free < MIN_FREE_BYTES) throw new Error(text);
  return text;
}

const MIN_RELEASE_FREE_BYTES = 64 * 1024 * 1024;

/**
 * Checks without writing.
 * @throws Error naming the problem
 */
export async function checkReleaseFolder(
  { getFreeBytes, listReleaseFolders }: Composer,
  folder: string | null,
  dataDir: string,
): Promise<string> {
  if (folder === null) return 'in MongoDB (GridFS)';
  const nearest = await findExistingFolder(folder);
  const folders = nearest === folder ? (await listReleaseFolders(folder)).map((name) => join(folder, name)) : [];
  const owner = process.platform === 'win32' ? null : (await stat(await findExistingFolder(dataDir))).uid;
  for (const path of [nearest, ...folders]) {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    // Root can write everywhere, but the service may run as another user.
    if (nearest === folder && owner !== null && (await stat(path)).uid !== owner)
      throw new Error(`${path} and ${dataDir} belong to different users`);
  }
  const free = await getFreeBytes(nearest);
  if (free < MIN_RELEASE_FREE_BYTES) throw new Error(`${Math.round(free / 1024 / 1024)} MiB free at ${folder}`);
  return nearest === folder ? folder : `${folder}: will be created at the first publish`;
}
