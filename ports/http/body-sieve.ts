/** Leaves parts of a body out while it arrives, so that they need no room. */
export interface BodySieve {
  /** What is kept of the next piece. */
  push(piece: Buffer): readonly Buffer[];
  /** What is kept beside, when the last piece was given. */
  end(): readonly Buffer[];
}
