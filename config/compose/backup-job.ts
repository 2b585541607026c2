import { writeBackup } from '../../adapters/archive/backup/backup.js';
import type { ArchivedPackages } from '../../adapters/archive/packages.js';
import { FsReleaseStore } from '../../adapters/fs/release-store.js';
import { KEY_FILES } from '../../adapters/node/keys/keys.js';
import { requireWholeStoreFile } from '../../adapters/archive/transfer/import.js';
import { copyStore, readDocument } from '../../adapters/sqlite/copying/copy-store.js';

export const keyFileNames = Object.values(KEY_FILES);

export interface BackupJob {
  path: string;
  store: string;
  dataDir: string;
  releases: string | null;
  version: string;
  keys: Record<string, string>;
}

/**
 * @param copied called when the store has been read
 * @throws Error with one sentence
 */
export function createBackup(job: BackupJob, copied: () => void = () => undefined): Promise<ArchivedPackages> {
  const { path, store, dataDir, releases, version, keys } = job;
  const about = { version, created_at: new Date().toISOString(), engine: 'sqlite', keys, migrations: null };
  return writeBackup(path, about, {
    dataDir,
    keyFiles: keyFileNames,
    releases: releases === null ? null : new FsReleaseStore(releases),
    copyStore: async (to) => {
      await copyStore(store, to);
      requireWholeStoreFile((collection, id) => readDocument(to, collection, id));
      copied();
    },
  });
}
