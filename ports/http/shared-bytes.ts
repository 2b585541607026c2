/** Bytes of a large response shared without copies; they must not be modified. */
export class SharedBytes {
  readonly length: number;

  /** @param held retained while sent: `whole` if the response may hold the last reference */
  constructor(
    readonly parts: readonly Uint8Array[],
    readonly held: 'nothing' | 'whole' = 'nothing',
  ) {
    this.length = parts.reduce((sum, part) => sum + part.length, 0);
  }
}
