/**
 * Stored encrypted, decrypted for one attempt, valid for a day after rotation (contract 70,
 * rotation).
 */
import { inject, injectable, type Clock } from '../../../kernel/contract/index.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { toIsoString } from '../../../lib/time.js';
import { DEPS } from '../deps.js';
import { SECRET_ROTATION_MS, type Webhook } from '../model/webhook.js';
import type { Cipher } from '../../../ports/cipher.js';

/** Binds the ciphertext to this webhook. */
const getEncryptionPurpose = (id: string): string => `webhooks/secret/${id}`;

const MAX_CACHED_SECRETS = 500;

@injectable()
export class WebhookSecretService {
  readonly #opened = new BoundedMap<string>({ most: MAX_CACHED_SECRETS });

  constructor(
    @inject(DEPS.cipher) private readonly cipher: Cipher,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.webhook_key) private readonly webhook_key: string,
  ) {}

  encrypt(id: string, secret: string): string {
    return this.cipher.seal(secret, getEncryptionPurpose(id));
  }

  canSign(secret: string | null): boolean {
    return secret !== null || this.webhook_key !== '';
  }

  /** Includes the one before the last rotation; null with neither secret nor key. */
  getSigningKeys({ id, secret, previous }: Webhook): { current: string; previous: string | null } | null {
    const current = secret === null ? this.webhook_key : this.#decrypt(id, secret);
    if (current === '') return null;
    const valid = previous !== null && previous.until > this.clock.iso();
    return { current, previous: valid ? this.#decrypt(id, previous.secret) : null };
  }

  toPreviousSecret(webhook: Webhook): Webhook['previous'] {
    const signing = this.getSigningKeys(webhook);
    if (signing === null) return null;
    return {
      secret: this.encrypt(webhook.id, signing.current),
      until: toIsoString(this.clock.now() + SECRET_ROTATION_MS),
    };
  }

  decryptSecret({ id, secret }: Pick<Webhook, 'id' | 'secret'>): string | null {
    return secret === null ? null : this.#decrypt(id, secret);
  }

  #decrypt(id: string, sealed: string): string {
    const key = `${id} ${sealed}`;
    let secret = this.#opened.get(key);
    if (secret === undefined) {
      secret = this.cipher.open(sealed, getEncryptionPurpose(id));
      this.#opened.set(key, secret);
    }
    return secret;
  }
}
