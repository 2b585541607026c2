/** Where packages and installers lie on this disk. */
import { join, resolve } from 'node:path';
import { accessMode, type AccessMode } from '../adapters/fs/access-mode.js';
import { FsInstallers } from '../adapters/fs/installers.js';
import { settleModes } from '../adapters/fs/modes.js';
import { FsReleaseStore } from '../adapters/fs/release-store.js';
import { ConfigError, packageRoot, type Configuration } from '../config/load.js';
import { releasesConfig } from '../plugins/releases/config.js';
import { setupConfig } from '../plugins/setup/config.js';
import type { Logger } from '../ports/logger.js';
import type { ReleaseStore } from '../ports/release-store.js';

/** Of `.htpasswd`. @throws ConfigError for a group that is not there, or that this process is not in */
export function accessModeOf(configuration: Configuration): Promise<AccessMode> {
  return accessMode(configuration.section('releases', releasesConfig)).catch((error: Error) => {
    throw new ConfigError('releases.web_group', error.message, configuration.origin('releases.web_group'));
  });
}

/** The release store on this disk; a web server's user reaches it, and nothing else of the data directory. */
export async function releasesOn(configuration: Configuration, log: Logger): Promise<ReleaseStore> {
  const { data_dir } = configuration.core;
  const path = resolve(data_dir, configuration.section('releases', releasesConfig).path);
  const access = await accessModeOf(configuration);
  const foreign = await settleModes(data_dir, path, access);
  if (foreign.length > 0) log.warn({ paths: foreign }, 'belong to another user: their modes stay as they are');
  return new FsReleaseStore(path, access, (err) =>
    log.error({ err }, 'the release store cannot be written; the first write after the mend finds out'),
  );
}

/** The update agents of the data directory, and where a build leaves new ones. */
export function installersOf(configuration: Configuration): FsInstallers {
  const { built_agents } = configuration.section('setup', setupConfig);
  return new FsInstallers(join(configuration.core.data_dir, 'installer'), resolve(packageRoot(), built_agents));
}

/** Whether there is anything to place; told before the first question comes. */
export async function announced(installers: FsInstallers, log: Logger): Promise<boolean> {
  try {
    return await installers.announce();
  } catch (err) {
    log.error({ err }, 'the installers that were built cannot be read');
    return false;
  }
}

/** Beside the running service: some hundred megabytes are copied after a new build, and nothing else waits for them. */
export async function placeInstallers(installers: FsInstallers, log: Logger): Promise<void> {
  try {
    const files = await installers.place();
    if (files.length > 0) log.info({ files }, 'placed the installers that were built');
  } catch (err) {
    log.error({ err }, 'could not place the installers');
  }
}
