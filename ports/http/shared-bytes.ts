/**
 * The bytes of a long answer that many requests are given: one after the other, and none of them copied for one
 * request. What holds them may give the same parts to any number of answers, so nobody changes them.
 */
export class SharedBytes {
  readonly length: number;

  /**
   * @param held what an answer keeps alive while its reader takes it: `nothing` (default) where these bytes are kept
   * anyway, `whole` where the answer may be the last that has them
   */
  constructor(
    readonly parts: readonly Uint8Array[],
    readonly held: 'nothing' | 'whole' = 'nothing',
  ) {
    this.length = parts.reduce((sum, part) => sum + part.length, 0);
  }
}
