import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { AccessMode } from '../../adapters/fs/access-mode.js';
import { correctModes, listForeignNames, type ServicePaths } from '../../adapters/fs/file-modes.js';
import { ConfigError, type Configuration } from '../load.js';
import { backupsConfigSchema } from '../../plugins/backups/config.js';
import { releasesConfig } from '../../plugins/releases/config.js';
import type { Logger } from '../../ports/logger.js';

function listOwnPaths(configuration: Configuration): ServicePaths {
  const { data_dir, storage, release_private_key } = configuration.core;
  const backups = resolve(data_dir, configuration.validateSection('backups', backupsConfigSchema).path);
  return {
    dataDir: data_dir,
    store: resolve(data_dir, configuration.validateSection('releases', releasesConfig).path),
    others: [storage.file, backups, release_private_key].filter((path) => typeof path === 'string'),
  };
}

/**
 * Foreign files keep their modes and are logged.
 * @param access mode of `.htpasswd`
 */
export async function fixModes(configuration: Configuration, access: AccessMode, log: Logger): Promise<void> {
  const paths = await correctModes(listOwnPaths(configuration), access);
  if (paths.length > 0)
    log.warn({ paths }, 'belong to another user or are shared with others: their modes stay unchanged');
}

/** With this bit, users cannot replace each other's files in a folder. */
const STICKY_BIT = 0o1000;
const OTHERS_WRITE_BITS = 0o022;

/**
 * Others could replace the keys in it.
 * @throws ConfigError
 */
export async function rejectSharedFolder(configuration: Configuration): Promise<void> {
  const { data_dir } = configuration.core;
  const { mode } = (await stat(data_dir).catch(() => null)) ?? { mode: 0 };
  if (process.platform === 'win32' || (mode & OTHERS_WRITE_BITS) === 0 || (mode & STICKY_BIT) !== 0) return;
  const [name] = await listForeignNames(listOwnPaths(configuration));
  if (name === undefined) return;
  const problem = `is a folder that others use (${name}) and can write to, so keys cannot be stored in it: choose a separate one, such as ${join(data_dir, 'aos')}`;
  throw new ConfigError('data_dir', problem, configuration.origin('data_dir'));
}
