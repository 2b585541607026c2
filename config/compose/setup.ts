/** What a service is composed from: its configuration and keys, and what a caller supplies in their place. */
import type { ServiceKeys } from '../../adapters/node/keys/keys.js';
import type { Configuration, Core } from '../load.js';
import type { Mode } from '../../kernel/kernel.js';
import type { DocumentStore } from '../../ports/store.js';

/** What a service is built from instead of what the configuration names. */
export interface Given {
  configuration?: Configuration;
  /** With them the data directory is left alone, and the store's fingerprints are not compared. */
  keys?: ServiceKeys;
  store?: DocumentStore;
  /** Of the embedded store (`SqliteOptions`): false for a command, which keeps nobody waiting. */
  threads?: boolean;
  /** Standard output belongs to the answer of `--json`. */
  logTo?: 'stdout' | 'stderr';
  /** Of bcrypt, for new passwords: a test of something else does without the quarter of a second of each. */
  passwordCost?: number;
}

export interface Setup {
  mode: Mode;
  configuration: Configuration;
  config: Core;
  keys: ServiceKeys;
  /** False when the caller supplies the keys. */
  usesDataDirectory: boolean;
  /** Whether other processes may serve the same store. */
  isShared: boolean;
  given: Given;
}

export function makeSetup(mode: Mode, configuration: Configuration, keys: ServiceKeys, given: Given): Setup {
  const config = configuration.core;
  const isShared = config.storage.engine === 'mongodb';
  return { mode, configuration, config, keys, usesDataDirectory: given.keys === undefined, isShared, given };
}
