/**
 * Signs releases and licenses; private keys stay in the adapter. Keys may rotate while processes
 * run (`aos release-key rotate`, `aos license-key rotate`): fetch the key per response and do not
 * cache it.
 */

/** Public key that verifies signatures of this service. */
export interface PublicKey {
  /** First 16 hex characters of SHA-256 over the SPKI DER (contract 40, pubkey). */
  key_id: string;
  algorithm: 'rsa-sha256' | 'ed25519';
  /** SPKI, PEM. */
  public_key: string;
  /** RSA modulus size; 256 for Ed25519. */
  bits: number;
}

/**
 * An earlier key with its signature over its successor's SPKI DER; clients that pinned it can
 * follow the chain.
 */
export interface PredecessorKey extends PublicKey {
  /** Base64. */
  signature: string;
}

export interface Signature {
  /** Base64: RSASSA-PKCS1-v1_5 with SHA-256, or Ed25519. */
  signature: string;
  key: PublicKey;
}

export interface Signer {
  /** Returns the current key; null when signing is disabled (empty `release_private_key`). */
  getKey(): Promise<PublicKey | null>;
  /** Lists predecessors, newest first. */
  listPredecessors(): Promise<readonly PredecessorKey[]>;
  /** Returns when the key came into use, RFC 3339; null when signing is disabled. */
  getKeyStart(): Promise<string | null>;
  /** Signs bytes off the event loop; null when signing is disabled. */
  sign(bytes: Uint8Array): Promise<Signature | null>;
  /**
   * Calls back in every process within 30 seconds of a rotation.
   * @returns a function that unsubscribes
   */
  onRotated(callback: () => void): () => void;
}

export interface Signers {
  releases: Signer;
  licenses: Signer;
}
