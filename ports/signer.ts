/**
 * Signatures of releases and of licenses. The private keys stay in the adapter. A key may be replaced while processes
 * run (`aos release-key rotate`, `aos license-key rotate`): ask for the key each time, and keep it no longer than one
 * answer.
 */

/** A public key by which our signatures are verified. */
export interface PublicKey {
  /** First 16 hex characters of SHA-256 over the SPKI DER (contract 40, pubkey). */
  key_id: string;
  algorithm: 'rsa-sha256' | 'ed25519';
  /** SPKI, PEM. */
  public_key: string;
  /** Of an RSA modulus; 256 for Ed25519. */
  bits: number;
}

/** An earlier key, with its signature over its successor's SPKI DER: who pinned it can follow to the next. */
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
  /** Null: nothing is signed (`release_private_key` given empty). */
  key(): Promise<PublicKey | null>;
  /** Newest first. */
  predecessors(): Promise<readonly PredecessorKey[]>;
  /** When the key came into use, RFC 3339. Null: nothing is signed. */
  since(): Promise<string | null>;
  /** Signs the bytes off the event loop. Null: nothing is signed. */
  sign(bytes: Uint8Array): Promise<Signature | null>;
  /** Calls back in every process within 30 seconds of a rotation. Answers how to stop that. */
  onRotated(callback: () => void): () => void;
}

/** The keys that the service signs with. */
export interface Signers {
  releases: Signer;
  licenses: Signer;
}
