/**
 * What `aos doctor` says of the data directory: that it is there or can be made, that it is ours alone, and has room.
 */
import { access, constants, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { freeBytes, releaseFoldersIn } from '../../config/compose/compose.js';

const MIN_FREE_BYTES = 512 * 1024 * 1024;
/** Files that only their owner may read. */
const PRIVATE = /\.db(-wal|-shm)?$|key/;

/** The path, or the nearest folder above it that is there. */
export async function existing(path: string): Promise<string> {
  const there = await stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
  return there || dirname(path) === path ? path : existing(dirname(path));
}

/** @throws Error that names what others can read, or that it is no folder of ours */
export async function dataDirectory(folder: string): Promise<string> {
  const nearest = await existing(folder);
  await access(nearest, constants.R_OK | constants.W_OK | constants.X_OK);
  if (nearest !== folder) return `${folder}: the first start makes it`;
  if (!(await stat(folder)).isDirectory()) throw new Error(`${folder} is no folder`);
  // Who may do what is a question of Unix modes alone.
  if (process.platform === 'win32') return folder;
  const open: string[] = [];
  // Others may pass through it to the release store (contract 40, files), and see nothing of it.
  if (((await stat(folder)).mode & 0o066) !== 0) open.push(folder);
  for (const name of await readdir(folder)) {
    if (PRIVATE.test(name) && ((await stat(join(folder, name))).mode & 0o077) !== 0) open.push(name);
  }
  if (open.length > 0) throw new Error(`others can open ${open.join(', ')}`);
  return folder;
}

/** @throws Error when little is left */
export async function disk(folder: string): Promise<string> {
  const free = await freeBytes(await existing(folder));
  const text = `${Math.round(free / 1024 / 1024)} MiB free`;
  if (free < MIN_FREE_BYTES) throw new Error(text);
  return text;
}

/** Less is refused to a publish. */
const RELEASE_FREE_BYTES = 64 * 1024 * 1024;

/**
 * Whether the release store takes releases, as far as can be seen without writing.
 * @param folder null: packages are in MongoDB
 * @throws Error that names what is in the way
 */
export async function releaseFolder(folder: string | null, dataDir: string): Promise<string> {
  if (folder === null) return 'in MongoDB (GridFS)';
  const nearest = await existing(folder);
  const folders = nearest === folder ? (await releaseFoldersIn(folder)).map((name) => join(folder, name)) : [];
  const owner = process.platform === 'win32' ? null : (await stat(await existing(dataDir))).uid;
  for (const path of [nearest, ...folders]) {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    // Root may write everywhere, and the service that it starts as another user may not.
    if (nearest === folder && owner !== null && (await stat(path)).uid !== owner)
      throw new Error(`${path} belongs to another user than ${dataDir}`);
  }
  const free = await freeBytes(nearest);
  if (free < RELEASE_FREE_BYTES) throw new Error(`${Math.round(free / 1024 / 1024)} MiB are free at ${folder}`);
  return nearest === folder ? folder : `${folder}: the first publish makes it`;
}
