/**
 * Restores a backup (`aos restore`, contract 95, command line). Everything is unpacked in staging
 * and validated; then a ready file is written, and only then the content is moved into place. A run
 * killed before the ready file leaves the target empty. After it, the next start completes the
 * restore (docs/consistency.md, restore).
 */
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArchiveHead } from '../container/head.js';
import { entryText, readArchive } from '../container/reader.js';
import { ArchiveRejected } from '../container/rejected.js';
import { sentenceOf } from '../container/writer.js';
import { syncFolder } from '../../../lib/folders.js';
import { codeOf, isThere, textOf, writeOwn } from '../files.js';
import { placedOf, putPackages, StagedPackages, type PackageTarget, type PlacedPackage } from '../packages.js';
import { keyEntry, STORE_ENTRY } from './backup.js';

const STAGING = 'restore';
const READY = 'ready.json';
const PLACES = 'places';
const KEYS = 'keys';
const MAX_KEY_BYTES = 64 * 1024;
const SQLITE = 'SQLite format 3\0';

export interface RestoreTarget {
  dataDir: string;
  store: string;
  keyFiles: readonly string[];
  releases: PackageTarget;
}

interface Ready {
  /** Target path of the store, to detect a changed configuration. */
  store: string;
  keys: string[];
  packages: Record<string, string>;
  /** Summary of the restore; absent when an earlier version began it. */
  restored?: Restored;
}

/** Returns what is wrong with a store file, as the end of a sentence, or null. */
export type CheckStoreFile = (path: string) => string | null;

export interface Restored {
  head: ArchiveHead;
  keys: string[];
  packages: number;
}

const unpackedAt = (store: string): string => `${store}.restoring`;

/**
 * The caller must ensure that the target is empty and not in use.
 * @throws ArchiveRejected when nothing was put in place; Error (one sentence)
 */
export async function restoreBackup(file: string, target: RestoreTarget, check: CheckStoreFile): Promise<Restored> {
  const staging = join(target.dataDir, STAGING);
  await rm(staging, { recursive: true, force: true });
  await mkdir(join(staging, PLACES), { recursive: true, mode: 0o700 });
  await mkdir(join(staging, KEYS), { mode: 0o700 });
  const packages = new StagedPackages(target.releases.packages);
  const keys: string[] = [];
  let stores = 0;
  let places = 0;
  const head = await (async () => {
    const archive = await readArchive(file, 'backup', async (entry, content) => {
      const key = target.keyFiles.find((name) => keyEntry(name) === entry.path);
      if (key !== undefined) {
        await writeOwn(join(staging, KEYS, key), await entryText(entry, content, MAX_KEY_BYTES));
        keys.push(key);
      } else if (entry.path === STORE_ENTRY) {
        await writeOwn(unpackedAt(target.store), beginningWith(SQLITE, content));
        stores++;
      } else {
        const placed = await packages.take(entry, content);
        if (placed !== null)
          await writeOwn(join(staging, PLACES, `${String(++places).padStart(6, '0')}.json`), JSON.stringify(placed));
      }
    });
    if (stores !== 1) throw new ArchiveRejected(`${file} holds no ${STORE_ENTRY}`);
    const wrong = check(unpackedAt(target.store));
    // Created by reading the store.
    await removeLogs(unpackedAt(target.store));
    if (wrong !== null) throw new ArchiveRejected(`holds a ${STORE_ENTRY} ${wrong}`);
    return archive.head;
  })().catch(async (error: unknown) => {
    await packages.discard();
    await rm(unpackedAt(target.store), { force: true });
    await rm(staging, { recursive: true, force: true });
    throw sentenceOf(error, target.dataDir);
  });
  const restored: Restored = { head, keys, packages: places };
  const ready: Ready = { store: target.store, keys, packages: packages.ids, restored };
  await writeOwn(join(staging, `${READY}.new`), JSON.stringify(ready));
  await rename(join(staging, `${READY}.new`), join(staging, READY));
  await syncFolder(staging);
  await finishRestore(target);
  return restored;
}

/**
 * Rejects files that are not SQLite databases, which otherwise only the next start would detect.
 */
async function* beginningWith(text: string, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let first = true;
  for await (const piece of content) {
    if (first && Buffer.from(piece).toString('latin1', 0, text.length) !== text)
      throw new ArchiveRejected(`holds a ${STORE_ENTRY} that is no store`);
    first = false;
    yield piece;
  }
  if (first) throw new ArchiveRejected(`holds a ${STORE_ENTRY} that is empty`);
}

export const isRestoreReady = (dataDir: string): Promise<boolean> => isThere(join(dataDir, STAGING, READY));

/**
 * Moves a validated restore into place, also after a crash.
 * @returns null when there is nothing to complete
 */
export async function finishRestore(target: RestoreTarget): Promise<Partial<Restored> | null> {
  const staging = join(target.dataDir, STAGING);
  const text = await textOf(join(staging, READY));
  if (text === null) return null;
  const ready = JSON.parse(text) as Ready;
  if (ready.store !== target.store)
    throw new Error(`a restore into ${ready.store} was cut off: set storage.url to it, and start again`);
  await putPackages(target.releases, ready.packages, placesIn(join(staging, PLACES)));
  for (const key of ready.keys) {
    const kept = await textOf(join(staging, KEYS, key));
    if (kept !== null) await replace(join(target.dataDir, key), kept);
  }
  // The log of the previous store must not be applied to the restored one.
  await removeLogs(target.store);
  await rename(unpackedAt(target.store), target.store).catch((error: unknown) => {
    // Already moved by the killed run.
    if (codeOf(error) !== 'ENOENT') throw error;
  });
  await syncFolder(join(target.store, '..'));
  await rm(join(staging, READY), { force: true });
  await rm(staging, { recursive: true, force: true });
  return ready.restored ?? {};
}

async function removeLogs(store: string): Promise<void> {
  for (const end of ['-wal', '-shm']) await rm(`${store}${end}`, { force: true });
}

async function replace(path: string, text: string): Promise<void> {
  await writeOwn(`${path}.restoring`, text);
  await rename(`${path}.restoring`, path);
}

async function* placesIn(folder: string): AsyncGenerator<PlacedPackage> {
  for (const name of (await readdir(folder)).toSorted()) {
    const text = await textOf(join(folder, name));
    if (text !== null) yield placedOf(text);
  }
}
