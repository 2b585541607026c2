/** Hashes passwords off the main thread. */
export interface PasswordHasher {
  /**
   * bcrypt, `$2y$`.
   * @param cost default 12; license keys in access files use 8
   * @param options `background`: one at a time, only while no other hash waits; exempt from the
   *   queue limit
   */
  hash(password: string, cost?: number, options?: { background?: boolean }): Promise<string>;
  /**
   * Accepts bcrypt (`$2a$`, `$2b$`, `$2y$`) and Argon2.
   * @param hash null: fails after the usual time, which hides whether an account exists
   * @returns `rehash`: replace the hash (Argon2, or a cost below 12)
   */
  verify(password: string, hash: string | null): Promise<{ ok: boolean; rehash: boolean }>;
}
