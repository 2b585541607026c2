import type { ServiceKeys } from '../../adapters/node/keys/keys.js';
import type { Configuration, ResolvedConfig } from '../load.js';
import type { KernelMode } from '../../kernel/kernel.js';
import type { DocumentStore } from '../../ports/store/index.js';

export interface SetupOverrides {
  configuration?: Configuration;
  /** The data directory and the store's fingerprints are not used. */
  keys?: ServiceKeys;
  store?: DocumentStore;
  threads?: boolean;
  /** With `--json`, stdout is reserved for the result. */
  logTo?: 'stdout' | 'stderr';
  /** bcrypt cost for new passwords; lower in tests. */
  passwordCost?: number;
}

export interface Setup {
  mode: KernelMode;
  configuration: Configuration;
  config: ResolvedConfig;
  keys: ServiceKeys;
  usesDataDirectory: boolean;
  isShared: boolean;
  given: SetupOverrides;
}

export function makeSetup(
  mode: KernelMode,
  configuration: Configuration,
  keys: ServiceKeys,
  given: SetupOverrides,
): Setup {
  const config = configuration.core;
  const isShared = config.storage.engine === 'mongodb';
  return { mode, configuration, config, keys, usesDataDirectory: given.keys === undefined, isShared, given };
}
