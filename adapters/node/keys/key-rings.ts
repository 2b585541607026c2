/**
 * The two keys that sign, each with its ring: of releases (contract 40, pubkey) and of licenses (contract 50, license
 * files).
 */
import { join } from 'node:path';
import { invalid } from '../../../kernel/errors.js';
import type { Cipher } from '../../../ports/cipher.js';
import type { Clock } from '../../../ports/clock.js';
import type { Logger } from '../../../ports/logger.js';
import type { Signers } from '../../../ports/signer.js';
import type { DocumentStore } from '../../../ports/store.js';
import { replaceFile } from '../../../lib/files/replace-file.js';
import { KeyRing, type RingDoc, type RotatedKey } from './key-ring.js';
import { KEY_FILES, KEYS_COLLECTION, licenseFingerprint, newReleaseKey, newSecret, type ServiceKeys } from './keys.js';
import { licenseKeyOf, releaseKeyOf, type SigningKey } from './signing-key.js';

/** Every answer of `license validate` is signed: it asks the store for the key in use at most this often. */
const LICENSE_FRESH_MS = 5_000;

export interface RingParts {
  store: DocumentStore;
  cipher: Cipher;
  clock: Clock;
  log: Logger;
}

function readGiven(text: string, read: (text: string) => SigningKey): SigningKey {
  try {
    return read(text);
  } catch (error) {
    const { message } = error as Error;
    throw invalid({ to: message }, `The new key ${message}.`);
  }
}

/** A kind of key that can be rotated. */
export interface RotatingKey {
  readonly ring: KeyRing;
  /** The setting that names the key. */
  readonly setting: string;
  /** The configuration gives it: this service cannot replace it there. */
  readonly configured: boolean;
  /**
   * @param text of the new private key; null: one is made
   * @throws ServiceError validation_failed for a text that is no such key; conflict
   */
  rotate(text: string | null): Promise<RotatedKey>;
}

export class KeyRings implements Signers {
  readonly release: RotatingKey;
  readonly license: RotatingKey;

  /** @param settings what the configuration gives; null: not given */
  constructor(
    keys: ServiceKeys,
    settings: { release_private_key: string | null; license_key: string | null },
    dataDir: string,
    { store, ...parts }: RingParts,
  ) {
    const rows = () => store.collection<RingDoc>(KEYS_COLLECTION.name);
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
      const rotate = async (text: string | null): Promise<RotatedKey> =>
        // A key in the data directory is read without the space around it.
        ring.rotate(readGiven(text === null ? await make() : given === null ? text.trim() : text, read));
      return { ring, setting, configured: given !== null, rotate };
    };
    this.release = rotating(
      'release_private_key',
      settings.release_private_key,
      newReleaseKey,
      keys.release === null ? null : releaseKeyOf(keys.release.pem),
      { read: releaseKeyOf, fingerprint: (key) => key.public.key_id, file: KEY_FILES.release, freshMs: 0 },
    );
    this.license = rotating('security.license_key', settings.license_key, newSecret, licenseKeyOf(keys.license), {
      read: licenseKeyOf,
      fingerprint: (key) => licenseFingerprint(key.text),
      file: KEY_FILES.license,
      freshMs: LICENSE_FRESH_MS,
    });
  }

  get releases(): KeyRing {
    return this.release.ring;
  }

  get licenses(): KeyRing {
    return this.license.ring;
  }

  /** Before the service starts. @throws KeyError */
  async checkOwnKeys(): Promise<void> {
    await this.release.ring.checkOwnKey();
    await this.license.ring.checkOwnKey();
  }
}
