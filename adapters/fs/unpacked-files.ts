/**
 * Files of releases by hash, so that a web server in front serves them (contract 97, files of a
 * release). A release's folder `files/` has hard links to one file per content, which releases
 * share; a file that only the pool links has no release any more. Everything here can be made again
 * from the packages, and is unpacked at a request where it is missing.
 */
import { randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../../lib/folders.js';
import type { ReleaseLocation } from '../../ports/release-store.js';
import { getErrorCode, makeFolder, PRIVATE_FOLDER_MODE, PUBLIC_FOLDER_MODE } from './durable-writes.js';
import type { ThreadPackageReader } from './package-reader.js';
import {
  FILES_FOLDER,
  getPackageFolder,
  MANIFEST_FILE,
  PACKAGE_FILE,
  POOL_FOLDER,
  UNFINISHED_FILES_PREFIX,
  UNFINISHED_POOL_PREFIX,
} from './paths.js';
import { computeTag, isMissingFileError, statFile } from './stored-file.js';

/** Older unfinished work belongs to no running process. */
const UNFINISHED_AGE_MS = 60 * 60_000;

const REMOVE_OPTIONS = { recursive: true, force: true, maxRetries: 5, retryDelay: 20 } as const;

export class UnpackedFiles {
  readonly #pool: string;

  /** @param failed receives errors, after which the files are unpacked at each request */
  constructor(
    private readonly root: string,
    private readonly reader: ThreadPackageReader,
    private readonly failed: ((error: unknown) => void) | null,
  ) {
    this.#pool = join(root, POOL_FOLDER);
  }

  /** Call before the package is replaced or withdrawn, so that no file of another one is served. */
  async remove(place: ReleaseLocation): Promise<void> {
    const folder = getPackageFolder(this.root, place);
    for (const name of await listNames(folder))
      if (name === FILES_FOLDER || name.startsWith(UNFINISHED_FILES_PREFIX))
        await rm(join(folder, name), REMOVE_OPTIONS);
  }

  /** Unpacks the files of a release in a thread, unless they are there or this is switched off. */
  async unpack(place: ReleaseLocation): Promise<void> {
    if (this.failed === null) return;
    const release = getPackageFolder(this.root, place);
    const folder = join(release, `${UNFINISHED_FILES_PREFIX}${randomUUID()}`);
    const before = await this.#readTag(release);
    if (before === null) return;
    try {
      await makeFolder(this.root, this.#pool, PRIVATE_FOLDER_MODE);
      await mkdir(folder);
      await this.reader.unpack({ kind: 'unpack', platform: place.platform, release, folder, pool: this.#pool });
      await makeFolder(this.root, folder, PUBLIC_FOLDER_MODE);
      await syncFolder(folder);
      if ((await this.#readTag(release)) === before) await this.#finish(release, folder);
    } catch (error) {
      // Withdrawn or replaced meanwhile: nothing is missing.
      if ((await this.#readTag(release)) === before) this.failed(error);
    } finally {
      await rm(folder, REMOVE_OPTIONS);
      if ((await this.#readTag(release)) === null) await rmdir(release).catch(ignoreUsedFolder);
    }
  }

  /**
   * Unpacks what is missing, and removes what no release needs.
   * @returns the number of files that were removed
   */
  async sweep(places: AsyncIterable<ReleaseLocation>, signal?: AbortSignal): Promise<number> {
    if (this.failed === null && (await statFolder(this.#pool)) === null) return 0;
    for await (const place of places) {
      if (signal?.aborted === true) return 0;
      const release = getPackageFolder(this.root, place);
      for (const name of await listNames(release))
        if (name.startsWith(UNFINISHED_FILES_PREFIX) && (await isOld(join(release, name))))
          await rm(join(release, name), REMOVE_OPTIONS);
      const isComplete = (await statFolder(join(release, FILES_FOLDER))) !== null;
      if (this.failed === null || (await this.#readTag(release)) === null) await this.remove(place);
      else if (!isComplete) await this.unpack(place);
    }
    const removed = await this.#sweepPool(signal);
    if (this.failed === null) await rmdir(this.#pool).catch(ignoreUsedFolder);
    return removed;
  }

  async #sweepPool(signal?: AbortSignal): Promise<number> {
    let removed = 0;
    for (const name of await listNames(this.#pool)) {
      const path = join(this.#pool, name);
      if (name.startsWith(UNFINISHED_POOL_PREFIX)) {
        if (await isOld(path)) await rm(path, { force: true });
        continue;
      }
      for (const sha256 of await listNames(path)) {
        if (signal?.aborted === true) return removed;
        if ((await statFile(join(path, sha256)))?.nlink !== 1n) continue;
        // A release that links it meanwhile has its own name of the content.
        await rm(join(path, sha256), { force: true });
        removed++;
      }
      await rmdir(path).catch(ignoreUsedFolder);
    }
    return removed;
  }

  async #finish(release: string, folder: string): Promise<void> {
    const target = join(release, FILES_FOLDER);
    await rename(folder, target).catch(async (error: unknown) => {
      if (!['ENOTEMPTY', 'EEXIST'].includes(getErrorCode(error))) throw error;
      await rm(target, REMOVE_OPTIONS);
      await rename(folder, target);
    });
    await syncFolder(release);
  }

  async #readTag(release: string): Promise<string | null> {
    const [stats, manifest] = await Promise.all(
      [PACKAGE_FILE, MANIFEST_FILE].map((name) => statFile(join(release, name))),
    );
    return stats && manifest ? computeTag(stats) : null;
  }
}

async function listNames(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissingFileError(error)) return [];
    throw error;
  }
}

const statFolder = (path: string): Promise<unknown> =>
  stat(path).catch((error: unknown) => {
    if (isMissingFileError(error)) return null;
    throw error;
  });

async function isOld(path: string): Promise<boolean> {
  try {
    return Date.now() - (await lstat(path)).mtimeMs > UNFINISHED_AGE_MS;
  } catch (error) {
    if (isMissingFileError(error)) return false;
    throw error;
  }
}

function ignoreUsedFolder(error: unknown): void {
  if (!isMissingFileError(error) && !['ENOTEMPTY', 'EEXIST'].includes(getErrorCode(error))) throw error;
}
