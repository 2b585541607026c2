/** Password hashing, off the main thread (bcrypt at cost 12 takes some 200 ms). */
export interface PasswordHasher {
  /**
   * bcrypt with the `$2y$` prefix.
   * @param cost default 12; license keys in access files use 8
   * @param options `background`: one at a time, and only while no password waits; not refused when there are many
   */
  hash(password: string, cost?: number, options?: { background?: boolean }): Promise<string>;
  /**
   * Verifies bcrypt (`$2a$`, `$2b$`, `$2y$`) and Argon2 hashes. `rehash` is true when the hash should be replaced:
   * Argon2, or a cost below 12. `hash` null spends the same time on an account that does not exist and answers false.
   */
  verify(password: string, hash: string | null): Promise<{ ok: boolean; rehash: boolean }>;
}
