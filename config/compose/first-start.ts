/** Prepares a start so that a failed one leaves no files behind. */
import type { ServiceKeys } from '../../adapters/node/keys/keys.js';
import type { Configuration } from '../load.js';
import type { KernelMode } from '../../kernel/kernel.js';
import { makeFolders } from '../../lib/folders.js';
import { completeRestore } from './backups.js';
import { rejectSharedFolder } from './data-directory.js';
import { isFirstStart, loadServiceKeys, rejectUntrustedFiles } from './service-keys.js';
import { getAccessMode, isStoredInMongo } from './release-storage.js';

/**
 * Only if this start would create the first files.
 * @throws ConfigError, KeyError, PluginFaults
 */
async function validateConfiguration(
  configuration: Configuration,
  judgePlugins: (configuration: Configuration) => Promise<void>,
): Promise<void> {
  if (!(await isFirstStart(configuration.core))) return;
  await rejectSharedFolder(configuration);
  await loadServiceKeys(configuration.core, false);
  isStoredInMongo(configuration);
  await getAccessMode(configuration);
  await judgePlugins(configuration);
}

/** @returns the keys; the data directory exists if needed */
export async function prepareStart(
  mode: KernelMode,
  configuration: Configuration,
  judgePlugins: (configuration: Configuration) => Promise<void>,
): Promise<ServiceKeys> {
  await validateConfiguration(configuration, judgePlugins);
  if (mode === 'serve' || configuration.core.storage.engine !== 'mongodb')
    await makeFolders(configuration.core.data_dir, 0o700);
  await rejectUntrustedFiles(configuration.core);
  await completeRestore(configuration);
  return loadServiceKeys(configuration.core, true);
}
