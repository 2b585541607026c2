/** The buffer of a cut connection is not reused, since something may still be read into it. */
const PIECE_BYTES = 256 * 1024;

export class BufferPool {
  readonly #spare: Buffer[] = [];
  readonly #lent = new WeakMap<ArrayBufferLike, Buffer>();

  constructor(private readonly most = 64) {}

  /** Lends a buffer. Bound, because readers get only this function. */
  readonly acquire = (): Uint8Array => {
    const buffer = this.#spare.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES);
    this.#lent.set(buffer.buffer, buffer);
    return buffer;
  };

  release(piece: Uint8Array): void {
    const buffer = this.#lent.get(piece.buffer);
    if (buffer === undefined) return;
    this.#lent.delete(piece.buffer);
    if (this.#spare.length < this.most) this.#spare.push(buffer);
  }
}
