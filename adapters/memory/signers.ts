/**
 * Signers with keys that live as long as the process, for tests. They create real signatures and
 * rotate on demand.
 */
import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import type { PredecessorKey, PublicKey, Signature, Signer, Signers } from '../../ports/signer.js';

interface Pair {
  private: KeyObject;
  spki: Buffer;
  public: PublicKey;
}

function pairOf(algorithm: PublicKey['algorithm']): Pair {
  const rsa = algorithm === 'rsa-sha256';
  const { privateKey, publicKey } = rsa
    ? generateKeyPairSync('rsa', { modulusLength: 2048 })
    : generateKeyPairSync('ed25519');
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const key_id = createHash('sha256').update(spki).digest('hex').slice(0, 16);
  const public_key = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  return { private: privateKey, spki, public: { key_id, algorithm, public_key, bits: rsa ? 2048 : 256 } };
}

export class MemorySigner implements Signer {
  #pair: Pair | null = null;
  #since = new Date().toISOString();
  readonly #predecessors: PredecessorKey[] = [];
  readonly #watchers = new Set<() => void>();

  constructor(private readonly algorithm: PublicKey['algorithm']) {}

  async key(): Promise<PublicKey> {
    return this.#current().public;
  }

  async predecessors(): Promise<readonly PredecessorKey[]> {
    return [...this.#predecessors];
  }

  async since(): Promise<string> {
    return this.#since;
  }

  async sign(bytes: Uint8Array): Promise<Signature> {
    return { signature: this.#signature(bytes), key: this.#current().public };
  }

  onRotated(callback: () => void): () => void {
    this.#watchers.add(callback);
    return () => void this.#watchers.delete(callback);
  }

  rotate(): void {
    const next = pairOf(this.algorithm);
    this.#predecessors.unshift({ ...this.#current().public, signature: this.#signature(next.spki) });
    this.#pair = next;
    this.#since = new Date().toISOString();
    for (const callback of this.#watchers) callback();
  }

  #current(): Pair {
    return (this.#pair ??= pairOf(this.algorithm));
  }

  #signature(bytes: Uint8Array): string {
    const digest = this.algorithm === 'rsa-sha256' ? 'sha256' : null;
    return sign(digest, bytes, this.#current().private).toString('base64');
  }
}

/** Represents an empty `release_private_key`. */
export const unsigned: Signer = {
  key: async () => null,
  predecessors: async () => [],
  since: async () => null,
  sign: async () => null,
  onRotated: () => () => undefined,
};

/** Shared by the process, because generating an RSA key is slow. */
const shared = new MemorySigner('rsa-sha256');

export const memorySigners = (releases: Signer = shared): Signers => ({
  releases,
  licenses: new MemorySigner('ed25519'),
});
