/**
 * Stored encrypted, decrypted for one attempt, valid for a day after rotation (contract 70,
 * rotation).
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { toIsoString } from '../../../lib/time.js';
import { DEPS, type WebhookDeps } from '../deps.js';
import { SECRET_ROTATION_MS, type Webhook } from '../model/webhook.js';

/** Binds the ciphertext to this webhook. */
const getEncryptionPurpose = (id: string): string => `webhooks/secret/${id}`;

const MAX_CACHED_SECRETS = 500;

@injectable()
export class WebhookSecretService {
  readonly #opened = new BoundedMap<string>({ most: MAX_CACHED_SECRETS });

  constructor(@inject(DEPS) private readonly deps: Pick<WebhookDeps, 'cipher' | 'clock' | 'webhook_key'>) {}

  encrypt(id: string, secret: string): string {
    return this.deps.cipher.seal(secret, getEncryptionPurpose(id));
  }

  canSign(secret: string | null): boolean {
    return secret !== null || this.deps.webhook_key !== '';
  }

  /** Includes the one before the last rotation; null with neither secret nor key. */
  getSigningKeys({ id, secret, previous }: Webhook): { current: string; previous: string | null } | null {
    const current = secret === null ? this.deps.webhook_key : this.#decrypt(id, secret);
    if (current === '') return null;
    const valid = previous !== null && previous.until > this.deps.clock.iso();
    return { current, previous: valid ? this.#decrypt(id, previous.secret) : null };
  }

  toPreviousSecret(webhook: Webhook): Webhook['previous'] {
    const signing = this.getSigningKeys(webhook);
    if (signing === null) return null;
    return {
      secret: this.encrypt(webhook.id, signing.current),
      until: toIsoString(this.deps.clock.now() + SECRET_ROTATION_MS),
    };
  }

  decryptSecret({ id, secret }: Pick<Webhook, 'id' | 'secret'>): string | null {
    return secret === null ? null : this.#decrypt(id, secret);
  }

  #decrypt(id: string, sealed: string): string {
    const key = `${id} ${sealed}`;
    let secret = this.#opened.get(key);
    if (secret === undefined) {
      secret = this.deps.cipher.open(sealed, getEncryptionPurpose(id));
      this.#opened.set(key, secret);
    }
    return secret;
  }
}
