/** The data directory: what the service puts there, and a folder that is not for its keys. */
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { AccessMode } from '../../adapters/fs/access-mode.js';
import { correctModes, strangersIn, type OwnPlaces } from '../../adapters/fs/modes.js';
import { ConfigError, type Configuration } from '../load.js';
import { backupsConfig } from '../../plugins/backups/config.js';
import { releasesConfig } from '../../plugins/releases/config.js';
import type { Logger } from '../../ports/logger.js';

function ownPlaces(configuration: Configuration): OwnPlaces {
  const { data_dir, storage, release_private_key } = configuration.core;
  const backups = resolve(data_dir, configuration.section('backups', backupsConfig).path);
  return {
    dataDir: data_dir,
    store: resolve(data_dir, configuration.section('releases', releasesConfig).path),
    others: [storage.file, backups, release_private_key].filter((path) => typeof path === 'string'),
  };
}

/**
 * The modes of what the service made are mended; what others have there keeps its own, and is named in the log.
 * @param access of `.htpasswd`
 */
export async function mendModes(configuration: Configuration, access: AccessMode, log: Logger): Promise<void> {
  const paths = await correctModes(ownPlaces(configuration), access);
  if (paths.length > 0) log.warn({ paths }, 'belong to another user or are shared with others: their modes stay');
}

/** In a folder with this bit nobody replaces the files of another user. */
const STICKY = 0o1000;
const OTHERS_WRITE = 0o022;

/**
 * No key is made where somebody else keeps things and may write: whoever may write in a folder can replace the keys in
 * it. @throws ConfigError
 */
export async function refuseShared(configuration: Configuration): Promise<void> {
  const { data_dir } = configuration.core;
  const { mode } = (await stat(data_dir).catch(() => null)) ?? { mode: 0 };
  if (process.platform === 'win32' || (mode & OTHERS_WRITE) === 0 || (mode & STICKY) !== 0) return;
  const [name] = await strangersIn(ownPlaces(configuration));
  if (name === undefined) return;
  const problem = `is a folder that others use (${name}) and may write to, and so no place for keys: name one of its own, such as ${join(data_dir, 'aos')}`;
  throw new ConfigError('data_dir', problem, configuration.origin('data_dir'));
}
