/** Splits a byte stream into portions of requested sizes. */
export class ByteQueue {
  readonly #source: AsyncIterator<Uint8Array>;
  #chunks: Buffer[] = [];
  #length = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Does not consume; keep `count` small. */
  async peek(count: number): Promise<Buffer> {
    while (this.#length < count && (await this.#pull()));
    if (this.#chunks.length > 1 && (this.#chunks[0]?.length ?? 0) < count) this.#chunks = [Buffer.concat(this.#chunks)];
    return (this.#chunks[0] ?? Buffer.alloc(0)).subarray(0, count);
  }

  /** Consumes the next `count` bytes; fewer only at the end. */
  async take(count: number): Promise<Buffer> {
    const bytes = await this.peek(count);
    this.#drop(bytes.length);
    return bytes;
  }

  /** Fewer only at the end; default: all. */
  async *read(count = Infinity): AsyncGenerator<Buffer> {
    for (let left = count; left > 0;) {
      if (this.#length === 0 && !(await this.#pull())) return;
      const piece = (this.#chunks[0] ?? Buffer.alloc(0)).subarray(0, left);
      this.#drop(piece.length);
      left -= piece.length;
      yield piece;
    }
  }

  /** Closes a source that was not read to its end. */
  async close(): Promise<void> {
    await this.#source.return?.();
  }

  #drop(count: number): void {
    const [first] = this.#chunks;
    if (first === undefined) return;
    this.#length -= count;
    if (count === first.length) this.#chunks.shift();
    else this.#chunks[0] = first.subarray(count);
  }

  async #pull(): Promise<boolean> {
    for (;;) {
      const { done, value } = await this.#source.next();
      if (done === true) return false;
      if (value.length === 0) continue;
      this.#chunks.push(Buffer.from(value.buffer, value.byteOffset, value.length));
      this.#length += value.length;
      return true;
    }
  }
}
