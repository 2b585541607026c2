/** Unpacks a package into one file per content, named by its SHA-256. Runs in a worker thread. */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { link, mkdir, readFile, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { readPackage, type FileEntry } from '../../lib/formats/archive.js';
import { getErrorCode, PRIVATE_FOLDER_MODE, PUBLIC_FILE_MODE, writeNewFile } from './durable-writes.js';
import { MANIFEST_FILE, PACKAGE_FILE, UNFINISHED_POOL_PREFIX } from './paths.js';

const READ_CHUNK_BYTES = 1024 * 1024;
/** The store and the log need room too. */
const MIN_FREE_BYTES = 512 * 1024 * 1024;

export interface UnpackJob {
  kind: 'unpack';
  platform: string;
  /** Folder of the release. */
  release: string;
  /** Existing folder for the files. */
  folder: string;
  /** Files of all releases. */
  pool: string;
}

/**
 * @throws with code ENOENT when the release is withdrawn meanwhile, ENOSPC when the disk gets full
 */
export async function unpackFiles({ platform, release, folder, pool }: UnpackJob): Promise<void> {
  const { files } = JSON.parse(await readFile(join(release, MANIFEST_FILE), 'utf8')) as {
    files: readonly { path: string; sha256: string }[];
  };
  const hashes = new Map(files.map(({ path, sha256 }) => [path, sha256]));
  const onFile = async ({ path, size }: FileEntry, content: AsyncIterable<Uint8Array>): Promise<void> => {
    const sha256 = hashes.get(path);
    if (sha256 === undefined) throw new Error(`the manifest does not list ${path}`);
    const shared = join(pool, sha256.slice(0, 2), sha256);
    if (await linkIfPossible(shared, join(folder, sha256))) return;
    await requireFreeSpace(pool, size);
    await mkdir(join(pool, sha256.slice(0, 2)), { recursive: true, mode: PRIVATE_FOLDER_MODE });
    const temporary = join(pool, `${UNFINISHED_POOL_PREFIX}${randomUUID()}`);
    const sum = createHash('sha256');
    await writeNewFile(temporary, PUBLIC_FILE_MODE, async (file) => {
      for await (const piece of content) {
        sum.update(piece);
        await file.writeFile(piece);
      }
      // The manifest of a publish that was cut off may be that of the package before.
      if (sum.digest('hex') !== sha256) throw new Error(`the manifest has another hash of ${path}`);
    });
    try {
      // The release's link comes first, so that a sweep never finds the pool's file without one.
      await linkIfPossible(temporary, join(folder, sha256));
      await linkIfPossible(temporary, shared);
    } finally {
      await rm(temporary, { force: true });
    }
  };
  const source = createReadStream(join(release, PACKAGE_FILE), { highWaterMark: READ_CHUNK_BYTES });
  await readPackage(source, { platform, onFile });
}

/** @returns false when the source is missing or has too many links */
async function linkIfPossible(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    // Two files of a release may have the same content.
    if (getErrorCode(error) === 'EEXIST') return true;
    if (['ENOENT', 'EMLINK'].includes(getErrorCode(error))) return false;
    throw error;
  }
}

async function requireFreeSpace(folder: string, size: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < size + MIN_FREE_BYTES)
    throw Object.assign(new Error('too little room to unpack a release'), { code: 'ENOSPC' });
}
