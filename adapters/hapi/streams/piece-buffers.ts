/**
 * Buffers for the pieces of downloads, used again and again: the system would clear a new one page by page, which costs
 * as much as to read it. One goes back when its bytes are with the system; that of a cut connection is left to the
 * collector, since something may still be read into it.
 */
const PIECE_BYTES = 256 * 1024;

export class PieceBuffers {
  readonly #spare: Buffer[] = [];
  /** Given out by `take`, and not back: another's buffer, or one that is back already, is never given out. */
  readonly #lent = new WeakMap<ArrayBufferLike, Buffer>();

  /** @param most that are kept while nobody needs them */
  constructor(private readonly most = 64) {}

  /** Bound, since readers are handed it alone. */
  readonly take = (): Uint8Array => {
    const buffer = this.#spare.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES);
    this.#lent.set(buffer.buffer, buffer);
    return buffer;
  };

  /** @param piece the buffer that was taken, or a part of it; nothing reads or writes it any more */
  give(piece: Uint8Array): void {
    const buffer = this.#lent.get(piece.buffer);
    if (buffer === undefined) return;
    this.#lent.delete(piece.buffer);
    if (this.#spare.length < this.most) this.#spare.push(buffer);
  }
}
