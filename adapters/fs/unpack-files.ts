/** Unpacks a package into one file per content, named by its SHA-256. Runs in a worker thread. */
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { link, mkdir, readFile, rename, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { unpackMissingFiles, type FilePool, type ListedFile } from '../../lib/formats/packaged-file.js';
import { getErrorCode, PRIVATE_FOLDER_MODE, PUBLIC_FILE_MODE, writeNewFile } from './durable-writes.js';
import { getPoolPath, MANIFEST_FILE, PACKAGE_FILE, UNFINISHED_POOL_PREFIX } from './paths.js';
import { statFile } from './stored-file.js';

const READ_CHUNK_BYTES = 1024 * 1024;

export interface UnpackJob {
  kind: 'unpack';
  platform: string;
  /** Folder of the release. */
  release: string;
  /** Existing folder for the files. */
  folder: string;
  /** Files of all releases. */
  pool: string;
  /** Bytes. */
  keepFree: number;
}

/**
 * @throws with code ENOENT when the release is withdrawn meanwhile, ENOSPC when the disk gets full
 */
export async function unpackFiles({ platform, release, folder, pool, keepFree }: UnpackJob): Promise<void> {
  const open = (): AsyncIterable<Uint8Array> =>
    createReadStream(join(release, PACKAGE_FILE), { highWaterMark: READ_CHUNK_BYTES });
  const manifest = await readFile(join(release, MANIFEST_FILE), 'utf8');
  await unpackMissingFiles(manifest, { platform, open }, new LinkedFiles(folder, pool, keepFree));
}

/** The pool and the folder of a release have hard links to the same files. */
class LinkedFiles implements FilePool {
  constructor(
    private readonly folder: string,
    private readonly pool: string,
    private readonly keepFree: number,
  ) {}

  async filterMissing(files: readonly ListedFile[]): Promise<readonly ListedFile[]> {
    const missing: ListedFile[] = [];
    for (const file of files) if (!(await this.#linkShared(file))) missing.push(file);
    return missing;
  }

  async requireSpace(bytes: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.pool);
    if (bavail * bsize < bytes + this.keepFree)
      throw Object.assign(new Error('too little space to unpack a release'), { code: 'ENOSPC' });
  }

  async write(file: ListedFile, content: AsyncIterable<Uint8Array>): Promise<void> {
    // In the release's folder, which is removed when this thread is terminated.
    const temporary = join(this.folder, `${UNFINISHED_POOL_PREFIX}${randomUUID()}`);
    await writeNewFile(temporary, PUBLIC_FILE_MODE, async (handle) => {
      for await (const piece of content) await handle.writeFile(piece);
    });
    const own = join(this.folder, file.sha256);
    try {
      // Another release may have stored it meanwhile.
      if (await this.#linkShared(file)) return;
      // The release's link comes first, so that a sweep never finds the pool's file without one.
      await link(temporary, own);
      if (await this.#addToPool(temporary, file)) return;
      await rm(own, { force: true });
      if (await this.#linkShared(file)) return;
      await link(temporary, own);
      await this.#replaceInPool(temporary, file);
    } finally {
      await rm(temporary, { force: true });
    }
  }

  /** @returns false when it is missing, truncated by a copy, or has too many links */
  async #linkShared({ sha256, size }: ListedFile): Promise<boolean> {
    const shared = getPoolPath(this.pool, sha256);
    if ((await statFile(shared))?.size !== BigInt(size)) return false;
    try {
      await link(shared, join(this.folder, sha256));
      return true;
    } catch (error) {
      if (['ENOENT', 'EMLINK'].includes(getErrorCode(error))) return false;
      throw error;
    }
  }

  /** @returns false when the pool has one */
  async #addToPool(temporary: string, { sha256 }: ListedFile): Promise<boolean> {
    try {
      await this.#withPoolFolder(sha256, (shared) => link(temporary, shared));
      return true;
    } catch (error) {
      if (getErrorCode(error) !== 'EEXIST') throw error;
      return false;
    }
  }

  /** One that was truncated by a copy, or has too many links. */
  async #replaceInPool(temporary: string, { sha256 }: ListedFile): Promise<void> {
    await this.#withPoolFolder(sha256, (shared) => rename(temporary, shared));
  }

  /** A sweep removes empty folders, so it may be missing. */
  async #withPoolFolder(sha256: string, write: (shared: string) => Promise<void>): Promise<void> {
    const shared = getPoolPath(this.pool, sha256);
    const attempt = async (): Promise<void> => {
      await mkdir(dirname(shared), { recursive: true, mode: PRIVATE_FOLDER_MODE });
      await write(shared);
    };
    await attempt().catch((error: unknown) => {
      if (getErrorCode(error) !== 'ENOENT') throw error;
      return attempt();
    });
  }
}
