import { join, resolve } from 'node:path';
import { AutomaticBackups } from '../../adapters/archive/backup/automatic-backups.js';
import { findNewestBackupIn } from '../../adapters/archive/backup/backup-files.js';
import { finishRestore, isRestoreReady } from '../../adapters/archive/backup/restore.js';
import { InstanceLock } from '../../adapters/node/instance-lock.js';
import { computeFingerprints, type ServiceKeys } from '../../adapters/node/keys/keys.js';
import { PinoLogger } from '../../adapters/node/logger.js';
import type { Configuration } from '../load.js';
import { backupsConfigSchema } from '../../plugins/backups/config.js';
import { releasesConfig } from '../../plugins/releases/config.js';
import { NO_BACKUPS, type Backups } from '../../ports/store/backups.js';
import { keyFileNames, type BackupJob } from './backup-job.js';
import { openReleaseStore } from './release-storage.js';

export function createBackups(configuration: Configuration, keys: ServiceKeys, version: string): Backups {
  const { data_dir, storage } = configuration.core;
  const { file } = storage;
  if (file === null) return NO_BACKUPS;
  const { path, keep } = configuration.validateSection('backups', backupsConfigSchema);
  const releases = resolve(data_dir, configuration.validateSection('releases', releasesConfig).path);
  const job = { store: file, dataDir: data_dir, version, keys: Object.fromEntries(computeFingerprints(keys)) };
  return new AutomaticBackups({
    folder: resolve(data_dir, path),
    keep,
    version,
    now: () => Date.now(),
    module: join(import.meta.dirname, 'backup-process.js'),
    job: (target, whole): BackupJob => ({ ...job, path: target, releases: whole ? releases : null }),
  });
}

export async function findNewestBackup(configuration: Configuration): Promise<string | null> {
  const { data_dir } = configuration.core;
  const { path } = configuration.validateSection('backups', backupsConfigSchema);
  return (await findNewestBackupIn(resolve(data_dir, path), Date.now()))?.path ?? null;
}

/** @throws InstanceRunning */
export async function completeRestore(configuration: Configuration): Promise<void> {
  const { data_dir, storage } = configuration.core;
  if (storage.file === null || !(await isRestoreReady(data_dir))) return;
  const lock = await InstanceLock.acquire(data_dir, storage.file);
  try {
    const releases = await openReleaseStore(configuration, PinoLogger.create({ level: 'silent' }));
    await finishRestore({ dataDir: data_dir, store: storage.file, keyFiles: keyFileNames, releases });
    await releases.close();
  } finally {
    await lock.release();
  }
}
