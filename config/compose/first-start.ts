/**
 * Validation and preparation before a service is composed, so that a failed start leaves no files
 * behind.
 */
import type { ServiceKeys } from '../../adapters/node/keys/keys.js';
import type { Configuration } from '../load.js';
import type { Mode } from '../../kernel/kernel.js';
import { makeFolders } from '../../lib/folders.js';
import { completeRestore } from './backups.js';
import { refuseShared } from './data-directory.js';
import { isFirstStart, keysOf, refuseStrangers } from './keys.js';
import { accessModeOf, inMongo } from './releases.js';

/**
 * Validates the whole configuration, including given keys and plugin sections, if this start would
 * create the first files.
 * @throws ConfigError, KeyError, PluginFaults
 */
async function examine(
  configuration: Configuration,
  judgePlugins: (configuration: Configuration) => Promise<void>,
): Promise<void> {
  if (!(await isFirstStart(configuration.core))) return;
  await refuseShared(configuration);
  await keysOf(configuration.core, false);
  inMongo(configuration);
  await accessModeOf(configuration);
  await judgePlugins(configuration);
}

/**
 * @param judgePlugins validates the plugins' configuration sections
 * @returns the keys; the data directory exists if it is needed
 */
export async function prepare(
  mode: Mode,
  configuration: Configuration,
  judgePlugins: (configuration: Configuration) => Promise<void>,
): Promise<ServiceKeys> {
  await examine(configuration, judgePlugins);
  if (mode === 'serve' || configuration.core.storage.engine !== 'mongodb')
    await makeFolders(configuration.core.data_dir, 0o700);
  await refuseStrangers(configuration.core);
  await completeRestore(configuration);
  return keysOf(configuration.core, true);
}
