import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { resolveAccessMode, type AccessMode } from '../../adapters/fs/access-mode.js';
import { FsInstallers } from '../../adapters/fs/installers.js';
import { INCOMING_FOLDER } from '../../adapters/fs/paths.js';
import { listProducts } from '../../adapters/fs/products.js';
import { FsReleaseStore } from '../../adapters/fs/release-store.js';
import { ThreadPackageReader } from '../../adapters/fs/package-reader.js';
import { ConfigError, findPackageRoot, type Configuration } from '../load.js';
import { releasesConfig } from '../../plugins/releases/config.js';
import { setupConfig } from '../../plugins/setup/config.js';
import type { Logger } from '../../ports/logger.js';
import type { ReleaseStore } from '../../ports/release-store.js';
import { fixModes } from './data-directory.js';
import type { ConnectionListeners } from './store.js';

/** @throws ConfigError for a missing group, or one that this process is not in */
export function getAccessMode(configuration: Configuration): Promise<AccessMode> {
  return resolveAccessMode(configuration.validateSection('releases', releasesConfig)).catch((error: Error) => {
    throw new ConfigError('releases.web_group', error.message, configuration.origin('releases.web_group'));
  });
}

/** @throws ConfigError without MongoDB, or when a web server must serve them from a disk */
export function isStoredInMongo(configuration: Configuration): boolean {
  const { url, web_path, web_group } = configuration.validateSection('releases', releasesConfig);
  if (url === null) return false;
  const from = configuration.origin('releases.url');
  if (configuration.core.storage.engine !== 'mongodb')
    throw new ConfigError('releases.url', 'requires storage.url to be a MongoDB database, in which it is stored', from);
  for (const [key, value] of Object.entries({ web_path, web_group }))
    if (value !== null)
      throw new ConfigError('releases.url', `leaves no directory for a web server: remove releases.${key}`, from);
  return true;
}

/**
 * Null when packages are in MongoDB.
 * @throws ConfigError
 */
export function getReleasesFolder(configuration: Configuration): string | null {
  if (isStoredInMongo(configuration)) return null;
  return resolve(configuration.core.data_dir, configuration.validateSection('releases', releasesConfig).path);
}

export async function listReleaseFolders(store: string): Promise<string[]> {
  const incoming = (await readdir(store)).filter((name) => name === INCOMING_FOLDER);
  return [...incoming, ...(await listProducts(store))];
}

/**
 * On disk, a web server's user can access it, but nothing else in the data directory.
 * @throws ConfigError
 */
export async function openReleaseStore(
  configuration: Configuration,
  log: Logger,
  onStateChange?: ConnectionListeners['tell'],
): Promise<ReleaseStore> {
  const { data_dir, storage } = configuration.core;
  const remote = isStoredInMongo(configuration);
  const { path: folder, unpack_files } = configuration.validateSection('releases', releasesConfig);
  const path = resolve(data_dir, folder);
  const access = await getAccessMode(configuration);
  await fixModes(configuration, access, log);
  const failed = (err: unknown): void =>
    log.error({ err }, 'the release store is not writable; the next successful write clears this state');
  if (!remote) return new FsReleaseStore(path, access, failed, { enabled: unpack_files });
  const { GridFsReleaseStore } = await import('../../adapters/mongodb/gridfs/release-store.js');
  return new GridFsReleaseStore(
    {
      url: storage.url,
      ...(onStateChange !== undefined && { tell: onStateChange }),
      failed,
      unpackFiles: unpack_files,
    },
    new ThreadPackageReader(),
  );
}

export function createInstallers(configuration: Configuration): FsInstallers {
  const { built_agents } = configuration.validateSection('setup', setupConfig);
  return new FsInstallers(join(configuration.core.data_dir, 'installer'), resolve(findPackageRoot(), built_agents));
}

/** Whether there are installers to place; logged before the server listens. */
export async function announceInstallers(installers: FsInstallers, log: Logger): Promise<boolean> {
  try {
    return await installers.announce();
  } catch (err) {
    log.error({ err }, 'the built installers cannot be read');
    return false;
  }
}

/** Runs in the background: a new build copies some hundred megabytes. */
export async function placeInstallers(installers: FsInstallers, log: Logger): Promise<void> {
  try {
    const files = await installers.place();
    if (files.length > 0) log.info({ files }, 'copied the built installers');
  } catch (err) {
    log.error({ err }, 'could not copy the installers');
  }
}
