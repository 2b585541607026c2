/**
 * Restores a backup (`aos restore`, contract 95, command line). Everything is unpacked in staging
 * and validated; then a ready file is written, and only then the content is moved into place. A run
 * killed before the ready file leaves the target empty. After it, the next start completes the
 * restore (docs/consistency.md, restore).
 */
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArchiveHead } from '../container/head.js';
import { readEntryText, readArchive } from '../container/reader.js';
import { ArchiveRejectedError } from '../container/archive-rejected-error.js';
import { toReadableError } from '../container/writer.js';
import { syncFolder } from '../../../lib/folders.js';
import { getErrorCode, fileExists, readTextFile, writePrivateFile } from '../files.js';
import {
  parsePlacedPackage,
  putPackages,
  StagedPackages,
  type PackageTarget,
  type PlacedPackage,
} from '../packages.js';
import { getKeyEntry, STORE_ENTRY } from './backup.js';

const STAGING_FOLDER = 'restore';
const READY_FILE = 'ready.json';
const PLACES_FOLDER = 'places';
const KEYS_FOLDER = 'keys';
const MAX_KEY_BYTES = 64 * 1024;
const SQLITE_HEADER = 'SQLite format 3\0';

export interface RestoreTarget {
  dataDir: string;
  store: string;
  keyFiles: readonly string[];
  releases: PackageTarget;
}

interface ReadyRestore {
  /** Target path of the store, to detect a changed configuration. */
  store: string;
  keys: string[];
  packages: Record<string, string>;
  /** Summary of the restore; absent when an earlier version began it. */
  restored?: RestoreSummary;
}

/** Returns what is wrong with a store file, as the end of a sentence, or null. */
export type CheckStoreFile = (path: string) => string | null;

export interface RestoreSummary {
  head: ArchiveHead;
  keys: string[];
  packages: number;
}

const getUnpackedPath = (store: string): string => `${store}.restoring`;

/**
 * The caller must ensure that the target is empty and not in use.
 * @throws ArchiveRejected when nothing was put in place; Error (one sentence)
 */
export async function restoreBackup(
  file: string,
  target: RestoreTarget,
  check: CheckStoreFile,
): Promise<RestoreSummary> {
  const staging = join(target.dataDir, STAGING_FOLDER);
  await rm(staging, { recursive: true, force: true });
  await mkdir(join(staging, PLACES_FOLDER), { recursive: true, mode: 0o700 });
  await mkdir(join(staging, KEYS_FOLDER), { mode: 0o700 });
  const packages = new StagedPackages(target.releases.packages);
  const keys: string[] = [];
  let stores = 0;
  let places = 0;
  const head = await (async () => {
    const archive = await readArchive(file, 'backup', async (entry, content) => {
      const key = target.keyFiles.find((name) => getKeyEntry(name) === entry.path);
      if (key !== undefined) {
        await writePrivateFile(join(staging, KEYS_FOLDER, key), await readEntryText(entry, content, MAX_KEY_BYTES));
        keys.push(key);
      } else if (entry.path === STORE_ENTRY) {
        await writePrivateFile(getUnpackedPath(target.store), requirePrefix(SQLITE_HEADER, content));
        stores++;
      } else {
        const placed = await packages.stageEntry(entry, content);
        if (placed !== null)
          await writePrivateFile(
            join(staging, PLACES_FOLDER, `${String(++places).padStart(6, '0')}.json`),
            JSON.stringify(placed),
          );
      }
    });
    if (stores !== 1) throw new ArchiveRejectedError(`${file} does not contain ${STORE_ENTRY}`);
    const wrong = check(getUnpackedPath(target.store));
    await removeLogs(getUnpackedPath(target.store));
    if (wrong !== null) throw new ArchiveRejectedError(`contains a ${STORE_ENTRY} ${wrong}`);
    return archive.head;
  })().catch(async (error: unknown) => {
    await packages.discard();
    await rm(getUnpackedPath(target.store), { force: true });
    await rm(staging, { recursive: true, force: true });
    throw toReadableError(error, target.dataDir);
  });
  const restored: RestoreSummary = { head, keys, packages: places };
  const ready: ReadyRestore = { store: target.store, keys, packages: packages.ids, restored };
  await writePrivateFile(join(staging, `${READY_FILE}.new`), JSON.stringify(ready));
  await rename(join(staging, `${READY_FILE}.new`), join(staging, READY_FILE));
  await syncFolder(staging);
  await finishRestore(target);
  return restored;
}

/** Otherwise only the next start would detect them. */
async function* requirePrefix(text: string, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let first = true;
  for await (const piece of content) {
    if (first && Buffer.from(piece).toString('latin1', 0, text.length) !== text)
      throw new ArchiveRejectedError(`contains a ${STORE_ENTRY} that is not a store`);
    first = false;
    yield piece;
  }
  if (first) throw new ArchiveRejectedError(`contains an empty ${STORE_ENTRY}`);
}

export const isRestoreReady = (dataDir: string): Promise<boolean> =>
  fileExists(join(dataDir, STAGING_FOLDER, READY_FILE));

/** @returns null when there is nothing to complete */
export async function finishRestore(target: RestoreTarget): Promise<Partial<RestoreSummary> | null> {
  const staging = join(target.dataDir, STAGING_FOLDER);
  const text = await readTextFile(join(staging, READY_FILE));
  if (text === null) return null;
  const ready = JSON.parse(text) as ReadyRestore;
  if (ready.store !== target.store)
    throw new Error(`a restore into ${ready.store} was interrupted: set storage.url to it, and start again`);
  await putPackages(target.releases, ready.packages, iteratePlaces(join(staging, PLACES_FOLDER)));
  for (const key of ready.keys) {
    const stagedKey = await readTextFile(join(staging, KEYS_FOLDER, key));
    if (stagedKey !== null) await replaceWithText(join(target.dataDir, key), stagedKey);
  }
  // The log of the previous store must not be applied to the restored one.
  await removeLogs(target.store);
  await rename(getUnpackedPath(target.store), target.store).catch((error: unknown) => {
    if (getErrorCode(error) !== 'ENOENT') throw error;
  });
  await syncFolder(join(target.store, '..'));
  await rm(join(staging, READY_FILE), { force: true });
  await rm(staging, { recursive: true, force: true });
  return ready.restored ?? {};
}

async function removeLogs(store: string): Promise<void> {
  for (const end of ['-wal', '-shm']) await rm(`${store}${end}`, { force: true });
}

async function replaceWithText(path: string, text: string): Promise<void> {
  await writePrivateFile(`${path}.restoring`, text);
  await rename(`${path}.restoring`, path);
}

async function* iteratePlaces(folder: string): AsyncGenerator<PlacedPackage> {
  for (const name of (await readdir(folder)).toSorted()) {
    const text = await readTextFile(join(folder, name));
    if (text !== null) yield parsePlacedPackage(text);
  }
}
