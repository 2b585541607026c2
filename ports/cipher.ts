/** Secrets at rest, under the data key (`security.data_key`). */
export interface Cipher {
  /** AES-256-GCM; the purpose is bound into the text, so a sealed TOTP secret is no webhook secret. */
  seal(plain: string, purpose: string): string;
  /** @throws Error when the text was sealed with another key or for another purpose. */
  open(sealed: string, purpose: string): string;
  /** A MAC key for one purpose, derived from the data key: equal in every process that shares it. */
  derive(purpose: string): Buffer;
}
