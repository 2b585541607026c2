/**
 * The bytes of a long answer that many requests are given: one after the other, and none of them copied for one
 * request. What holds them may give the same parts to any number of answers, so nobody changes them.
 */
export class SharedBytes {
  readonly length: number;

  constructor(readonly parts: readonly Uint8Array[]) {
    this.length = parts.reduce((sum, part) => sum + part.length, 0);
  }
}
