import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ReleaseLocation, ReleaseStore } from '../../../ports/release-store.js';
import type { ArchiveHead } from '../container/head.js';
import {
  requireMissingFile,
  toReadableError,
  createTextEntry,
  writeArchive,
  type ArchiveEntry,
} from '../container/writer.js';
import { readTextFile } from '../files.js';
import { iteratePackageEntries, type ArchivedPackages } from '../packages.js';
import { removeStaleFiles, withStoreCopy } from '../temporary-files.js';

export const STORE_ENTRY = 'store.db';
export const getKeyEntry = (file: string): string => `keys/${file}`;
const READ_CHUNK_BYTES = 1024 * 1024;

export interface BackupSource {
  dataDir: string;
  /** Missing files mean configured keys, which are not backed up. */
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
): Promise<ArchivedPackages> {
  await requireMissingFile(path);
  const folder = dirname(path);
  await removeStaleFiles(folder, Date.now());
  return withStoreCopy(folder, async (copy) => {
    // Keys first: after a rotation in between, the new key is sealed in the store and opened by the
    // data key.
    const keys = await readKeyEntries(source);
    await source.copyStore(copy).catch((error: unknown) => {
      throw isDiskFullError(error)
        ? toReadableError(Object.assign(new Error('', { cause: error }), { code: 'ENOSPC' }), path)
        : toReadableError(error, path);
    });
    const whole = { format: 'aos-archive', format_version: 1, kind: 'backup', ...about } as const;
    const places: ReleaseLocation[] = [];
    const head = { ...whole, releases: source.releases !== null };
    return { ...(await writeArchive(path, head, iterateEntries(source, copy, keys, places))), places };
  });
}

const isDiskFullError = (error: unknown): boolean => {
  const { errcode, rawCode } = error as { errcode?: number; rawCode?: number };
  return ((errcode ?? rawCode ?? 0) & 0xff) === 13;
};

async function readKeyEntries({ dataDir, keyFiles }: BackupSource): Promise<ArchiveEntry[]> {
  const found: ArchiveEntry[] = [];
  for (const file of keyFiles) {
    const text = await readTextFile(join(dataDir, file));
    if (text !== null) found.push(createTextEntry(getKeyEntry(file), text));
  }
  return found;
}

async function* iterateEntries(
  { releases }: BackupSource,
  copy: string,
  keys: readonly ArchiveEntry[],
  places: ReleaseLocation[],
): AsyncGenerator<ArchiveEntry> {
  yield* keys;
  const { size } = await stat(copy);
  yield { path: STORE_ENTRY, size, content: createReadStream(copy, { highWaterMark: READ_CHUNK_BYTES }) };
  if (releases !== null) yield* iteratePackageEntries(releases, places);
}
