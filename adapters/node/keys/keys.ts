/**
 * The service's three keys: the RSA key that signs releases, the key of license answers, the key of secrets at rest.
 *
 * On the embedded store a key that is not given is created in the data directory at the first start. On MongoDB several
 * processes share one store, so a key that each made for itself would split it: there they must be given, and the store
 * keeps a fingerprint of each (contract 00, configuration). Fingerprints are one-way and name nothing of the key.
 * Rejected: keys inside the store, where a copy of the store would carry the secrets with it.
 */
import { generateKeyPair, hkdfSync, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DocumentStore } from '../../../ports/store.js';
import { readNamed, readOwn, UntrustedFile } from '../../../lib/files/trusted-file.js';
import { createFile } from '../../../lib/files/replace-file.js';
import { licenseKeyOf, releaseKeyOf, type SigningKey } from './signing-key.js';

const NEW_BITS = 3072;

/** What stops the start: one line. */
export class KeyError extends Error {
  override name = 'KeyError';
}

export interface KeySettings {
  /** Path of a PEM file; '' for unsigned releases; null when it is not given. */
  release_private_key: string | null;
  license_key: string | null;
  data_key: string | null;
}

export interface ReleaseKey {
  /** The private key, PEM. */
  pem: string;
  /** First 16 hex characters of SHA-256 over the public key's SPKI DER (contract 40, pubkey). */
  key_id: string;
  bits: number;
  path: string;
}

export interface ServiceKeys {
  /** Null: releases are unsigned. */
  release: ReleaseKey | null;
  license: string;
  data: string;
  /** Names of the keys that this start created, for one log line. */
  created: readonly string[];
}

/** Names of the files below the data directory; `aos backup` takes them along. */
export const KEY_FILES = { release: 'release-key.pem', license: 'license-key', data: 'data-key' } as const;

const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');

/** Judges a release key. @throws KeyError when it is no RSA private key of at least 2,048 bits */
export function readReleaseKey(pem: string, path: string): ReleaseKey {
  const { key_id, bits } = judged('release_private_key', path, () => releaseKeyOf(pem)).public;
  return { pem, key_id, bits, path };
}

/** @throws KeyError that names the key, and where it comes from */
export function judged(key: string, from: string, read: () => SigningKey): SigningKey {
  try {
    return read();
  } catch (error) {
    throw new KeyError(oneLine(`${key}: ${from} ${(error as Error).message}`));
  }
}

async function read(path: string): Promise<string | null> {
  try {
    return await readOwn(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** The file's content, created when it is missing; of two processes that start together both read the first one's. */
async function ensure(path: string, make: () => Promise<string>): Promise<{ text: string; created: boolean }> {
  const there = await read(path);
  if (there !== null) return { text: there.trim(), created: false };
  const created = await createFile(path, `${await make()}\n`);
  const text = await read(path);
  if (text === null) throw new KeyError(`${path} vanished while it was read`);
  return { text: text.trim(), created };
}

/** On the thread pool, so that the event loop stays free for the second that it takes. */
export async function newReleaseKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: NEW_BITS });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trim();
}
/** A random text that seeds a key. */
export const newSecret = async (): Promise<string> => randomBytes(32).toString('base64url');

async function givenReleaseKey(path: string): Promise<ReleaseKey> {
  // Named in an error, a key would lie in the log.
  if (path.includes('-----BEGIN'))
    throw new KeyError('release_private_key: is a key itself; write it to a file, and name that file');
  let pem: string;
  try {
    pem = await readNamed(path);
  } catch (error) {
    if (error instanceof UntrustedFile) throw new KeyError(oneLine(`release_private_key: ${error.message}`));
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new KeyError(oneLine(`release_private_key: ${path} cannot be read: ${code}`));
  }
  return readReleaseKey(pem, path);
}

/**
 * The keys as given, or as created below `dataDir` (0600) on an embedded store.
 * @param shared true for MongoDB: nothing is created
 * @param create false: nothing is written; for a key that is missing there is one for this process alone, and no
 *   release key (`aos doctor`)
 * @throws KeyError with one line
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
    throw new KeyError(`keys: with MongoDB these must be given, the same in every process: ${missing.join(', ')}`);
  }
  const created: string[] = [];
  const secret = async (given: string | null, file: string, key: string): Promise<string> => {
    if (given !== null) return given;
    const path = join(dataDir, file);
    if (!create && (await read(path)) === null) return newSecret();
    const made = await ensure(path, newSecret);
    if (made.created) created.push(key);
    if (made.text.length < 32) throw new KeyError(`${key}: ${path} is shorter than 32 characters`);
    return made.text;
  };
  const release = async (): Promise<ReleaseKey | null> => {
    const given = settings.release_private_key;
    if (given === '') return null;
    if (given !== null) return givenReleaseKey(given);
    const path = join(dataDir, KEY_FILES.release);
    if (!create && (await read(path)) === null) return null;
    const made = await ensure(path, newReleaseKey);
    if (made.created) created.push('release_private_key');
    return readReleaseKey(made.text, path);
  };
  const [releaseKey, license, data] = await Promise.all([
    release(),
    secret(settings.license_key, KEY_FILES.license, 'security.license_key'),
    secret(settings.data_key, KEY_FILES.data, 'security.data_key'),
  ]);
  judged('security.license_key', settings.license_key === null ? join(dataDir, KEY_FILES.license) : 'the key', () =>
    licenseKeyOf(license),
  );
  return { release: releaseKey, license, data, created };
}

interface KeyDoc {
  id: string;
  fingerprint: string;
  created_at: string;
}

/** Collection that the kernel ensures before `checkFingerprints`. */
export const KEYS_COLLECTION = { name: 'kernel_keys', indexes: [] } as const;

/** One-way: names nothing of the secret. */
const print = (secret: string, info: string): string =>
  Buffer.from(hkdfSync('sha256', secret.trim(), '', `aos/fingerprint/v1/${info}`, 16)).toString('hex');

export const licenseFingerprint = (license: string): string => print(license, 'license');

/** Fingerprints by key; unsigned releases have none, so that signing may be switched on later. */
export function fingerprints(keys: ServiceKeys): Map<string, string> {
  const all = new Map([
    ['security.license_key', licenseFingerprint(keys.license)],
    ['security.data_key', print(keys.data, 'data')],
  ]);
  if (keys.release) all.set('release_private_key', keys.release.key_id);
  return all;
}

/**
 * Compares the keys with those that the store was first used with, and remembers them at the first use. For stores that
 * several processes share (contract 00, configuration).
 * @throws KeyError with one line naming the keys that differ
 */
export async function checkFingerprints(store: DocumentStore, keys: ServiceKeys, now: () => string): Promise<void> {
  const collection = store.collection<KeyDoc>(KEYS_COLLECTION.name);
  for (const [key, fingerprint] of fingerprints(keys)) {
    const setOnInsert = { fingerprint, created_at: now() };
    await collection.change({ id: key }, { setOnInsert }, { upsert: true });
  }
  await compareFingerprints(store, keys);
}

/** The comparison alone, which remembers nothing. @throws KeyError with one line naming the keys that differ */
export async function compareFingerprints(store: DocumentStore, keys: ServiceKeys): Promise<void> {
  const collection = store.collection<KeyDoc>(KEYS_COLLECTION.name);
  const differ: string[] = [];
  for (const [key, fingerprint] of fingerprints(keys)) {
    const kept = await collection.get(key);
    if (kept !== null && kept.fingerprint !== fingerprint) differ.push(key);
  }
  if (!keys.release && (await collection.get('release_private_key'))) differ.push('release_private_key');
  if (differ.length === 0) return;
  throw new KeyError(
    `keys: ${differ.join(', ')} ${differ.length === 1 ? 'is not the one' : 'are not those'} that this store is used with`,
  );
}
