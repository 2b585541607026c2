import { MemoryReleaseStore } from '../../adapters/memory/release-store.js';
import type { Metrics } from '../../ports/metrics.js';
import type { ReleaseStore } from '../../ports/release-store.js';
import type { DocumentStore } from '../../ports/store.js';
import type { Logging } from './logging.js';
import { releasesOn } from './releases.js';
import type { Setup } from './setup.js';
import { toldBySetting } from './start-fault.js';
import { connectionEars, storeOf } from './store.js';

export interface Stores {
  store: DocumentStore;
  releaseStore: ReleaseStore;
  /** Resolves when the store was unreachable for so long that only a restart can help. */
  lost: Promise<void>;
}

export async function makeStores(setup: Setup, logging: Logging, metrics: Metrics): Promise<Stores> {
  const { configuration, config, usesDataDirectory, isShared, given } = setup;
  const { lines, log, clock } = logging;
  let giveUp = (): void => undefined;
  const lost = new Promise<void>((resolve) => (giveUp = resolve));
  const ears = isShared ? connectionEars(lines, metrics, clock, giveUp) : {};
  const store = given.store ?? (await toldBySetting(configuration, () => storeOf(config, ears, given.threads)));
  const releaseStore = usesDataDirectory
    ? await releasesOn(configuration, log, ears.further)
    : new MemoryReleaseStore();
  return { store, releaseStore, lost };
}
