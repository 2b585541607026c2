/** Only `serve`, `restore` and `import` create an installation (contract 95, amendments). */
import { dirname } from 'node:path';
import { isRestoreReady } from '../../adapters/archive/backup/restore.js';
import { fileExists } from '../../adapters/archive/files.js';
import type { ResolvedConfig } from '../load.js';

export class NoStore extends Error {
  override name = 'NoStore';
  constructor(folder: string) {
    super(`no store in ${folder} (set SVC_DATA_DIR)`);
  }
}

export const isMissingStore = (error: unknown): boolean => error instanceof NoStore;

/**
 * An interrupted restore counts as a store.
 * @throws NoStore
 */
export async function requireStore({ data_dir, storage: { file } }: ResolvedConfig): Promise<void> {
  if (file === null || (await fileExists(file)) || (await isRestoreReady(data_dir))) return;
  throw new NoStore(dirname(file));
}
