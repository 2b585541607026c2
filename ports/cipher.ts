/** Encrypts secrets at rest with the data key (`security.data_key`). */
export interface Cipher {
  /**
   * Encrypts with AES-256-GCM. The purpose is authenticated: a sealed TOTP secret does not open as
   * a webhook secret.
   */
  seal(plain: string, purpose: string): string;
  /** @throws Error when the key or the purpose differs */
  open(sealed: string, purpose: string): string;
  /** Derives a MAC key for a purpose, the same in every process with that data key. */
  derive(purpose: string): Buffer;
}
