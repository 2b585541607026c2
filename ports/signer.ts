/** Signs releases and licenses; private keys stay in the adapter. */

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

/** An earlier key with its signature over its successor's SPKI DER. */
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
  /** Null when signing is disabled. */
  getKey(): Promise<PublicKey | null>;
  listPredecessors(): Promise<readonly PredecessorKey[]>;
  /** RFC 3339; null when signing is disabled. */
  getKeyStart(): Promise<string | null>;
  /** Runs off the event loop; null when signing is disabled. */
  sign(bytes: Uint8Array): Promise<Signature | null>;
  /**
   * Every process is notified within 30 seconds.
   * @returns a function that unsubscribes
   */
  onRotated(callback: () => void): () => void;
}

export interface Signers {
  releases: Signer;
  licenses: Signer;
}
