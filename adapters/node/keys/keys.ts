/**
 * Loads the service's three keys: the RSA key that signs releases, the license key and the data
 * key. With the embedded store, missing keys are created in the data directory at the first start.
 * With MongoDB several processes share the store, so keys must be configured, and the store keeps a
 * one-way fingerprint of each (contract 00, configuration). Keys are not stored in the database,
 * because its backups would contain them.
 */
import { generateKeyPair, hkdfSync, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DocumentStore } from '../../../ports/store/index.js';
import { readConfiguredFile, readOwnedFile, UntrustedFile } from '../../../lib/files/trusted-file.js';
import { createFile } from '../../../lib/files/replace-file.js';
import { parseLicenseSigningKey, parseReleaseSigningKey, type SigningKey } from './signing-key.js';

const NEW_RSA_KEY_BITS = 3072;

/** Prevents the start; `message` is one line. */
export class KeyError extends Error {
  override name = 'KeyError';
}

export interface KeySettings {
  /** Path of a PEM file; '' for unsigned releases; null when not configured. */
  release_private_key: string | null;
  license_key: string | null;
  data_key: string | null;
}

export interface ReleaseKey {
  pem: string;
  key_id: string;
  bits: number;
  path: string;
}

export interface ServiceKeys {
  release: ReleaseKey | null;
  license: string;
  data: string;
  created: readonly string[];
}

export const KEY_FILES = { release: 'release-key.pem', license: 'license-key', data: 'data-key' } as const;

const toOneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');

/** @throws KeyError unless RSA with at least 2,048 bits */
export function parseReleaseKey(pem: string, path: string): ReleaseKey {
  const { key_id, bits } = parseOrThrowKeyError('release_private_key', path, () => parseReleaseSigningKey(pem)).public;
  return { pem, key_id, bits, path };
}

/** @throws KeyError that names the key and its source */
export function parseOrThrowKeyError(key: string, from: string, read: () => SigningKey): SigningKey {
  try {
    return read();
  } catch (error) {
    throw new KeyError(toOneLine(`${key}: ${from} ${(error as Error).message}`));
  }
}

async function readKeyFile(path: string): Promise<string | null> {
  try {
    return await readOwnedFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Processes that start concurrently all read the first one's file. */
async function ensureKeyFile(path: string, make: () => Promise<string>): Promise<{ text: string; created: boolean }> {
  const there = await readKeyFile(path);
  if (there !== null) return { text: there.trim(), created: false };
  const created = await createFile(path, `${await make()}\n`);
  const text = await readKeyFile(path);
  if (text === null) throw new KeyError(`${path} was removed while it was being read`);
  return { text: text.trim(), created };
}

/** Runs on the thread pool, because generation takes about a second. */
export async function generateReleaseKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: NEW_RSA_KEY_BITS });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trim();
}
export const generateSecret = async (): Promise<string> => randomBytes(32).toString('base64url');

async function readConfiguredReleaseKey(path: string): Promise<ReleaseKey> {
  // A PEM in place of a path must not appear in the error, which is logged.
  if (path.includes('-----BEGIN'))
    throw new KeyError('release_private_key: is a key itself; write it to a file, and set the path of that file');
  let pem: string;
  try {
    pem = await readConfiguredFile(path);
  } catch (error) {
    if (error instanceof UntrustedFile) throw new KeyError(toOneLine(`release_private_key: ${error.message}`));
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new KeyError(toOneLine(`release_private_key: ${path} cannot be read: ${code}`));
  }
  return parseReleaseKey(pem, path);
}

/**
 * Creates missing keys below `dataDir` (0600) for an embedded store.
 * @param shared true for MongoDB: nothing is created
 * @param create false: missing keys are temporary, and the release key is null (`aos doctor`)
 * @throws KeyError with a one-line message
 */
export async function loadKeys(
  settings: KeySettings,
  dataDir: string,
  shared: boolean,
  create = true,
): Promise<ServiceKeys> {
  const missing = [
    settings.release_private_key === null
      ? 'release_private_key (SVC_RELEASE_PRIVATE_KEY; empty for unsigned releases)'
      : '',
    settings.license_key === null ? 'security.license_key (SVC_LICENSE_KEY)' : '',
    settings.data_key === null ? 'security.data_key (SVC_SECURITY__DATA_KEY)' : '',
  ].filter(Boolean);
  if (shared && missing.length > 0) {
    throw new KeyError(
      `keys: with MongoDB these must be set to the same value in every process: ${missing.join(', ')}`,
    );
  }
  const created: string[] = [];
  const secret = async (given: string | null, file: string, key: string): Promise<string> => {
    if (given !== null) return given;
    const path = join(dataDir, file);
    if (!create && (await readKeyFile(path)) === null) return generateSecret();
    const made = await ensureKeyFile(path, generateSecret);
    if (made.created) created.push(key);
    if (made.text.length < 32) throw new KeyError(`${key}: ${path} is shorter than 32 characters`);
    return made.text;
  };
  const release = async (): Promise<ReleaseKey | null> => {
    const given = settings.release_private_key;
    if (given === '') return null;
    if (given !== null) return readConfiguredReleaseKey(given);
    const path = join(dataDir, KEY_FILES.release);
    if (!create && (await readKeyFile(path)) === null) return null;
    const made = await ensureKeyFile(path, generateReleaseKey);
    if (made.created) created.push('release_private_key');
    return parseReleaseKey(made.text, path);
  };
  const [releaseKey, license, data] = await Promise.all([
    release(),
    secret(settings.license_key, KEY_FILES.license, 'security.license_key'),
    secret(settings.data_key, KEY_FILES.data, 'security.data_key'),
  ]);
  parseOrThrowKeyError(
    'security.license_key',
    settings.license_key === null ? join(dataDir, KEY_FILES.license) : 'the key',
    () => parseLicenseSigningKey(license),
  );
  return { release: releaseKey, license, data, created };
}

interface KeyFingerprintDoc {
  id: string;
  fingerprint: string;
  created_at: string;
}

/** Collection that the kernel creates before `checkFingerprints`. */
export const KEYS_COLLECTION = { name: 'kernel_keys', indexes: [] } as const;

/** One-way: reveals nothing of the secret. */
const computeFingerprint = (secret: string, info: string): string =>
  Buffer.from(hkdfSync('sha256', secret.trim(), '', `aos/fingerprint/v1/${info}`, 16)).toString('hex');

export const computeLicenseFingerprint = (license: string): string => computeFingerprint(license, 'license');

/** Unsigned releases have none, so that signing can be enabled later. */
export function computeFingerprints(keys: ServiceKeys): Map<string, string> {
  const all = new Map([
    ['security.license_key', computeLicenseFingerprint(keys.license)],
    ['security.data_key', computeFingerprint(keys.data, 'data')],
  ]);
  if (keys.release) all.set('release_private_key', keys.release.key_id);
  return all;
}

/**
 * Compares the keys with those of the store's first use, and stores them on first use (contract 00,
 * configuration).
 * @throws KeyError naming the keys that differ
 */
export async function checkFingerprints(store: DocumentStore, keys: ServiceKeys, now: () => string): Promise<void> {
  const collection = store.collection<KeyFingerprintDoc>(KEYS_COLLECTION.name);
  for (const [key, fingerprint] of computeFingerprints(keys)) {
    const setOnInsert = { fingerprint, created_at: now() };
    await collection.change({ id: key }, { setOnInsert }, { upsert: true });
  }
  await compareFingerprints(store, keys);
}

/**
 * Stores nothing.
 * @throws KeyError naming the keys that differ
 */
export async function compareFingerprints(store: DocumentStore, keys: ServiceKeys): Promise<void> {
  const collection = store.collection<KeyFingerprintDoc>(KEYS_COLLECTION.name);
  const differ: string[] = [];
  for (const [key, fingerprint] of computeFingerprints(keys)) {
    const stored = await collection.get(key);
    if (stored !== null && stored.fingerprint !== fingerprint) differ.push(key);
  }
  if (!keys.release && (await collection.get('release_private_key'))) differ.push('release_private_key');
  if (differ.length === 0) return;
  throw new KeyError(
    `keys: ${differ.join(', ')} ${differ.length === 1 ? 'differs' : 'differ'} from what this store is used with`,
  );
}
