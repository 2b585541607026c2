/**
 * Files of releases by hash, so that a web server in front serves them (contract 97, files of a
 * release). A release's folder `files/` has hard links to one file per content, which releases
 * share; a file that only the pool links has no release any more. Everything here can be made again
 * from the packages, and is unpacked at a request where it is missing.
 */
import { randomUUID } from 'node:crypto';
import { link, lstat, mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '../../lib/folders.js';
import { DiskFull, type ReleaseLocation } from '../../ports/release-store.js';
import { getErrorCode, makeFolder, PRIVATE_FOLDER_MODE, PUBLIC_FOLDER_MODE, replaceText } from './durable-writes.js';
import type { ThreadPackageReader } from './package-reader.js';
import {
  FILES_FOLDER,
  getPackageFolder,
  getPoolPath,
  MANIFEST_FILE,
  PACKAGE_FILE,
  POOL_FOLDER,
  RETIRED_POOL_PREFIX,
  UNFINISHED_FILES_PREFIX,
  UNFINISHED_POOL_PREFIX,
  UNPACKED_FILE,
} from './paths.js';
import { computeTag, isMissingFileError, readTextFile, statFile } from './stored-file.js';

/** Older unfinished work belongs to no running process. */
const UNFINISHED_AGE_MS = 60 * 60_000;
/** The store and the log need room too. */
const MIN_FREE_BYTES = 512 * 1024 * 1024;
/** Repeated when the release is replaced meanwhile. */
const MAX_ATTEMPTS = 3;
const SHA256_PATTERN = /^[0-9a-f]{64}$/;

const REMOVE_OPTIONS = { recursive: true, force: true, maxRetries: 5, retryDelay: 20 } as const;

export interface UnpackOptions {
  /** False removes the files of releases. */
  enabled: boolean;
  /** Bytes that stay free on the disk. */
  keepFree?: number;
}

export class UnpackedFiles {
  readonly #pool: string;

  constructor(
    private readonly root: string,
    private readonly reader: ThreadPackageReader,
    private readonly options: UnpackOptions,
  ) {
    this.#pool = join(root, POOL_FOLDER);
  }

  /**
   * Call before the package or the manifest is replaced or withdrawn, so that no file of another
   * one is served. `removeRetired` removes the bytes.
   */
  async retire(place: ReleaseLocation): Promise<void> {
    const release = getPackageFolder(this.root, place);
    await this.#retireFiles(release);
    for (const name of (await listNames(release)) ?? [])
      if (name.startsWith(UNFINISHED_FILES_PREFIX)) await this.#retireFolder(join(release, name));
  }

  async #retireFiles(release: string): Promise<void> {
    await rm(join(release, UNPACKED_FILE), { force: true });
    await this.#retireFolder(join(release, FILES_FOLDER));
  }

  /**
   * Unpacks the files of a release in a thread, unless they are there, and removes those of what it
   * replaced.
   * @throws DiskFull, errors of the package, and the signal's reason
   */
  async update(place: ReleaseLocation, signal?: AbortSignal): Promise<void> {
    const release = getPackageFolder(this.root, place);
    try {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const tag = this.options.enabled ? await this.#readTag(release) : null;
        if (tag !== null && (await this.#isComplete(release, tag))) break;
        if (tag !== null) await this.#unpack(place, tag, signal);
        else return await this.retire(place);
      }
    } finally {
      await this.removeRetired();
    }
  }

  /** Removes what no release needs. @returns the number of files that were removed */
  async sweep(places: AsyncIterable<ReleaseLocation>, signal?: AbortSignal): Promise<number> {
    if ((await listNames(this.#pool)) === null) return 0;
    for await (const place of places) {
      if (signal?.aborted === true) return 0;
      const release = getPackageFolder(this.root, place);
      for (const name of (await listNames(release)) ?? [])
        if (name.startsWith(UNFINISHED_FILES_PREFIX) && (await isOld(join(release, name))))
          await this.#retireFolder(join(release, name));
    }
    const removed = (await this.removeRetired()) + (await this.#sweepPool(signal));
    if (!this.options.enabled) await rmdir(this.#pool).catch(ignoreUsedFolder);
    return removed;
  }

  /**
   * Removes files of replaced and withdrawn releases, unless another release has them.
   * @returns the number of files that were removed
   */
  async removeRetired(): Promise<number> {
    let removed = 0;
    for (const name of (await listNames(this.#pool)) ?? []) {
      if (!name.startsWith(RETIRED_POOL_PREFIX)) continue;
      const path = join(this.#pool, name);
      const sha256 = name.slice(RETIRED_POOL_PREFIX.length);
      if (SHA256_PATTERN.test(sha256)) {
        if (await this.#settleRetired(sha256)) removed++;
        continue;
      }
      const contents = (await listNames(path)) ?? [];
      // All first: an unfinished file is a link to one of them.
      for (const content of contents) await rm(join(path, content), { force: true });
      for (const content of contents) if (await this.#removeUnlinked(content)) removed++;
      await rm(path, REMOVE_OPTIONS);
    }
    return removed;
  }

  async #unpack(place: ReleaseLocation, tag: string, signal: AbortSignal | undefined): Promise<void> {
    const { platform } = place;
    const { keepFree = MIN_FREE_BYTES } = this.options;
    const release = getPackageFolder(this.root, place);
    const folder = join(release, `${UNFINISHED_FILES_PREFIX}${randomUUID()}`);
    try {
      await makeFolder(this.root, this.#pool, PRIVATE_FOLDER_MODE);
      await mkdir(folder);
      await this.reader.unpack({ kind: 'unpack', platform, release, folder, pool: this.#pool, keepFree }, signal);
      await makeFolder(this.root, folder, PUBLIC_FOLDER_MODE);
      await syncFolder(folder);
      if ((await this.#readTag(release)) === tag) await this.#finish(place, folder, tag);
    } catch (error) {
      // Withdrawn or replaced meanwhile: nothing is missing.
      const isRetired = isMissingFileError(error) && (await listNames(folder)) === null;
      if (signal?.aborted !== true && (isRetired || (await this.#readTag(release)) !== tag)) return;
      throw ['ENOSPC', 'EDQUOT'].includes(getErrorCode(error))
        ? new DiskFull(`the disk of ${this.root} has too little space for the files of a release`, { cause: error })
        : error;
    } finally {
      await this.#retireFolder(folder);
      await rm(folder, REMOVE_OPTIONS);
      // Withdrawn meanwhile.
      if ((await this.#readTag(release)) === null) await rmdir(release).catch(ignoreUsedFolder);
    }
  }

  /** The name of the package and manifest comes last: without it, the files are linked again. */
  async #finish(place: ReleaseLocation, folder: string, tag: string): Promise<void> {
    const release = getPackageFolder(this.root, place);
    await this.#retireFiles(release);
    try {
      await rename(folder, join(release, FILES_FOLDER));
    } catch (error) {
      // Another process was faster.
      if (['ENOTEMPTY', 'EEXIST'].includes(getErrorCode(error))) return;
      throw error;
    }
    await syncFolder(release);
    const temporary = join(this.#pool, `${UNFINISHED_POOL_PREFIX}${randomUUID()}`);
    await replaceText(temporary, join(release, UNPACKED_FILE), tag);
  }

  async #isComplete(release: string, tag: string): Promise<boolean> {
    if ((await readTextFile(join(release, UNPACKED_FILE))) !== tag) return false;
    return (await listNames(join(release, FILES_FOLDER))) !== null;
  }

  async #retireFolder(folder: string): Promise<void> {
    if ((await listNames(folder)) === null) return;
    try {
      await makeFolder(this.root, this.#pool, PRIVATE_FOLDER_MODE);
      await rename(folder, join(this.#pool, `${RETIRED_POOL_PREFIX}${randomUUID()}`));
    } catch (error) {
      if (isMissingFileError(error)) return;
      // On a full disk. The next sweep removes the bytes.
      await rm(folder, REMOVE_OPTIONS);
    }
  }

  async #sweepPool(signal?: AbortSignal): Promise<number> {
    let removed = 0;
    for (const name of (await listNames(this.#pool)) ?? []) {
      const path = join(this.#pool, name);
      if (name.startsWith(UNFINISHED_POOL_PREFIX) && (await isOld(path))) await rm(path, { force: true });
      if (name.length !== 2) continue;
      for (const sha256 of (await listNames(path)) ?? []) {
        if (signal?.aborted === true) return removed;
        if (await this.#removeUnlinked(sha256)) removed++;
      }
      await rmdir(path).catch(ignoreUsedFolder);
    }
    return removed;
  }

  /** Moved aside first, because a release may link it meanwhile. */
  async #removeUnlinked(sha256: string): Promise<boolean> {
    const shared = getPoolPath(this.#pool, sha256);
    if ((await statFile(shared))?.nlink !== 1n) return false;
    try {
      await rename(shared, this.#getRetiredPath(sha256));
    } catch (error) {
      if (isMissingFileError(error)) return false;
      throw error;
    }
    return this.#settleRetired(sha256);
  }

  async #settleRetired(sha256: string): Promise<boolean> {
    const retired = this.#getRetiredPath(sha256);
    const links = (await statFile(retired))?.nlink ?? 0n;
    if (links > 1n && !(await this.#restore(retired, sha256))) return false;
    await rm(retired, { force: true });
    return links === 1n;
  }

  /** @returns false when another sweep removed the emptied folder; the next one restores it */
  async #restore(retired: string, sha256: string): Promise<boolean> {
    const shared = getPoolPath(this.#pool, sha256);
    try {
      await mkdir(dirname(shared), { recursive: true, mode: PRIVATE_FOLDER_MODE });
      await link(retired, shared);
    } catch (error) {
      if (isMissingFileError(error)) return false;
      if (getErrorCode(error) !== 'EEXIST') throw error;
    }
    return true;
  }

  #getRetiredPath(sha256: string): string {
    return join(this.#pool, `${RETIRED_POOL_PREFIX}${sha256}`);
  }

  /** Null without a package or a manifest. */
  async #readTag(release: string): Promise<string | null> {
    const stats = await Promise.all([PACKAGE_FILE, MANIFEST_FILE].map((name) => statFile(join(release, name))));
    return stats.every((one) => one !== null) ? stats.map(computeTag).join(' ') : null;
  }
}

/** Null when the folder is missing. */
async function listNames(folder: string): Promise<string[] | null> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissingFileError(error)) return null;
    throw error;
  }
}

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
