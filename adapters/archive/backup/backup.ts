/**
 * Writes `aos backup`: a snapshot of the embedded store, the key files and the packages (contract
 * 95, command line).
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ReleasePlace, ReleaseStore } from '../../../ports/release-store.js';
import type { ArchiveHead } from '../container/head.js';
import { refuseExisting, sentenceOf, textEntry, writeArchive, type ArchiveEntry } from '../container/writer.js';
import { textOf } from '../files.js';
import { packageEntries, type PackedArchive } from '../packages.js';
import { removeStale, withCopy } from '../stale.js';

export const STORE_ENTRY = 'store.db';
export const keyEntry = (file: string): string => `keys/${file}`;
const READ_BYTES = 1024 * 1024;

export interface BackupSource {
  dataDir: string;
  /**
   * Names of key files in the data directory. Missing files mean configured keys, which are not
   * backed up.
   */
  keyFiles: readonly string[];
  /** Null excludes packages. */
  releases: ReleaseStore | null;
  copyStore: (to: string) => Promise<void>;
}

/** @throws Error (one sentence) when the target exists or does not fit; nothing is left behind */
export async function writeBackup(
  path: string,
  about: Omit<ArchiveHead, 'format' | 'format_version' | 'kind' | 'releases'>,
  source: BackupSource,
): Promise<PackedArchive> {
  await refuseExisting(path);
  const folder = dirname(path);
  await removeStale(folder, Date.now());
  return withCopy(folder, async (copy) => {
    // Keys first: after a rotation in between, the new key is sealed in the store and opened by the
    // data key.
    const keys = await keysOf(source);
    await source.copyStore(copy).catch((error: unknown) => {
      throw isFull(error)
        ? sentenceOf(Object.assign(new Error('', { cause: error }), { code: 'ENOSPC' }), path)
        : sentenceOf(error, path);
    });
    const whole = { format: 'aos-archive', format_version: 1, kind: 'backup', ...about } as const;
    const places: ReleasePlace[] = [];
    const head = { ...whole, releases: source.releases !== null };
    return { ...(await writeArchive(path, head, entries(source, copy, keys, places))), places };
  });
}

const isFull = (error: unknown): boolean => {
  const { errcode, rawCode } = error as { errcode?: number; rawCode?: number };
  return ((errcode ?? rawCode ?? 0) & 0xff) === 13;
};

async function keysOf({ dataDir, keyFiles }: BackupSource): Promise<ArchiveEntry[]> {
  const found: ArchiveEntry[] = [];
  for (const file of keyFiles) {
    const text = await textOf(join(dataDir, file));
    if (text !== null) found.push(textEntry(keyEntry(file), text));
  }
  return found;
}

async function* entries(
  { releases }: BackupSource,
  copy: string,
  keys: readonly ArchiveEntry[],
  places: ReleasePlace[],
): AsyncGenerator<ArchiveEntry> {
  yield* keys;
  const { size } = await stat(copy);
  yield { path: STORE_ENTRY, size, content: createReadStream(copy, { highWaterMark: READ_BYTES }) };
  if (releases !== null) yield* packageEntries(releases, places);
}
