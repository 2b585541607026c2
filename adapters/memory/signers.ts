/**
 * Signers with keys that live as long as the process, for tests. They create real signatures and
 * rotate on demand.
 */
import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import type { PredecessorKey, PublicKey, Signature, Signer, Signers } from '../../ports/signer.js';

interface SigningKeyPair {
  private: KeyObject;
  spki: Buffer;
  public: PublicKey;
}

function generateKeyPair(algorithm: PublicKey['algorithm']): SigningKeyPair {
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
  #pair: SigningKeyPair | null = null;
  #since = new Date().toISOString();
  readonly #predecessors: PredecessorKey[] = [];
  readonly #watchers = new Set<() => void>();

  constructor(private readonly algorithm: PublicKey['algorithm']) {}

  async getKey(): Promise<PublicKey> {
    return this.#getCurrentPair().public;
  }

  async listPredecessors(): Promise<readonly PredecessorKey[]> {
    return [...this.#predecessors];
  }

  async getKeyStart(): Promise<string> {
    return this.#since;
  }

  async sign(bytes: Uint8Array): Promise<Signature> {
    return { signature: this.#createSignature(bytes), key: this.#getCurrentPair().public };
  }

  onRotated(callback: () => void): () => void {
    this.#watchers.add(callback);
    return () => void this.#watchers.delete(callback);
  }

  rotate(): void {
    const next = generateKeyPair(this.algorithm);
    this.#predecessors.unshift({ ...this.#getCurrentPair().public, signature: this.#createSignature(next.spki) });
    this.#pair = next;
    this.#since = new Date().toISOString();
    for (const callback of this.#watchers) callback();
  }

  #getCurrentPair(): SigningKeyPair {
    return (this.#pair ??= generateKeyPair(this.algorithm));
  }

  #createSignature(bytes: Uint8Array): string {
    const digest = this.algorithm === 'rsa-sha256' ? 'sha256' : null;
    return sign(digest, bytes, this.#getCurrentPair().private).toString('base64');
  }
}

/** Shared by the process, because generating an RSA key is slow. */
const sharedReleaseSigner = new MemorySigner('rsa-sha256');

export const createMemorySigners = (releases: Signer = sharedReleaseSigner): Signers => ({
  releases,
  licenses: new MemorySigner('ed25519'),
});
