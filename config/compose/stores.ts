import { MemoryReleaseStore } from '../../adapters/memory/release-store.js';
import type { Metrics } from '../../ports/metrics.js';
import type { ReleaseStore } from '../../ports/release-store.js';
import type { DocumentStore } from '../../ports/store/index.js';
import type { LoggingServices } from './logging.js';
import { openReleaseStore } from './release-storage.js';
import type { Setup } from './setup.js';
import { attributeToConfigKey } from './config-errors.js';
import { createConnectionListeners, createStore } from './store.js';

export interface Stores {
  store: DocumentStore;
  releaseStore: ReleaseStore;
  lost: Promise<void>;
}

export async function makeStores(setup: Setup, logging: LoggingServices, metrics: Metrics): Promise<Stores> {
  const { configuration, config, usesDataDirectory, isShared, given } = setup;
  const { lines, log, clock } = logging;
  let giveUp = (): void => undefined;
  const lost = new Promise<void>((resolve) => (giveUp = resolve));
  const ears = isShared ? createConnectionListeners(lines, metrics, clock, giveUp) : {};
  const store =
    given.store ?? (await attributeToConfigKey(configuration, () => createStore(config, ears, given.threads)));
  const releaseStore = usesDataDirectory
    ? await openReleaseStore(configuration, log, ears.secondary)
    : new MemoryReleaseStore();
  return { store, releaseStore, lost };
}
