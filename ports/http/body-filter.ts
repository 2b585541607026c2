/** Drops parts of a body while it arrives, to save memory. */
export interface BodyFilter {
  /** Returns what remains of the next chunk. */
  push(piece: Buffer): readonly Buffer[];
  /** Returns retained data after the last chunk. */
  end(): readonly Buffer[];
}
