import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { compareFingerprints, KEY_FILES, loadKeys, type ServiceKeys } from '../../adapters/node/keys/keys.js';
import type { ResolvedConfig } from '../load.js';
import { requireOwnedFile } from '../../lib/files/trusted-file.js';
import type { DocumentStore } from '../../ports/store/index.js';

const READ_FILES = ['server.json', 'server.lock', 'unlisted-proxies.json', 'restore', 'installer'];
const STORE_SUFFIXES = ['', '-wal', '-shm', '-journal', '.lock', '.restoring'];

/**
 * Another user of this machine may have placed them.
 * @throws UntrustedFile
 */
export async function rejectUntrustedFiles({ data_dir, storage }: ResolvedConfig): Promise<void> {
  const here = [...Object.values(KEY_FILES), ...READ_FILES].map((name) => join(data_dir, name));
  const store = storage.file === null ? [] : STORE_SUFFIXES.map((end) => `${storage.file}${end}`);
  for (const path of here) await requireOwnedFile(path);
  for (const path of store) await requireOwnedFile(path, 'file');
}

export async function loadServiceKeys(config: ResolvedConfig, create: boolean): Promise<ServiceKeys> {
  await rejectUntrustedFiles(config);
  const settings = { ...config.security, release_private_key: config.release_private_key };
  return loadKeys(settings, config.data_dir, config.storage.engine === 'mongodb', create);
}

/** @throws KeyError */
export async function verifyFingerprints(store: DocumentStore, keys: ServiceKeys): Promise<string> {
  await compareFingerprints(store, keys);
  return 'the keys match the store';
}

export const PLACEHOLDER_KEYS: ServiceKeys = {
  release: null,
  license: 'x'.repeat(32),
  data: 'x'.repeat(32),
  created: [],
};

export async function isFirstStart({ data_dir, release_private_key, security }: ResolvedConfig): Promise<boolean> {
  const made = [
    [release_private_key, KEY_FILES.release],
    [security.license_key, KEY_FILES.license],
    [security.data_key, KEY_FILES.data],
  ] as const;
  const wanted = made.filter(([key]) => key === null).map(([, file]) => join(data_dir, file));
  const there = await Promise.all([data_dir, ...wanted].map(exists));
  return there.includes(false);
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
