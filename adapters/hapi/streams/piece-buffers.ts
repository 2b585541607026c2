/**
 * Buffers for the pieces of downloads, used again and again: the system would clear a new buffer page by page, which
 * costs as much as reading it. A buffer goes back when its bytes are with the system. The buffer of a cut connection is
 * left to the collector, since something may still be read into it.
 */
const PIECE_BYTES = 256 * 1024;

export class PieceBuffers {
  readonly #spare: Buffer[] = [];
  /**
   * Buffers that `take` has lent. `give` accepts only these, so a foreign buffer, or one given back twice, is never
   * lent.
   */
  readonly #lent = new WeakMap<ArrayBufferLike, Buffer>();

  /** @param most buffers that are kept while nobody needs them */
  constructor(private readonly most = 64) {}

  /** Lends a buffer. Bound, since readers get only this function. */
  readonly take = (): Uint8Array => {
    const buffer = this.#spare.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES);
    this.#lent.set(buffer.buffer, buffer);
    return buffer;
  };

  /** Takes a buffer back. @param piece the buffer, or a part of it; nothing reads or writes it any more */
  give(piece: Uint8Array): void {
    const buffer = this.#lent.get(piece.buffer);
    if (buffer === undefined) return;
    this.#lent.delete(piece.buffer);
    if (this.#spare.length < this.most) this.#spare.push(buffer);
  }
}
