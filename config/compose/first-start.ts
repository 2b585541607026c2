/** What is judged and made before a service is composed: a start that fails leaves no first files behind. */
import type { ServiceKeys } from '../../adapters/node/keys/keys.js';
import type { Configuration } from '../load.js';
import type { Mode } from '../../kernel/kernel.js';
import { makeFolders } from '../../lib/folders.js';
import { completeRestore } from './backups.js';
import { refuseShared } from './data-directory.js';
import { isFirstStart, keysOf, refuseStrangers } from './keys.js';
import { accessModeOf, inMongo } from './releases.js';

/**
 * Judges the whole configuration, the keys that are given and the sections of the plugins too, where this start would
 * make the first files. @throws ConfigError, KeyError, PluginFaults
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
 * @param judgePlugins by their sections of the configuration
 * @returns the keys, in a data directory that exists where it is needed
 */
export async function prepare(
  mode: Mode,
  configuration: Configuration,
  judgePlugins: (configuration: Configuration) => Promise<void>,
): Promise<ServiceKeys> {
  await examine(configuration, judgePlugins);
  // With MongoDB a command needs none.
  if (mode === 'serve' || configuration.core.storage.engine !== 'mongodb')
    await makeFolders(configuration.core.data_dir, 0o700);
  await refuseStrangers(configuration.core);
  await completeRestore(configuration);
  return keysOf(configuration.core, true);
}
