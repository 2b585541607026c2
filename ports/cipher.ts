/** Encrypts secrets at rest with the data key (`security.data_key`). */
export interface Cipher {
  /**
   * Encrypts with AES-256-GCM; the authenticated purpose keeps a TOTP secret from opening as a
   * webhook secret.
   */
  seal(plain: string, purpose: string): string;
  /** @throws Error when the key or the purpose differs */
  open(sealed: string, purpose: string): string;
  /** Derives a MAC key for a purpose, the same in every process. */
  derive(purpose: string): Buffer;
}
