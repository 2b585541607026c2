/** The two keys that sign, each with its ring: of releases (contract 40, pubkey) and of licenses (contract 50, `.lic`). */
import { join } from 'node:path';
import type { Cipher } from '../../ports/cipher.js';
import type { Clock } from '../../ports/clock.js';
import type { Logger } from '../../ports/logger.js';
import type { Signers } from '../../ports/signer.js';
import type { DocumentStore } from '../../ports/store.js';
import { replaceFile } from './files.js';
import { KeyRing, type RingDoc } from './key-ring.js';
import { KEY_FILES, KEYS_COLLECTION, licenseFingerprint, newReleaseKey, newSecret, type Keys } from './keys.js';
import { licenseKeyOf, releaseKeyOf, type SigningKey } from './signing-key.js';

/** Every answer of `license validate` is signed: it asks the store for the key in use at most this often. */
const LICENSE_FRESH_MS = 5_000;

export interface RingParts {
  store: DocumentStore;
  cipher: Cipher;
  clock: Clock;
  log: Logger;
}

/** A kind of key that can be rotated. */
export interface RotatingKey {
  readonly ring: KeyRing;
  /** The setting that names the key. */
  readonly setting: string;
  /** The configuration gives it: this service cannot replace it there. */
  readonly configured: boolean;
  /** A new one. */
  make(): Promise<SigningKey>;
  /** @throws Error: what is wrong with the text */
  read(text: string): SigningKey;
}

export class KeyRings implements Signers {
  readonly release: RotatingKey;
  readonly license: RotatingKey;

  /** @param settings what the configuration gives; null: not given */
  constructor(
    keys: Keys,
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
      return { ring, setting, configured: given !== null, read, make: async () => read(await make()) };
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
  async settle(): Promise<void> {
    await this.release.ring.settle();
    await this.license.ring.settle();
  }
}
