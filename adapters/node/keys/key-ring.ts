/**
 * A rotation is one write (contract 00, configuration): from then on every process signs with the
 * new key and `/pubkey` names it. The new private key is stored there too, sealed with the data
 * key, because running processes were started with the old one.
 */
import { ServiceError } from '../../../kernel/errors.js';
import type { Cipher } from '../../../ports/cipher.js';
import type { Clock } from '../../../ports/clock.js';
import type { Logger } from '../../../ports/logger.js';
import type { PredecessorKey, PublicKey, Signature, Signer } from '../../../ports/signer.js';
import type { Collection, Doc } from '../../../ports/store/index.js';
import { SingleFlight } from '../../../lib/single-flight.js';
import { KeyError } from './keys.js';
import type { SigningKey } from './signing-key.js';

export interface KeyRingDoc extends Doc {
  fingerprint: string;
  created_at: string;
  key?: PublicKey;
  /** Newest first. */
  predecessors?: PredecessorKey[];
  /** Sealed, for processes that were started with an earlier key. */
  handover?: string | null;
  rotated_at?: string;
}

export interface KeyRotation {
  key: PublicKey;
  predecessor: PredecessorKey;
}

export interface KeyRingOptions {
  /** Id of the document, and the setting that names the key. */
  setting: string;
  /** The key that this process was started with. */
  own: SigningKey | null;
  read: (text: string) => SigningKey;
  fingerprint: (key: SigningKey) => string;
  /** Null when the configuration provides the key. */
  save: ((text: string) => Promise<void>) | null;
  rows: () => Collection<KeyRingDoc>;
  cipher: Cipher;
  clock: Clock;
  log: Logger;
  /** Maximum age of the ring that `sign` uses. */
  freshMs: number;
}

const WATCH_INTERVAL_MS = 15_000;
/** How long the sealed key is retained after a rotation, once a process starts with the new key. */
const HANDOVER_RETENTION_MS = 3_600_000;

export class KeyRing implements Signer {
  #signing: SigningKey | null;
  #readAt = -Infinity;
  readonly #reads = new SingleFlight<KeyRingDoc | null>();
  readonly #watchers = new Set<() => void>();
  #timer: NodeJS.Timeout | null = null;

  constructor(private readonly options: KeyRingOptions) {
    this.#signing = options.own;
  }

  async getKey(): Promise<PublicKey | null> {
    if (this.#signing === null) return null;
    await this.#refresh();
    return this.#signing.public;
  }

  async listPredecessors(): Promise<readonly PredecessorKey[]> {
    if (this.#signing === null) return [];
    return (await this.#refresh())?.predecessors ?? [];
  }

  async getKeyStart(): Promise<string | null> {
    if (this.#signing === null) return null;
    const doc = await this.#refresh();
    return doc?.rotated_at ?? doc?.created_at ?? null;
  }

  async sign(bytes: Uint8Array): Promise<Signature | null> {
    if (this.#signing === null) return null;
    if (this.options.clock.monotonic() - this.#readAt >= this.options.freshMs) await this.#refresh();
    const key = this.#signing;
    return { signature: await key.sign(bytes), key: key.public };
  }

  onRotated(callback: () => void): () => void {
    this.#watchers.add(callback);
    const look = (): void => {
      this.#refresh().catch((err: unknown) =>
        this.options.log.warn({ err, key: this.options.setting }, 'the key in use could not be read'),
      );
    };
    this.#timer ??= setInterval(look, WATCH_INTERVAL_MS).unref();
    return () => {
      this.#watchers.delete(callback);
      if (this.#watchers.size > 0 || this.#timer === null) return;
      clearInterval(this.#timer);
      this.#timer = null;
    };
  }

  /**
   * Stores the key on first use.
   * @throws KeyError when another key replaced it
   */
  async checkOwnKey(): Promise<void> {
    const { own, rows, setting, save, clock, log, fingerprint } = this.options;
    if (own === null) return;
    const set = { key: toPlainKey(own.public), predecessors: [], fingerprint: fingerprint(own) };
    const first = { fingerprint: fingerprint(own), created_at: clock.iso() };
    const doc = (await rows().change({ id: setting }, { setOnInsert: first }, { upsert: true }))?.doc;
    const used = doc?.key;
    if (used === undefined) {
      await rows().change({ id: setting, 'key.key_id': null }, { set });
    } else if (used.key_id === own.public.key_id) {
      const over = clock.now() - Date.parse(doc?.rotated_at ?? '') > HANDOVER_RETENTION_MS;
      if (doc?.handover && over)
        await rows().change({ id: setting, 'key.key_id': used.key_id }, { unset: ['handover'] });
    } else if ((doc?.predecessors ?? []).some(({ key_id }) => key_id === own.public.key_id)) {
      if (save === null) {
        throw new KeyError(
          `keys: ${setting} was replaced on ${doc?.rotated_at}; set it to the new key (${used.key_id})`,
        );
      }
      await this.#refresh();
    } else {
      log.warn(
        { setting, key_id: own.public.key_id, before: used.key_id },
        'switched to another signing key, without a key chain',
      );
      await rows().change({ id: setting, 'key.key_id': used.key_id }, { set, unset: ['handover', 'rotated_at'] });
    }
  }

  /**
   * The current key signs the next.
   * @throws ServiceError conflict: signing is disabled, the key is or was in use, or another
   *   rotation came first
   */
  async rotate(next: SigningKey): Promise<KeyRotation> {
    const { rows, setting, cipher, clock, fingerprint } = this.options;
    const doc = await this.#refresh();
    const before = this.#signing;
    if (before === null) throw new ServiceError('conflict', `Signing is disabled: ${setting} is empty.`);
    const earlier = doc?.predecessors ?? [];
    const { key_id } = next.public;
    if ([before.public, ...earlier].some((known) => known.key_id === key_id)) {
      throw new ServiceError('conflict', `The key ${key_id} is or was already in use: rotate to a new one.`);
    }
    const predecessor: PredecessorKey = { ...before.public, signature: await before.sign(next.spki) };
    const set = {
      key: toPlainKey(next.public),
      predecessors: [predecessor, ...earlier].map(toPlainKey),
      handover: cipher.seal(next.text, this.#purpose),
      fingerprint: fingerprint(next),
      rotated_at: clock.iso(),
    };
    const filter = doc === null ? { id: setting } : { id: setting, 'key.key_id': doc.key?.key_id ?? null };
    const setOnInsert = { created_at: clock.iso() };
    const changed = await rows().change(filter, { set, setOnInsert }, doc === null ? { upsert: true } : {});
    if (changed === null) throw new ServiceError('conflict', 'Another rotation was faster.');
    await this.#refresh();
    return { key: next.public, predecessor };
  }

  get #purpose(): string {
    return `keys.${this.options.setting}`;
  }

  #refresh(): Promise<KeyRingDoc | null> {
    // Serialized, so that a result from before a rotation cannot follow one from after it.
    return this.#reads.fresh('', () => this.#read());
  }

  async #read(): Promise<KeyRingDoc | null> {
    const { rows, setting, cipher, read, clock } = this.options;
    const began = clock.monotonic();
    const doc = await rows().get(setting);
    const used = doc?.key;
    if (used !== undefined && this.#signing !== null && used.key_id !== this.#signing.public.key_id) {
      if (!doc?.handover)
        throw new Error(`${setting}: the key in use, ${used.key_id}, differs from the configured one`);
      const next = read(cipher.open(doc.handover, this.#purpose));
      if (next.public.key_id !== used.key_id)
        throw new Error(`${setting}: the stored successor key does not match the key in use`);
      await this.#activate(next);
    }
    this.#readAt = began;
    return doc;
  }

  async #activate(next: SigningKey): Promise<void> {
    const { setting, save, log } = this.options;
    await save?.(next.text);
    this.#signing = next;
    log.info({ key: setting, key_id: next.public.key_id }, 'switched to another signing key');
    for (const callback of this.#watchers) callback();
  }
}

const toPlainKey = <T extends PublicKey>(key: T): { [K in keyof T]: T[K] } => ({ ...key });
