/**
 * The two signing keys, each with its ring: releases (contract 40, pubkey) and licenses (contract
 * 50, license files).
 */
import { join } from 'node:path';
import { invalid } from '../../../kernel/errors.js';
import type { Cipher } from '../../../ports/cipher.js';
import type { Clock } from '../../../ports/clock.js';
import type { Logger } from '../../../ports/logger.js';
import type { Signers } from '../../../ports/signer.js';
import type { DocumentStore } from '../../../ports/store/index.js';
import { replaceFile } from '../../../lib/files/replace-file.js';
import { KeyRing, type KeyRingDoc, type KeyRotation } from './key-ring.js';
import {
  KEY_FILES,
  KEYS_COLLECTION,
  computeLicenseFingerprint,
  generateReleaseKey,
  generateSecret,
  type ServiceKeys,
} from './keys.js';
import { parseLicenseSigningKey, parseReleaseSigningKey, type SigningKey } from './signing-key.js';

/**
 * Every answer of `license validate` is signed; the active key is read from the store at most this
 * often.
 */
const LICENSE_FRESH_MS = 5_000;

export interface KeyRingDependencies {
  store: DocumentStore;
  cipher: Cipher;
  clock: Clock;
  log: Logger;
}

function parseSubmittedKey(text: string, read: (text: string) => SigningKey): SigningKey {
  try {
    return read(text);
  } catch (error) {
    const { message } = error as Error;
    throw invalid({ to: message }, `The new key ${message}.`);
  }
}

export interface RotatingKey {
  readonly ring: KeyRing;
  readonly setting: string;
  readonly configured: boolean;
  /**
   * @param text null generates one
   * @throws ServiceError validation_failed for an invalid key; conflict
   */
  rotate(text: string | null): Promise<KeyRotation>;
}

export class KeyRings implements Signers {
  readonly release: RotatingKey;
  readonly license: RotatingKey;

  constructor(
    keys: ServiceKeys,
    settings: { release_private_key: string | null; license_key: string | null },
    dataDir: string,
    { store, ...parts }: KeyRingDependencies,
  ) {
    const rows = () => store.collection<KeyRingDoc>(KEYS_COLLECTION.name);
    const saveTo = (file: string) => (text: string) => replaceFile(join(dataDir, file), `${text.trim()}\n`);
    const rotating = (
      setting: string,
      given: string | null,
      make: () => Promise<string>,
      own: SigningKey | null,
      how: {
        read: (text: string) => SigningKey;
        fingerprint: (key: SigningKey) => string;
        file: string;
        freshMs: number;
      },
    ): RotatingKey => {
      const { read, fingerprint, file, freshMs } = how;
      const save = given === null ? saveTo(file) : null;
      const ring = new KeyRing({ setting, own, read, fingerprint, save, rows, freshMs, ...parts });
      const rotate = async (text: string | null): Promise<KeyRotation> =>
        // Read without surrounding whitespace.
        ring.rotate(parseSubmittedKey(text === null ? await make() : given === null ? text.trim() : text, read));
      return { ring, setting, configured: given !== null, rotate };
    };
    this.release = rotating(
      'release_private_key',
      settings.release_private_key,
      generateReleaseKey,
      keys.release === null ? null : parseReleaseSigningKey(keys.release.pem),
      { read: parseReleaseSigningKey, fingerprint: (key) => key.public.key_id, file: KEY_FILES.release, freshMs: 0 },
    );
    this.license = rotating(
      'security.license_key',
      settings.license_key,
      generateSecret,
      parseLicenseSigningKey(keys.license),
      {
        read: parseLicenseSigningKey,
        fingerprint: (key) => computeLicenseFingerprint(key.text),
        file: KEY_FILES.license,
        freshMs: LICENSE_FRESH_MS,
      },
    );
  }

  get releases(): KeyRing {
    return this.release.ring;
  }

  get licenses(): KeyRing {
    return this.license.ring;
  }

  /** @throws KeyError */
  async checkOwnKeys(): Promise<void> {
    await this.release.ring.checkOwnKey();
    await this.license.ring.checkOwnKey();
  }
}
