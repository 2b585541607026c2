import type { ResolvedConfig } from '../../../config/load.js';
import { runWithTimeout } from '../../../kernel/timeout.js';
import type { DocumentStore } from '../../../ports/store/index.js';
import type { Composer } from '../composition.js';
import { findExistingFolder } from '../data-directory.js';

const STORE_TIMEOUT_MS = 8_000;

export interface OpenedStore {
  store: DocumentStore | null;
  missing: boolean;
  opened: () => string;
}

async function openStore(
  { createStore, requireStore }: Composer,
  config: ResolvedConfig,
): Promise<{ store: DocumentStore | null; detail: string }> {
  const { engine, file } = config.storage;
  await requireStore(config);
  if (file !== null && (await findExistingFolder(file)) !== file)
    return { store: null, detail: 'its restore will finish at the next start' };
  const store = await createStore(config, {}, false);
  await store.connect();
  const ms = await store.ping();
  return { store, detail: `${engine}, responds in ${ms.toFixed(1)} ms` };
}

/** Opens the store; its error is reported by the store check. */
export async function tryOpenStore(composer: Composer, core: ResolvedConfig): Promise<OpenedStore> {
  try {
    const { store, detail } = await runWithTimeout(STORE_TIMEOUT_MS, 'opening the store', () =>
      openStore(composer, core),
    );
    return { store, missing: false, opened: () => detail };
  } catch (error) {
    return {
      store: null,
      missing: composer.isMissingStore(error),
      opened: () => {
        throw error;
      },
    };
  }
}

/**
 * Reads every page and document (`--deep`).
 * @throws Error with what cannot be read
 */
export async function verifyStore(store: DocumentStore): Promise<string> {
  const found = await store.examine?.();
  if (found === undefined) return 'the database server checks its own files';
  const { ok, documents, damage, more } = found;
  if (ok) return `${documents} documents are readable`;
  throw new Error([...damage, ...(more > 0 ? [`and ${more} more`] : [])].join('; '));
}
